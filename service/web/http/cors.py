"""CORS by flask-cors, for browsers of any origin.

Preflight responses are computed for each request. The headers of all other responses are the same for every origin, so
they are computed once: doing it for each request would be one of the costliest parts of a move. Owns which headers a
browser may send and read.
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
    "Baggage",
    "Cache-Control",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Sentry-Trace",
    "Traceparent",
    "Tracestate",
    "X-Request-ID",
)
"""What a client may send. Of the headers of tracing, which browsers' libraries add, only ``Traceparent`` is read."""
_EXPOSED_HEADERS: Final = (
    "Accept-Patch",
    "Allow",
    "Content-Language",
    "Date",
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
    """Make ``app`` answer preflights; returns the headers to add to every other response."""
    options = get_cors_options(
        app,
        {
            "origins": "*",
            "send_wildcard": True,
            "methods": ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"],
            "allow_headers": list(_CLIENT_HEADERS),
            "expose_headers": list(_EXPOSED_HEADERS),
            "max_age": _DAY_SECONDS,
        },
    )

    @app.after_request
    def answer_preflight(response: Response) -> Response:
        return set_cors_headers(response, options) if request.method == "OPTIONS" else response

    return [(name, str(value)) for name, value in get_cors_headers(options, Headers(), "GET").items()]  # type: ignore[arg-type] # as the library calls it itself
