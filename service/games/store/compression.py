"""Compaction: many events as one block of bytes, a fifth of their size.

An event is JSON that begins with ``[<code>,<milliseconds>``, where milliseconds never decrease.
``docs/adr/smaller-decisions.md`` says why plain zlib is not enough.

The events are split into columns, because similar bytes compress best together. Each column is a deflate block:

* the distinct *shapes* of the events: their text with placeholders for small numbers and random bytes;
* the shape of each event;
* the numbers, by shape and placeholder;
* the times, as differences;
* the random bytes.
"""

from __future__ import annotations

import re
import zlib
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import accumulate, pairwise, repeat
from typing import Final

_EVENT: Final = re.compile(rb"\[(\d{1,3}),(\d{1,15})([^\x00-\x1f]*)\]")
"""JSON contains no control characters, so they can be placeholders."""
_NUMBER: Final = re.compile(rb"(?<!\w)(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?!\w)")
"""A number that fits into a byte."""
_NUMBER_PLACEHOLDER: Final = b"\0"
_RANDOM: Final = re.compile(rb'"([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)"')
"""32 bytes in base64."""
_RANDOM_BYTES: Final = 32
_RANDOM_PLACEHOLDER: Final = b"\1"
_RAW: Final = -zlib.MAX_WBITS
"""Raw deflate: the header and checksum of zlib are not needed."""
_SEVEN: Final = b"[" + b"\0," * 6 + b"\0]"
_DICTIONARY: Final = b"\n".join(
    [
        b'8,[\0],[\0,"out",[[\0,[\0],\0],[\0,[],\0]],[\0,\0],[[\0,\0,"\0.\0","\0 + \0"]],\0,null,\0,null]',
        b'2,[\0],\0,[%b,%b],%b,false,[\0,["",""],\1]' % (_SEVEN, _SEVEN, _SEVEN),
        b"9,[\0],\0",
        b"4,[\0],\0,\0",
        b"5,[\0],\0",
        b"3,[\0],\0,\0,-\0,false",
        b"0,[],\1",
        b"3,[\0],\0,\0,null,false",
    ]
)
"""Common shapes, as a dictionary for deflate: blocks become a twelfth smaller. It must never change."""


def compress(events: Sequence[bytes]) -> bytes | None:
    """Return the events as a block; ``None`` for fewer than two, or if ``decompress`` would not restore every byte."""
    if len(events) < 2:
        return None
    shapes: dict[bytes, list[list[int]]] = {}
    event_shapes, times, randoms = [], [0], b""
    for event in events:
        match = _EVENT.fullmatch(event)
        if match is None:
            return None
        code, time, rest = match.groups()
        times.append(int(time))
        texts = _RANDOM.split(rest)
        randoms += b"".join(map(a2b_base64, texts[1::2]))
        texts = _NUMBER.split(_RANDOM_PLACEHOLDER.join(texts[::2]))
        event_shapes.append(code + _NUMBER_PLACEHOLDER.join(texts[::2]))
        shapes.setdefault(event_shapes[-1], []).append([int(number) for number in texts[1::2]])
    gaps = [after - before for before, after in pairwise(times)]
    if min(gaps) < 0:
        return None
    indexes = {shape: index for index, shape in enumerate(shapes)}
    shape_columns, time_columns = _byte_columns([indexes[shape] for shape in event_shapes]), _byte_columns(gaps)
    numbers = b"".join([bytes(column) for rows in shapes.values() for column in zip(*rows, strict=True)])
    head = b"%d %d %d" % (len(events), len(shape_columns), len(time_columns))
    block = _deflated([b"\n".join([head, *shapes]) + b"\n\n", *shape_columns, numbers, *time_columns, randoms])
    return block if decompress(block) == list(events) else None


def decompress(block: bytes) -> list[bytes]:
    """Return the events of a block."""
    text, _, rest = zlib.decompressobj(_RAW, zdict=_DICTIONARY).decompress(block).partition(b"\n\n")
    data = BytesIO(rest)
    head, *shapes = text.split(b"\n")
    count, shape_width, time_width = [int(number) for number in head.split()]
    shape_indexes = _from_byte_columns([data.read(count) for _ in range(shape_width)], count)
    used = Counter(shape_indexes)
    rows: list[Iterator[tuple[int, ...]]] = []
    for index, shape in enumerate(shapes):
        columns = [data.read(used[index]) for _ in range(shape.count(_NUMBER_PLACEHOLDER))]
        rows.append(zip(*columns, strict=True) if columns else repeat(()))
    gaps = _from_byte_columns([data.read(count) for _ in range(time_width)], count)
    templates = [_template(shape) for shape in shapes]
    events = [
        templates[index] % (time, *next(rows[index]))
        for index, time in zip(shape_indexes, accumulate(gaps), strict=True)
    ]
    return [_with_randoms(event, data) if _RANDOM_PLACEHOLDER in event else event for event in events]


def _template(shape: bytes) -> bytes:
    """Return a shape as a template for a time and numbers."""
    code, comma, rest = shape.replace(b"%", b"%%").partition(b",")
    return b"[%b,%%d%b%b]" % (code, comma, rest.replace(_NUMBER_PLACEHOLDER, b"%d"))


def _with_randoms(event: bytes, data: BytesIO) -> bytes:
    first, *others = event.split(_RANDOM_PLACEHOLDER)
    randoms = [b2a_base64(data.read(_RANDOM_BYTES), newline=False) for _ in others]
    return first + b"".join([b'"%b"%b' % pair for pair in zip(randoms, others, strict=True)])


def _byte_columns(numbers: Sequence[int]) -> list[bytes]:
    """Return columns of bytes: the highest byte of each number, then the second byte of each, and so on."""
    width = (max(numbers).bit_length() + 7) // 8
    return [bytes(column) for column in zip(*[number.to_bytes(width, "big") for number in numbers], strict=True)]


def _from_byte_columns(columns: Sequence[bytes], count: int) -> list[int]:
    numbers = [0] * count
    for column in columns:
        numbers = [number << 8 | byte for number, byte in zip(numbers, column, strict=True)]
    return numbers


def _deflated(parts: Sequence[bytes]) -> bytes:
    deflate = zlib.compressobj(zlib.Z_BEST_COMPRESSION, wbits=_RAW, zdict=_DICTIONARY)
    return b"".join([deflate.compress(part) + deflate.flush(zlib.Z_BLOCK) for part in parts]) + deflate.flush()
