"""An application as bytes for the store, and back.

Owns their form. Does not depend on which store holds the bytes.
"""

from __future__ import annotations

from typing import Final

from msgspec import json

from service.backends.ports import NO_OWN_LIMITS, Backend

_FORMAT: Final = 1
_decoder: Final = json.Decoder(tuple[int, Backend])


def encode_backend(backend: Backend) -> bytes:
    """The bytes of an application; always the same for the same application."""
    # Without limits of its own as it was before there were any: a record is replaced only if these are its bytes.
    return json.encode((_FORMAT, backend if backend.limits != NO_OWN_LIMITS else backend[:-1]))


def decode_backend(data: bytes) -> Backend:
    """The application that is stored as these bytes."""
    _, backend = _decoder.decode(data)
    return backend
