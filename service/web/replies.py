"""Answers and their headers: JSON by orjson, ETags, caching."""

from __future__ import annotations

from typing import Any, Final

import orjson
from flask import Response

JSON: Final = "application/json"
_VARY: Final = "Authorization, Accept, Accept-Language"


def reply(value: Any, status: int = 200, *, etag: str | None = None) -> Response:
    """A view: for its viewer alone, and to be asked for anew, cheaply if it has an ETag."""
    return _for_viewer(Response(orjson.dumps(value), status, mimetype=JSON), etag)


def not_modified(etag: str) -> Response:
    """304: the viewer knows this version already."""
    return _for_viewer(Response(status=304), etag)


def reply_with_secrets(value: Any, location: str) -> Response:
    """201 with tokens that are shown this once, and that nobody may keep on the way."""
    response = Response(orjson.dumps(value), 201, mimetype=JSON)
    response.headers["Location"] = location
    response.headers["Cache-Control"] = "no-store"
    return response


def _for_viewer(response: Response, etag: str | None) -> Response:
    headers = response.headers
    if etag is not None:
        headers["ETag"] = f'"{etag}"'
    headers["Cache-Control"] = "private, no-cache"
    headers["Vary"] = _VARY
    return response
