"""Tokens, join codes and ids: their form, how they are generated or derived, and how they are compared.

Owns their form and their strength. A seat's token has 256 bits, a join code 80, a game's id 128. Only the SHA-256 of
tokens and codes is stored. Hashes are compared in constant time, each with all of them, so that the time does not
depend on which one matches. The response to a request under an idempotency key can be repeated although no token is
stored: there the tokens are derived from a secret of the server (``DerivedBytes``).
"""

from __future__ import annotations

import re
from base64 import b32encode, urlsafe_b64encode
from binascii import crc_hqx
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest, digest
from itertools import count, product
from string import ascii_letters, digits
from typing import Final

from service.games.ports import RandomBytes

# The shards of games: the games of one shard lie in one slot of a Redis Cluster, together with their reminders.


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


SEAT_PREFIX = "seat_"


class DerivedBytes(RandomBytes):
    """Bytes that are unpredictable without the server's secret, and always the same for the same ``purpose``.

    The n-th call returns the first bytes, at most 32, of HMAC-SHA-256(secret, n and the words of the purpose, each
    with its length in front).
    """

    def __init__(self, secret: bytes, *purpose: str) -> None:
        self._secret = secret
        self._purpose = b"".join([b"%d:%b" % (len(word), word) for word in (each.encode() for each in purpose)])
        self._calls = 0

    def __call__(self, size: int, /) -> bytes:
        """Return the next ``size`` bytes."""
        self._calls += 1
        return digest(self._secret, b"%d;%b" % (self._calls, self._purpose), "sha256")[:size]


def new_game_id(random_bytes: RandomBytes) -> str:
    """Return an id for a game: 22 URL-safe characters of 128 random bits, and two that give it a shard.

    It does not start with a hyphen: a command line would take such an id for an option.
    """
    name = _base64(random_bytes(16))
    return with_shard("A" + name[1:] if name.startswith("-") else name)


def new_token(random_bytes: RandomBytes) -> str:
    """Return a token for a seat: 256 bits, with a prefix that identifies it as one."""
    return SEAT_PREFIX + _base64(random_bytes(32))


def new_write_id(random_bytes: RandomBytes) -> bytes:
    """Return an id for a write: 48 bits, 8 characters. It only has to differ from other writes at the same version."""
    return urlsafe_b64encode(random_bytes(6))


def new_join_code(random_bytes: RandomBytes) -> str:
    """Return a code for the open seats of a game: 80 bits, 16 characters of Base32, which can be read aloud."""
    return b32encode(random_bytes(10)).decode()


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 of a token or a join code, which is stored instead of it."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


def short_digest(*words: str) -> str:
    """Return a digest of these words: 128 bits, 22 URL-safe characters. The boundaries of the words count."""
    return _base64(sha256(b"".join([b"%d:%b" % (len(word), word) for word in map(_bytes, words)])).digest()[:16])


def find_hash(secret: str, hashes: Sequence[bytes | None]) -> int | None:
    """Return the index of the hash of ``secret`` in ``hashes``; ``None`` if it is not there. Compares all of them."""
    presented = hash_secret(secret)
    match = None
    for index, known in enumerate(hashes):
        if known is not None and compare_digest(presented, known):
            match = index
    return match


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
