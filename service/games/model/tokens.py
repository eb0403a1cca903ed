"""Tokens, join codes and ids: their form, how they are generated or derived, and how they are compared.

Only the SHA-256 of tokens and codes is stored, and compared in constant time. The response to a request with an
idempotency key must be repeatable although no token is stored; therefore its tokens are derived from a secret of the
server (``DerivedBytes``).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest, digest
from typing import Final

from service.games.ports import RandomBytes
from service.redis.shards import SHARDS, with_shard

SEAT_PREFIX = "seat_"


class DerivedBytes:
    """Bytes that are unpredictable without the secret of the server, and always the same for the same ``purpose``.

    The n-th call returns the first bytes, at most 32, of HMAC-SHA-256(secret, message). The message is n, and each word
    of the purpose after its length.
    """

    def __init__(self, secret: bytes, *purpose: str) -> None:
        self._secret = secret
        self._purpose = _with_lengths(purpose)
        self._calls = 0

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return digest(self._secret, b"%d;%b" % (self._calls, self._purpose), "sha256")[:size]


def new_game_id(random_bytes: RandomBytes) -> str:
    """Return an id for a game: 22 URL-safe characters of 128 random bits, and two that select its shard.

    It does not start with a hyphen, because a command line would read such an id as an option.
    """
    name = base64_text(random_bytes(16))
    return with_shard("A" + name[1:] if name.startswith("-") else name)


def new_token(random_bytes: RandomBytes) -> str:
    """Return a token for a seat: 256 random bits after the prefix ``seat_``."""
    return SEAT_PREFIX + base64_text(random_bytes(32))


def new_write_id(random_bytes: RandomBytes) -> bytes:
    """Return an id for a write: 48 bits, 8 characters. It must only differ from other writes at the same version."""
    return urlsafe_b64encode(random_bytes(6))


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 of a token or a join code, which is stored instead of it."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


# Join codes. A code contains the shard of its game. So the key that maps the code to the game is in the slot of the
# game, and one script writes both.


_CODE_LENGTH: Final = 8
_CODE_ALPHABET: Final = "23456789ACDEFGHJKMNPQRTVWXY"
"""Letters and digits that people do not confuse: no 0, O, 1, I or L, and only one of each other similar pair."""
_CODES_PER_SHARD: Final = len(_CODE_ALPHABET) ** _CODE_LENGTH // SHARDS
JOIN_CODE_ATTEMPTS: Final = 4
"""How many codes are tried for a game, because another game may have the same code."""


def new_join_code(random_bytes: RandomBytes, shard: int) -> str:
    """Return a join code for a game of this shard: 8 letters and digits of 38 random bits, easy to read aloud."""
    number = int.from_bytes(random_bytes(16), "big") % _CODES_PER_SHARD * SHARDS + shard
    code = ""
    for _ in range(_CODE_LENGTH):
        number, digit = divmod(number, len(_CODE_ALPHABET))
        code += _CODE_ALPHABET[digit]
    return code


def read_join_code(text: str) -> str:
    """Return a typed join code in its normal form: without blanks and hyphens, in capital letters."""
    return "".join(text.upper().split()).replace("-", "")


def shard_of_code(code: str) -> int | None:
    """Return the shard of the game with this join code; ``None`` if the text is not a join code."""
    if len(code) != _CODE_LENGTH or not set(code) <= set(_CODE_ALPHABET):
        return None
    number = 0
    for character in reversed(code):
        number = number * len(_CODE_ALPHABET) + _CODE_ALPHABET.index(character)
    return number % SHARDS


def is_join_code(text: str, join_hash: bytes | None) -> bool:
    """Return whether the text is a spelling of the join code with this hash."""
    return compare_digest(hash_secret(read_join_code(text)), join_hash or b"")


def short_digest(*words: str) -> str:
    """Return a digest of these words: 128 bits, 22 URL-safe characters. It depends on the boundaries of the words."""
    return base64_text(sha256(_with_lengths(words)).digest()[:16])


def base64_text(data: bytes) -> str:
    """Return data as URL-safe text, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _with_lengths(words: Iterable[str]) -> bytes:
    encoded = [word.encode("utf-8", "surrogateescape") for word in words]
    return b"".join([b"%d:%b" % (len(word), word) for word in encoded])
