"""An application as bytes for the store, and back. Does not depend on which store holds the bytes."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import Final

import orjson

from service.backends.ports import Application, KeyRecord

_FORMAT: Final = 1


def encode_application(application: Application) -> bytes:
    """The bytes of an application, without its id; always the same for the same application."""
    keys = [
        [hint, b2a_base64(digest, newline=False).decode(), created_at, expires_at]
        for hint, digest, created_at, expires_at in application.keys
    ]
    return orjson.dumps([_FORMAT, application.name, application.created_at, keys])


def decode_application(app: str, data: bytes) -> Application:
    """The application with this id."""
    _, name, created_at, keys = orjson.loads(data)
    records = [KeyRecord(hint, a2b_base64(digest), created, expires) for hint, digest, created, expires in keys]
    return Application(app, name, created_at, tuple(records))
