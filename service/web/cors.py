"""Browsers of any origin may ask: what flask-cors says of that.

It is asked each time for a preflight. To every other request it says the same, for any origin may ask and none is
named, so that is asked once: finding it out anew would be one of the costliest parts of a move.
"""

from __future__ import annotations

from typing import Final

from flask import Flask, Response, request
from flask_cors.core import get_cors_headers, get_cors_options, set_cors_headers
from werkzeug.datastructures import Headers

_DAY_SECONDS: Final = 86_400
_CLIENT_HEADERS: Final = (
    "Accept",
    "Accept-Language",
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "X-Request-ID",
)
_SHOWN_HEADERS: Final = (
    "Allow",
    "Content-Language",
    "ETag",
    "Idempotent-Replayed",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-ID",
)


def install(app: Flask) -> list[tuple[str, str]]:
    """Make ``app`` answer preflights; gives the headers that go with every other answer."""
    options = get_cors_options(
        app,
        {
            "origins": "*",
            "send_wildcard": True,
            "methods": ["GET", "HEAD", "OPTIONS", "POST"],
            "allow_headers": list(_CLIENT_HEADERS),
            "expose_headers": list(_SHOWN_HEADERS),
            "max_age": _DAY_SECONDS,
        },
    )

    @app.after_request
    def answer_preflight(response: Response) -> Response:
        return set_cors_headers(response, options) if request.method == "OPTIONS" else response

    return [(name, str(value)) for name, value in get_cors_headers(options, Headers(), "GET").items()]  # type: ignore[arg-type] # as the library itself calls it
