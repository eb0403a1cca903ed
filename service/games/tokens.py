"""Secrets that open a game: how they look, and how they are compared.

A seat's token has 256 bits, a join code 80, a game's id 128. Of tokens and codes only the SHA-256 is
kept; hashes are compared in constant time, every one of them, so that a wrong token costs the same
wherever it is wrong. Must not know: who presents a token, or how.
"""

from __future__ import annotations

from base64 import b32encode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest

from service.games.ports import Secrets

_SEAT_PREFIX = "seat_"


def new_game_id(secrets: Secrets) -> str:
    """An id for a game: 128 bits, 22 characters, safe in a URL."""
    return _base64(secrets(16))


def new_token(secrets: Secrets) -> str:
    """A token for a seat: 256 bits behind a prefix that tells its kind."""
    return _SEAT_PREFIX + _base64(secrets(32))


def new_join_code(secrets: Secrets) -> str:
    """A code for the open seats of a game: 16 letters and digits that can be read aloud."""
    return b32encode(secrets(10)).decode()


def hash_secret(secret: str) -> bytes:
    """What is kept of a token or a join code."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


def find_hash(secret: str, hashes: Sequence[bytes | None]) -> int | None:
    """The place of the hash of ``secret`` among ``hashes``, all of them compared; ``None`` if it is not there."""
    wanted = hash_secret(secret)
    found = None
    for place, known in enumerate(hashes):
        if known is not None and compare_digest(wanted, known):
            found = place
    return found


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
