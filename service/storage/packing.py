"""Many events as one block of bytes, a fifth of what they take one by one.

Owns the form of a block. Must not know what an event means, only how it begins: ``[<code>,<milliseconds>``, the
milliseconds never going back. Nor where a block is kept (``service.storage.entries``).

A block is deflated. In it stand the events without their times, a line each and an empty one behind; then the times,
as what has gone by since the event before: all highest bytes, all second ones and so on, for bytes of one kind are
deflated best together, each kind by a code of its own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

_EVENT: Final = re.compile(rb"\[(\d+),(\d+)(.*)\]", re.DOTALL)
_RAW: Final = -zlib.MAX_WBITS
"""Without a head and a check sum: Redis has its own."""


def packed(events: Sequence[bytes]) -> bytes | None:
    """The events as a block; ``None`` if they are too few, or unusual so that they would not come back as they were."""
    if len(events) < 2:
        return None
    lines, times = [], [0]
    for event in events:
        found = _EVENT.fullmatch(event)
        if found is None:
            return None
        code, time, rest = found.groups()
        lines.append(code + rest)
        times.append(int(time))
    gaps = [after - before for before, after in pairwise(times)]
    if min(gaps) < 0:
        return None
    width = (max(gaps).bit_length() + 7) // 8
    ranks = zip(*[gap.to_bytes(width, "big") for gap in gaps], strict=True)
    block = _deflated([b"\n".join(lines) + b"\n\n", *map(bytes, ranks)])
    return block if unpacked(block) == list(events) else None


def unpacked(block: bytes) -> list[bytes]:
    """The events of a block."""
    text, _, ranks = zlib.decompress(block, _RAW).partition(b"\n\n")
    lines = text.split(b"\n")
    times = accumulate([int.from_bytes(ranks[place :: len(lines)], "big") for place in range(len(lines))])
    events = []
    for line, time in zip(lines, times, strict=True):
        code, comma, rest = line.partition(b",")
        events.append(b"[%b,%d%b%b]" % (code, time, comma, rest))
    return events


def _deflated(parts: Sequence[bytes]) -> bytes:
    deflate = zlib.compressobj(zlib.Z_BEST_COMPRESSION, wbits=_RAW)
    return b"".join([deflate.compress(part) + deflate.flush(zlib.Z_BLOCK) for part in parts]) + deflate.flush()
