"""Answers and their headers: JSON by orjson, ETags, caching."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Final

import orjson
from flask import Response

from service.web.reading import check_accepts, known_already

JSON: Final = "application/json"
_REPLAYED: Final = [("Idempotent-Replayed", "true")]
_VARY: Final = "Authorization, Accept, Accept-Language"


def reply(value: Any, *, etag: str | None = None) -> Response:
    """A view: for its viewer alone, and to be asked for anew, cheaply if it has an ETag."""
    return Response(orjson.dumps(value), 200, _viewer_headers(etag))


def plain_reply(text: str, *, etag: str) -> Response:
    """A view as plain text."""
    return Response(text.encode(), 200, [("Content-Type", "text/plain; charset=utf-8"), *_viewer_headers(etag)[1:]])


def view_reply(etag: str, show: Callable[[], Any]) -> Response:
    """What ``show`` shows as JSON, or 304 if its reader knows this version."""
    check_accepts(JSON)
    return not_modified(etag) if known_already(etag) else reply(show(), etag=etag)


def reply_made(value: Any, *, etag: str, location: str, replayed: bool) -> Response:
    """201: the view after what was made."""
    headers = _viewer_headers(etag)
    headers.append(("Location", location))
    return Response(orjson.dumps(value), 201, headers + _REPLAYED if replayed else headers)


def stream_reply(chunks: Iterable[bytes], media_type: str) -> Response:
    """A body without an end that is sent piece by piece, and that no proxy may collect."""
    headers = [
        ("Content-Type", media_type),
        ("Cache-Control", "private, no-cache"),
        ("Vary", _VARY),
        ("X-Accel-Buffering", "no"),
    ]
    return Response(chunks, 200, headers)


def not_modified(etag: str) -> Response:
    """304: the viewer knows this version already."""
    response = Response(status=304, headers=_viewer_headers(etag))
    del response.headers["Content-Type"]
    return response


def reply_with_secrets(value: Any, location: str, *, replayed: bool) -> Response:
    """201 with tokens that are shown this once, and that nobody may keep on the way."""
    headers = [("Content-Type", JSON), ("Location", location), ("Cache-Control", "no-store")]
    return Response(orjson.dumps(value), 201, headers + _REPLAYED if replayed else headers)


def public_reply(body: bytes, media_type: str) -> Response:
    """An answer for anybody that changes only with the service: its ETag is made of its bytes."""
    etag = sha256(body).hexdigest()[:32]
    response = Response(status=304) if known_already(etag) else Response(body, mimetype=media_type)
    response.headers["ETag"] = f'"{etag}"'
    response.headers["Cache-Control"] = "public, no-cache"
    response.headers["Vary"] = "Accept, Accept-Language"
    return response


def _viewer_headers(etag: str | None) -> list[tuple[str, str]]:
    headers = [("Content-Type", JSON), ("Cache-Control", "private, no-cache"), ("Vary", _VARY)]
    if etag is not None:
        headers.append(("ETag", f'"{etag}"'))
    return headers
