"""A request as WSGI gives it to the application, and the response as it is sent.

Does what ``gunicorn.http.wsgi`` does, for a third of its processor time: the environment leaves out what no
application here uses, header fields are checked and formatted once for all responses that have them, and the head is
sent together with the first part of the body (docs/adr/smaller-decisions.md). Owns how a response is framed,
and which headers it may have. Does not depend on the application. Imported before gevent patches the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from time import time
from typing import Any, Final, NamedTuple

from gunicorn.http import wsgi
from gunicorn.util import hop_headers, http_date, unquote_to_wsgi_str

_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [ \t\x21-\x7e\x80-\xff]*\r\n", re.ASCII)
"""A header field that an application may send (RFC 9110, 5.5)."""
_OF_THE_SERVER: Final = frozenset(hop_headers)
"""The fields that belong to the connection, or that the server sends itself: those of an application are left out."""
_LENGTH: Final = "content-length"
_LENGTH_CHARS: Final = len(_LENGTH)
_WITHOUT_PREFIX: Final = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
"""The fields of a request whose keys in the environment do not begin with ``HTTP_``."""


class FrozenConfig:
    """gunicorn's settings as attributes: it looks up twenty for each request, each by a search and two calls."""

    def __init__(self, config: Any) -> None:
        self.__dict__.update({name: setting.get() for name, setting in config.settings.items()})
        self.is_ssl = config.is_ssl
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)  # what is no setting, but follows from some


class Listener(NamedTuple):
    """The facts of the listening socket that a connection needs; the socket may be closed in the meantime."""

    name: Any

    def getsockname(self) -> Any:
        """Return the address of the listening socket."""
        return self.name


def base_environ(config: Any) -> dict[str, Any]:
    """Return what the environments of all requests of a worker have in common. An application gets copies of it."""
    base: dict[str, Any] = wsgi.base_environ(config)
    del base["wsgi.file_wrapper"]
    return {**base, "wsgi.multithread": True, "SCRIPT_NAME": ""}


def environ_of(base: dict[str, Any], request: Any, listener: Any, client: Any) -> dict[str, Any]:
    """Return the environment of a request (PEP 3333) that came to the address ``listener`` from the address ``client``.

    Both are a host and a port, or the path of a socket.
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


@lru_cache(maxsize=256)  # most fields are those of many responses
def _field(name: str, value: str) -> str:
    """Return the line of a header field; empty for one that is left out.

    Raises ``ValueError`` for one that is not valid.
    """
    line = f"{name}: {value}\r\n"
    if not _FIELD.fullmatch(line):
        raise ValueError("a header field of the response is not valid")
    return "" if name.lower() in _OF_THE_SERVER else line


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """Return the header field for this second since 1970."""
    return f"Date: {http_date(second)}\r\n"


class Response(wsgi.Response):  # type: ignore[misc]  # gunicorn has no type information
    """A response whose head is sent with the first part of its body, in one call.

    ``Date`` is the time of ``clock``, in seconds since 1970.
    """

    headers_sent: bool
    """Whether the head has been made."""
    _unsent = b""
    """The head, while nothing has been sent."""

    def __init__(self, request: Any, sock: Any, config: Any, clock: Callable[[], float] | None = None) -> None:
        super().__init__(request, sock, config)
        self._clock = clock or time

    @property
    def has_begun(self) -> bool:
        """Whether any of the response may have been sent."""
        return self.headers_sent and not self._unsent

    def process_headers(self, headers: list[tuple[str, str]]) -> None:
        """Keep the header fields, which are checked before they are sent."""
        for name, value in headers:
            if len(name) == _LENGTH_CHARS and name.lower() == _LENGTH:
                self.response_length = int(value)
        self.headers += headers

    def default_headers(self) -> list[str]:
        """As gunicorn's, but the date is formatted once a second."""
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
        """Make the head. Raises ``ValueError`` for a field that is not valid."""
        if self.headers_sent:
            return
        fields = [_field(name, value) for name, value in self.headers]
        self._unsent = "".join([*self.default_headers(), *fields, "\r\n"]).encode("latin-1")
        self.headers_sent = True

    def write(self, part: bytes) -> None:
        """Send a part of the body. Raises ``ValueError`` as ``send_headers``."""
        super().write(part)
        self._flush(b"")  # the head of a part that is empty, or that is not sent at all

    def _emit_body(self, data: bytes) -> None:
        self._flush(b"%X\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def close(self) -> None:
        """Send what has not been sent. Raises ``ValueError`` as ``send_headers``."""
        self.send_headers()
        self._flush(b"0\r\n\r\n" if self.chunked else b"")

    def _flush(self, data: bytes) -> None:
        unsent, self._unsent = self._unsent + data, b""
        if unsent:
            self.sock.sendall(unsent)
