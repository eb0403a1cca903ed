"""The shards of games and applications. All keys of a shard, with its reminders, are in one slot of a Redis Cluster."""

from __future__ import annotations

import re
from binascii import crc_hqx
from functools import lru_cache
from itertools import count, product
from string import ascii_letters, digits
from typing import Final

SHARDS: Final = 256
SLOTS: Final = 16_384
_SLOTS_PER_SHARD: Final = SLOTS // SHARDS

_ALPHABET: Final = (ascii_letters + digits + "-_").encode()

_SUFFIXES: Final = {
    crc_hqx(bytes(pair), 0) % _SLOTS_PER_SHARD: bytes(pair).decode() for pair in product(_ALPHABET, repeat=2)
}
"""For each remainder of a CRC, a pair of characters that has it."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{24}", re.ASCII)


def with_shard(text: str) -> str:
    """Return an ASCII text with two more characters, by which a Cluster stores it in the slot of a shard.

    CRCs are linear: the CRC of the result is the CRC of the text with two zero bytes, XOR that of the two characters.
    """
    return text + _SUFFIXES[crc_hqx(b"\0\0", crc_hqx(text.encode(), 0)) % _SLOTS_PER_SHARD]


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id of a game or an application, which need not exist."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def shard_of(key: str) -> int | None:
    """Return the shard of an id, from 0 on; ``None`` for a text that is not an id. Cached.

    The id is that of a game, of an application, or of something that belongs to an application: the id of the
    application, a dot and a name. The last is in the shard of the application.
    """
    owner = key.partition(".")[0]
    return None if _ID.fullmatch(owner) is None else _shard_of_tag(owner)


def _shard_of_tag(tag: str) -> int | None:
    shard, rest = divmod(crc_hqx(tag.encode(), 0) % SLOTS, _SLOTS_PER_SHARD)
    return None if rest else shard


def _find_tags() -> tuple[str, ...]:
    tags: dict[int | None, str] = {}
    for number in count():
        tag = with_shard(str(number))
        tags.setdefault(_shard_of_tag(tag), tag)
        if len(tags) == SHARDS:
            break
    return tuple(tags[shard] for shard in range(SHARDS))


TAGS: Final = _find_tags()
"""A hash tag for each shard, in the same slot as its games. They must never change: stored keys contain them."""
