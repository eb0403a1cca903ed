"""A proxy in front of the service that passes answers on piece by piece, cuts them off, holds back or changes them."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit

from tests.support.waiting import PATIENCE


class WebProxy:
    """Listens on loopback and passes requests on to the service at ``url``.

    ``most_bytes`` is asked for each answer after how many bytes it is cut off. With ``buffering``, an answer is passed
    on when it is complete, as some proxies do. ``asked`` and ``answered`` return the bodies to pass on instead of those
    that came. ``paths`` are the requests so far.
    """

    def __init__(
        self,
        url: str,
        most_bytes: Callable[[], int] = lambda: 1 << 30,
        *,
        buffering: bool = False,
        asked: Callable[[bytes], bytes] | None = None,
        answered: Callable[[bytes], bytes] | None = None,
    ) -> None:
        service, paths = urlsplit(url), list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                paths.append(self.path)
                upstream = http.client.HTTPConnection(service.hostname or "", service.port, timeout=PATIENCE)
                try:
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    own = {"content-length", "accept-encoding"}  # of what is passed on
                    headers = {name: each for name, each in self.headers.items() if name.lower() not in own}
                    body = asked(body) if asked else body
                    upstream.request(self.command, self.path, body or None, {**headers, "Connection": "close"})
                    answer = upstream.getresponse()
                    whole = answer.read() if buffering or answered else None
                    self.send_response(answer.status)
                    for name in ("Content-Type", "Retry-After"):
                        if name in answer.headers:
                            self.send_header(name, answer.headers[name])
                    self.end_headers()
                    if whole is not None:
                        self.wfile.write(answered(whole) if answered else whole)
                        return
                    left = most_bytes()
                    while left and (data := answer.read1(min(left, 65536))):
                        left -= len(data)
                        self.wfile.write(data)
                except OSError:
                    pass  # one of the two has gone
                finally:
                    upstream.close()

            do_POST = do_PUT = do_GET  # noqa: N815 # as http.server names them

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.paths = paths
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
