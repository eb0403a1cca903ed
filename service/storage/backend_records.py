"""An application as bytes for the store, and back.

Owns their form.
"""

from __future__ import annotations

from typing import Final

from msgspec import json

from service.backends.ports import Backend
from service.storage import keys
from service.storage.redis.calls import RedisCalls

_FORMAT: Final = 1
_decoder: Final = json.Decoder(tuple[int, Backend])


def encode_backend(backend: Backend) -> bytes:
    """Return the bytes of an application; always the same for the same application."""
    return json.encode((_FORMAT, backend))


def decode_backend(data: bytes) -> Backend:
    """Return the application that is stored as these bytes."""
    _, backend = _decoder.decode(data)
    return backend


def read_backend(calls: RedisCalls, app: str) -> Backend | None:
    """Return the application with this id, as it is stored. Raises ``StorageUnavailable``."""
    key = keys.application(app)
    data = calls.read("read_app", key, (b"GET", key))
    return None if data is None else decode_backend(data)
