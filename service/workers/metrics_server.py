"""The port of the metrics of a process without a web server: ``/metrics`` for Prometheus, ``/healthz`` for liveness.

Owns what is answered there. Runs in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from service.web.metrics import PROMETHEUS_TEXT

READ_SECONDS: Final = 5.0


def serve_metrics(host: str, port: int, text: Callable[[], bytes], is_alive: Callable[[], bool]) -> None:
    """Answer on this address as long as the process runs. Raises ``OSError`` if it cannot be listened on."""
    server = ThreadingHTTPServer((host, port), partial(_Handler, text, is_alive))
    Thread(target=server.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request on each connection."""

    timeout = READ_SECONDS

    def __init__(self, text: Callable[[], bytes], is_alive: Callable[[], bool], *arguments: Any) -> None:
        self._text = text
        self._is_alive = is_alive
        super().__init__(*arguments)

    def do_GET(self) -> None:  # the name that the library expects
        """Answer with the metrics, or whether the process is alive."""
        if self.path == "/metrics":
            self._answer(200, PROMETHEUS_TEXT, self._text())
        elif self.path == "/healthz":
            alive = self._is_alive()
            self._answer(
                200 if alive else 503, "application/json", b'{"status":"ok"}' if alive else b'{"status":"stuck"}'
            )
        else:
            self._answer(404, "text/plain", b"")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # the name that the library gives it
        """Log nothing: these requests are regular."""

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
