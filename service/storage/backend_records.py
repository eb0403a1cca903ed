"""An application as bytes for the store, and back.

Owns their form. Does not depend on which store holds the bytes.
"""

from __future__ import annotations

from typing import Final

from msgspec import json

from service.backends.ports import Application

_FORMAT: Final = 1
_decoder: Final = json.Decoder(tuple[int, Application])


def encode_application(application: Application) -> bytes:
    """The bytes of an application; always the same for the same application."""
    return json.encode((_FORMAT, application))


def decode_application(data: bytes) -> Application:
    """The application that is stored as these bytes."""
    _, application = _decoder.decode(data)
    return application
