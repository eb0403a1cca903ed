"""The port of the metrics: connections to it get an application of their own.

Owns how such a connection is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class MetricsPort:
    """Passes requests on connections to ``port`` to ``inside``, all others to ``outside``."""

    def __init__(self, outside: WsgiApp, inside: WsgiApp, port: int) -> None:
        self._outside = outside
        self._inside = inside
        self._port = port
        self._text = str(port)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Handle a request as a WSGI application."""
        if environ["SERVER_PORT"] == self._text and self._is_local_port(environ):
            return self._inside(environ, start_response)
        return self._outside(environ, start_response)

    def _is_local_port(self, environ: dict[str, Any]) -> bool:
        """Return whether the connection was made to the port.

        On a Unix socket ``SERVER_PORT`` is what the client claims.
        """
        connection = environ.get("gunicorn.socket")
        address = None if connection is None else connection.getsockname()
        return isinstance(address, tuple) and address[1] == self._port
