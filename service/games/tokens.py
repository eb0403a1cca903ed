"""Secrets that open a game: how they look, how they are drawn again, and how they are compared.

A seat's token has 256 bits, a join code 80, a game's id 128. Of tokens and codes only the SHA-256 is
kept; hashes are compared in constant time, every one of them, so that a wrong token costs the same
wherever it is wrong. What was asked for under an idempotency key can be answered again, though no token is
kept: there the bytes come from a secret of the server and from what was asked (``DerivedBytes``).
Must not know: who presents a token, or how.
"""

from __future__ import annotations

from base64 import b32encode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest, digest

from service.games.ports import RandomBytes

_SEAT_PREFIX = "seat_"


class DerivedBytes(RandomBytes):
    """Bytes that nobody can guess without the server's secret, and that are the same for the same ``purpose``.

    The n-th draw is the beginning of HMAC-SHA-256(secret, n and the purpose, each word behind its length); 32 bytes
    at most.
    """

    def __init__(self, secret: bytes, *purpose: str) -> None:
        self._secret = secret
        self._purpose = b"".join([b"%d:%b" % (len(word), word) for word in (each.encode() for each in purpose)])
        self._drawn = 0

    def __call__(self, size: int, /) -> bytes:
        """The next ``size`` bytes."""
        self._drawn += 1
        return digest(self._secret, b"%d;%b" % (self._drawn, self._purpose), "sha256")[:size]


def new_game_id(secrets: RandomBytes) -> str:
    """An id for a game: 128 bits, 22 characters, safe in a URL."""
    return _base64(secrets(16))


def new_token(secrets: RandomBytes) -> str:
    """A token for a seat: 256 bits behind a prefix that tells its kind."""
    return _SEAT_PREFIX + _base64(secrets(32))


def new_write_id(secrets: RandomBytes) -> bytes:
    """An id for a write: 48 bits, 8 characters. It need only differ from what else is written at the same version."""
    return urlsafe_b64encode(secrets(6))


def new_join_code(secrets: RandomBytes) -> str:
    """A code for the open seats of a game: 16 letters and digits that can be read aloud."""
    return b32encode(secrets(10)).decode()


def hash_secret(secret: str) -> bytes:
    """What is kept of a token or a join code."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


def short_digest(*words: str) -> str:
    """128 bits, 22 characters, that stand for these words, and for no others."""
    return _base64(sha256(b"".join([b"%d:%b" % (len(word), word) for word in map(_bytes, words)])).digest()[:16])


def find_hash(secret: str, hashes: Sequence[bytes | None]) -> int | None:
    """The place of the hash of ``secret`` among ``hashes``, all of them compared; ``None`` if it is not there."""
    wanted = hash_secret(secret)
    found = None
    for place, known in enumerate(hashes):
        if known is not None and compare_digest(wanted, known):
            found = place
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
