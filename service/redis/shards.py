"""The shards of games and applications: those of one shard lie in one slot of a Redis Cluster, with their reminders."""

from __future__ import annotations

import re
from binascii import crc_hqx
from functools import lru_cache
from itertools import count, product
from string import ascii_letters, digits
from typing import Final

SHARDS: Final = 256
_SLOTS: Final = 16_384
_SLOTS_PER_SHARD: Final = _SLOTS // SHARDS

_ALPHABET: Final = (ascii_letters + digits + "-_").encode()

_SUFFIXES: Final = {
    crc_hqx(bytes(pair), 0) % _SLOTS_PER_SHARD: bytes(pair).decode() for pair in product(_ALPHABET, repeat=2)
}
"""A pair of characters for each remainder of its CRC."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{24}", re.ASCII)


def with_shard(text: str) -> str:
    """Return an ASCII text with two more characters, so that a Cluster stores it in the slot of a shard.

    The CRC is linear: that of the text with two zero bytes, XOR that of the two characters, is that of both together.
    """
    return text + _SUFFIXES[crc_hqx(b"\0\0", crc_hqx(text.encode(), 0)) % _SLOTS_PER_SHARD]


def is_id(text: str) -> bool:
    """Return whether this has the form of an id of a game or an application; it need not be one."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def shard_of(key: str) -> int | None:
    """Return the shard of the game or application with this id, from 0; ``None`` for what is no id. Cached.

    What belongs to an application has its id, a dot and a name, and lies in the same shard.
    """
    owner = key.partition(".")[0]
    return None if _ID.fullmatch(owner) is None else _shard_of_tag(owner)


def _shard_of_tag(tag: str) -> int | None:
    shard, rest = divmod(crc_hqx(tag.encode(), 0) % _SLOTS, _SLOTS_PER_SHARD)
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
"""A hash tag for each shard, which lies in the same slot as its games. They never change: data is stored under them."""
