"""Middleware: gives every request an id, security and CORS headers, a line in the log, and metrics.

Owns the request id and the request log. It is WSGI middleware: hooks of Flask would cost more, and would miss requests
that end outside Flask. Log and metrics contain the template of the route, the request id and the trace id, but nothing
else from the client: no path, query or token. Does not depend on any resource.
"""

from __future__ import annotations

import logging
import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final

from flask import Flask, Response, request
from flask_cors.core import get_cors_headers, get_cors_options, set_cors_headers
from werkzeug.datastructures import Headers
from werkzeug.wsgi import ClosingIterator

from service.games.ports import TRACE
from service.metrics import Metrics
from service.reasons import REASONS

REQUEST_ID: Final = "domino.request_id"
"""The key in the WSGI environment for the request id."""
PROBLEM_REASON: Final = "domino.problem_reason"
"""The key for the reason of the problem in the response; the reason determines the code."""
QUOTA: Final = "domino.quota"
"""The key for the ``Quota`` that any response shows, also a problem."""

_GIVEN_ID: Final = re.compile(r"(?!.*(?:seat_|app_[A-Za-z0-9_-]{24}_|whsec_))[A-Za-z0-9._-]{1,64}")
"""A request id of a client; never one that contains a secret."""
_TRACE_PARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]([0-9a-f])")
"""``traceparent`` of W3C Trace Context, version 00. Its groups: the id of the trace, and whether it is sampled."""
METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""All methods that any path supports."""
_SECURITY_HEADERS: Final = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
]
_SECURITY_NAMES: Final = frozenset([name.lower() for name, _ in _SECURITY_HEADERS])

_log = logging.getLogger(__name__)


class RequestMiddleware:
    """Wraps the application; ``plain`` are additional headers for every response, except to ``OPTIONS``."""

    def __init__(self, app: Callable[..., Iterable[bytes]], metrics: Metrics, plain: Sequence[tuple[str, str]]) -> None:
        self._app = app
        self._plain = plain
        self._metrics = metrics

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        started = perf_counter()
        request_id: str | None = environ.get("HTTP_X_REQUEST_ID")
        if request_id is None or not _GIVEN_ID.fullmatch(request_id):
            request_id = urlsafe_b64encode(os.urandom(12)).decode()  # 16 characters
        environ[REQUEST_ID] = request_id
        TRACE.set(_sampled(given) if (given := environ.get("HTTP_TRACEPARENT")) else "")
        status, route, streamed = 500, "-", False

        def start(line: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            nonlocal status, route, streamed
            status = int(line[:3])
            # Read here, as Flask removes its request before the application returns. Missing if Flask was not called.
            rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
            route = getattr(rule, "rule", "-")
            names = {name.lower() for name, _ in headers}
            streamed = "content-length" not in names and status not in (204, 304)
            if names.isdisjoint(_SECURITY_NAMES):
                headers = headers + _SECURITY_HEADERS
            else:
                headers = headers + [header for header in _SECURITY_HEADERS if header[0].lower() not in names]
            if environ["REQUEST_METHOD"] != "OPTIONS":
                headers += self._plain
            headers.append(("X-Request-ID", request_id))
            if (quota := environ.get(QUOTA)) is not None:  # draft-ietf-httpapi-ratelimit-headers
                headers.append(("RateLimit-Policy", f'"{quota.name}";q={quota.limit};w={quota.window}'))
                headers.append(("RateLimit", f'"{quota.name}";r={quota.remaining};t={quota.reset}'))
            return start_response(line, headers, exc_info)

        try:
            body = self._app(environ, start)
        except BaseException:
            self._end(environ, route, status, started)
            raise
        if streamed:  # the request ends after the body is closed, which raises nothing (``Streams``)
            return ClosingIterator(body, partial(self._end, environ, route, status, started))
        self._end(environ, route, status, started)
        return body

    def _end(self, environ: dict[str, Any], route: str, status: int, started: float) -> None:
        """Count and log a request that has ended."""
        seconds = perf_counter() - started
        method = environ["REQUEST_METHOD"]
        if method not in METHODS:
            method = "other"
        self._metrics.request(method, route, status, seconds)
        reason = environ.get(PROBLEM_REASON)
        if reason is not None:
            self._metrics.problem(reason)
        if not _log.isEnabledFor(logging.INFO):
            return
        fields = {
            "request_id": environ[REQUEST_ID],
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1000, 2),
        }
        trace = _TRACE_PARENT.fullmatch(environ.get("HTTP_TRACEPARENT", ""))
        if trace is not None:
            fields["trace_id"] = trace[1]
        if reason is not None:
            fields["code"] = REASONS[reason]
        record = logging.LogRecord(_log.name, logging.INFO, __file__, 0, "request", None, None)
        record.fields = fields
        _log.handle(record)


def _sampled(given: str) -> str:
    """Return the trace id of a ``traceparent`` header if it is valid and sampled, else an empty string."""
    match = _TRACE_PARENT.fullmatch(given)
    return match[1] if match is not None and int(match[2], 16) & 1 else ""


# The metrics port: a separate application handles the requests on it.


WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class MetricsPort:
    """Passes requests on connections to ``port`` to ``metrics_app``, all others to ``app``."""

    def __init__(self, app: WsgiApp, metrics_app: WsgiApp, port: int) -> None:
        self._app = app
        self._metrics_app = metrics_app
        self._port = str(port)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        app = self._metrics_app if environ["SERVER_PORT"] == self._port and self._is_local_port(environ) else self._app
        return app(environ, start_response)

    def _is_local_port(self, environ: dict[str, Any]) -> bool:
        """Return whether the connection was made to the port; on a Unix socket the client sets ``SERVER_PORT``."""
        connection = environ.get("gunicorn.socket")
        address = None if connection is None else connection.getsockname()
        return isinstance(address, tuple) and str(address[1]) == self._port


# CORS by flask-cors, for browsers of any origin.


_DAY_SECONDS: Final = 86_400
_CLIENT_HEADERS: Final = (
    "Accept, Accept-Language, Authorization, Baggage, Cache-Control, Content-Type, Idempotency-Key, If-Match, "
    "If-None-Match, Last-Event-ID, Sentry-Trace, Traceparent, Tracestate, X-Request-ID"
)
"""Headers that browsers may send. Of the four that tracing libraries add, the service reads only ``Traceparent``."""
_EXPOSED_HEADERS: Final = (
    "Accept-Patch, Allow, Content-Disposition, Content-Language, Date, ETag, Idempotent-Replayed, Location, RateLimit, "
    "RateLimit-Policy, Retry-After, Vary, WWW-Authenticate, X-Request-ID"
)


def install_cors(app: Flask) -> list[tuple[str, str]]:
    """Make ``app`` respond to preflight requests; return the headers to add to every other response."""
    options = get_cors_options(
        app,
        {
            "origins": "*",
            "send_wildcard": True,
            "methods": sorted(METHODS),
            "allow_headers": _CLIENT_HEADERS.split(", "),
            "expose_headers": _EXPOSED_HEADERS,
            "max_age": _DAY_SECONDS,
        },
    )

    @app.after_request
    def answer_preflight(response: Response) -> Response:
        return set_cors_headers(response, options) if request.method == "OPTIONS" else response

    return [(name, str(value)) for name, value in get_cors_headers(options, Headers(), "GET").items()]  # type: ignore[arg-type] # as the library calls it itself
