"""The WSGI environment of a request, and the framing of a response.

A faster replacement for ``gunicorn.http.wsgi`` that takes a third of the processor time: the environment has no entries
that the application does not use, header fields are checked and formatted once and then cached, and the head is sent
together with the first part of the body (docs/adr/smaller-decisions.md). Owns the framing of responses, and the check
of their headers. Does not depend on the application. Imported before gevent patches the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from time import time
from typing import Any, Final

from gunicorn.http import wsgi
from gunicorn.util import hop_headers, http_date, unquote_to_wsgi_str

_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [ \t\x21-\x7e\x80-\xff]*\r\n", re.ASCII)
"""A header field that an application may send (RFC 9110, 5.5)."""
_OF_THE_SERVER: Final = frozenset(hop_headers)
"""The fields of a connection, and those that the server sends itself. If the application sends one, it is left out."""
_LENGTH: Final = "content-length"
_LENGTH_CHARS: Final = len(_LENGTH)
_WITHOUT_PREFIX: Final = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
"""The fields of a request whose keys in the environment do not begin with ``HTTP_``."""


class FrozenConfig:
    """gunicorn's settings as plain attributes.

    gunicorn reads twenty settings for each request, each by a search and two calls.
    """

    def __init__(self, config: Any) -> None:
        self.__dict__.update({name: setting.get() for name, setting in config.settings.items()})
        self.is_ssl = config.is_ssl
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)  # attributes that are computed from settings


def base_environ(config: Any) -> dict[str, Any]:
    """Return the part of the environment that all requests of a worker share; each request gets a copy."""
    base: dict[str, Any] = wsgi.base_environ(config)
    del base["wsgi.file_wrapper"]
    return {**base, "wsgi.multithread": True, "SCRIPT_NAME": ""}


def environ_of(base: dict[str, Any], request: Any, listener: Any, client: Any) -> dict[str, Any]:
    """Return the environment of a request (PEP 3333).

    ``listener`` and ``client`` are the addresses of the server and of the client: a host and a port, or the path of a
    socket.
    """
    environ = base.copy()
    environ["wsgi.input"] = request.body
    environ["gunicorn.socket"] = request.unreader.sock
    environ["wsgi.url_scheme"] = request.scheme
    environ["REQUEST_METHOD"] = request.method
    environ["RAW_URI"] = request.uri
    environ["PATH_INFO"] = unquote_to_wsgi_str(request.path)
    environ["QUERY_STRING"] = request.query
    environ["SERVER_PROTOCOL"] = "HTTP/1.0" if request.version == (1, 0) else "HTTP/1.1"
    environ["SERVER_NAME"], environ["SERVER_PORT"] = _host_and_port(listener)
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = _host_and_port(client)
    for name, value in request.headers:
        key = _WITHOUT_PREFIX.get(name) or "HTTP_" + name.replace("-", "_")
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _host_and_port(address: Any) -> tuple[str, str]:
    if isinstance(address, tuple):
        return address[0], str(address[1])
    return address.decode() if isinstance(address, bytes) else address, ""


@lru_cache(maxsize=256)  # many responses have the same fields
def _field(name: str, value: str) -> str:
    """Return the line of a header field; empty if the server does not send this field of an application.

    Raises ``ValueError`` if the field is invalid.
    """
    line = f"{name}: {value}\r\n"
    if not _FIELD.fullmatch(line):
        raise ValueError("a header field of the response is not valid")
    return "" if name.lower() in _OF_THE_SERVER else line


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """Return the line of the header field ``Date`` for this second since 1970."""
    return f"Date: {http_date(second)}\r\n"


class Response(wsgi.Response):  # type: ignore[misc]  # gunicorn has no type information
    """A response that sends its head and the first part of its body in one call.

    ``clock`` returns the time for the field ``Date``, in seconds since 1970.
    """

    headers_sent: bool
    """Whether the head has been formatted."""
    _unsent = b""
    """The head until it is sent."""

    def __init__(self, request: Any, sock: Any, config: Any, clock: Callable[[], float] | None = None) -> None:
        super().__init__(request, sock, config)
        self._clock = clock or time

    @property
    def has_begun(self) -> bool:
        """Return whether a part of the response may have been sent."""
        return self.headers_sent and not self._unsent

    def process_headers(self, headers: list[tuple[str, str]]) -> None:
        """Store the header fields; ``send_headers`` checks them."""
        for name, value in headers:
            if len(name) == _LENGTH_CHARS and name.lower() == _LENGTH:
                self.response_length = int(value)
        self.headers += headers

    def default_headers(self) -> list[str]:
        """Return the same lines as gunicorn; the date is formatted once a second."""
        connection = "upgrade" if self.upgrade else "close" if self.should_close() else "keep-alive"
        major, minor = self.req.version
        lines = [
            f"HTTP/{major}.{minor} {self.status}\r\n",
            f"Server: {self.version}\r\n",
            _date(int(self._clock())),
            f"Connection: {connection}\r\n",
        ]
        return [*lines, "Transfer-Encoding: chunked\r\n"] if self.chunked else lines

    def send_headers(self) -> None:
        """Format the head. Raises ``ValueError`` for an invalid field."""
        if self.headers_sent:
            return
        fields = [_field(name, value) for name, value in self.headers]
        self._unsent = "".join([*self.default_headers(), *fields, "\r\n"]).encode("latin-1")
        self.headers_sent = True

    def write(self, part: bytes) -> None:
        """Send a part of the body. Raises ``ValueError`` as ``send_headers`` does."""
        super().write(part)
        self._flush(b"")  # send the head also if the part is empty or must not be sent

    def _emit_body(self, data: bytes) -> None:
        self._flush(b"%X\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def close(self) -> None:
        """Send the rest of the response. Raises ``ValueError`` as ``send_headers`` does."""
        self.send_headers()
        self._flush(b"0\r\n\r\n" if self.chunked else b"")

    def _flush(self, data: bytes) -> None:
        unsent, self._unsent = self._unsent + data, b""
        if unsent:
            self.sock.sendall(unsent)
