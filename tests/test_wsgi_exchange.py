"""What an application gets of a request, and what is sent of its response: as gunicorn does it, byte for byte."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gunicorn import util
from gunicorn.config import Config
from gunicorn.http import wsgi
from gunicorn.http.parser import RequestParser

from service.server.gunicorn_worker import has_arrived
from service.server.wsgi_exchange import Response, base_environ, environ_of

Header = tuple[str, str]
GET = b"GET /v1/x%20y?a=b%20c HTTP/1.1\r\nHost: localhost\r\n\r\n"
NOT_THERE = {"wsgi.file_wrapper", "wsgi.early_hints"}
"""What gunicorn gives an application that none here uses."""


class Clock:
    """A clock that stands still; ``now`` in seconds since 1970."""

    now = 1_767_728_000.75

    def time(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock()
    monkeypatch.setattr(util, "time", stopped)
    monkeypatch.setattr("service.server.wsgi_exchange.time", stopped.time)
    return stopped


@contextmanager
def parsed(raw: bytes) -> Iterator[tuple[Any, Config, socket.socket, socket.socket]]:
    """The request in these bytes, with the two ends of its connection: of the server and of the client."""
    config = Config()
    config.set("forwarded_allow_ips", "")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(raw)
        yield next(RequestParser(config, ours, ("192.0.2.7", 4711))), config, ours, theirs


def sent(
    kind: type[wsgi.Response], raw: bytes, status: str, headers: list[Header], parts: Iterable[bytes]
) -> tuple[bytes, bool]:
    """What a client receives, and whether the connection is closed then."""
    with parsed(raw) as (request, config, ours, theirs):
        response = kind(request, ours, config)
        response.start_response(status, list(headers))
        for part in parts:
            response.write(part)
        response.close()
        ours.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: theirs.recv(65536), b"")), response.should_close()


REQUESTS = {
    "GET": GET,
    "HEAD": GET.replace(b"GET", b"HEAD", 1),
    "1.0": GET.replace(b"1.1", b"1.0", 1),
    "close": GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
}
RESPONSES: dict[str, tuple[str, list[Header], list[bytes]]] = {
    "JSON": ("200 OK", [("Content-Type", "application/json"), ("Content-Length", "2")], [b"{}"]),
    "in parts": ("201 CREATED", [("content-length", "4")], [b"ab", b"", b"cd"]),
    "too long": ("200 OK", [("Content-Length", "3")], [b"ab", b"cd", b"ef"]),
    "too short": ("200 OK", [("Content-Length", "9")], [b"ab"]),
    "stream": ("200 OK", [("Content-Type", "text/event-stream")], [b"", b"data: 1\n\n", b"x" * 70_000]),
    "empty stream": ("200 OK", [], []),
    "nothing": ("204 NO CONTENT", [("Content-Length", "0"), ("X-Request-ID", "a")], []),
    "not modified": ("304 NOT MODIFIED", [("ETag", '"1"'), ("Content-Length", "7")], []),
    "body where none is allowed": ("304 NOT MODIFIED", [("ETag", '"1"')], [b"{}"]),
    "fields of the server": (
        "200 OK",
        [("Date", "now"), ("server", "another"), ("Connection", "close"), ("KEEP-ALIVE", "5"), ("Content-Length", "2")],
        [b"{}"],
    ),
    "Latin-1": ("200 OK", [("X-Name", "caf\xe9\tor  tea"), ("Content-Length", "0")], []),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("answer", RESPONSES.values(), ids=RESPONSES)
def test_a_response_is_sent_as_gunicorn_sends_it(
    request_: bytes, answer: tuple[str, list[Header], list[bytes]]
) -> None:
    assert sent(Response, request_, *answer) == sent(wsgi.Response, request_, *answer)


def test_a_response_has_the_date_of_its_second(clock: Clock) -> None:
    for clock.now, date in ((0.5, b"00:00:00"), (0.9, b"00:00:00"), (1.0, b"00:00:01")):
        received, _ = sent(Response, GET, *RESPONSES["nothing"])
        assert b"\r\nDate: Thu, 01 Jan 1970 %b GMT\r\n" % date in received


@pytest.mark.parametrize(
    "header",
    [
        *(("X-Name", "a\r\nSet-Cookie: b"), ("X-Name", "a\r\n\r\nbody"), ("X-Name", "a\nb"), ("X-Name", "a\rb")),
        *(("X-Name", "a\x00b"), ("X-Name\r\nX-Other", "a"), ("X Name", "a"), ("X-Name:", "a"), ("", "a")),
    ],
)
def test_a_header_that_is_not_valid_is_not_sent(header: Header) -> None:
    with parsed(GET) as (request, config, ours, theirs):
        response = Response(request, ours, config)
        response.start_response("200 OK", [("Content-Length", "2"), header, ("X-Last", "z")])
        with pytest.raises(ValueError, match="not valid"):
            response.write(b"{}")
        assert not response.has_begun
        ours.close()
        assert theirs.recv(10) == b""


def test_the_head_and_a_body_are_sent_in_one_call() -> None:
    class Counted:
        calls = 0

        def sendall(self, _: bytes) -> None:
            self.calls += 1

    with parsed(GET) as (request, config, _, _):
        counted = Counted()
        response = Response(request, counted, config)
        response.start_response("200 OK", [("Content-Length", "2")])
        response.write(b"{}")
        response.close()
        assert counted.calls == 1


def test_the_head_of_a_stream_is_sent_before_its_first_event() -> None:
    with parsed(GET) as (request, config, ours, theirs):
        response = Response(request, ours, config)
        response.start_response("200 OK", [])
        response.write(b"")
        assert response.has_begun
        assert theirs.recv(4096).endswith(b"Transfer-Encoding: chunked\r\n\r\n")


@pytest.mark.parametrize(
    ("fields", "version", "closes"),
    [
        *[([each], b"1.1", True) for each in (b"close", b"TE, close", b"close, TE", b" Close ,", b"keep-alive,close")],
        ([b"TE", b"close"], b"1.1", True),
        *[([each], b"1.1", False) for each in (b"TE", b"keep-alive", b"closed", b"", b"upgrade, HTTP2-Settings")],
        *[([each], b"1.0", False) for each in (b"Keep-Alive", b"TE, keep-alive")],
        *[([each], b"1.0", True) for each in (b"TE", b"keep-alive, close")],
        ([], b"1.0", True),
    ],
)
def test_a_connection_is_closed_by_any_word_that_says_so(fields: list[bytes], version: bytes, closes: bool) -> None:
    lines = b"".join(b"\r\nConnection: " + field for field in fields)
    with parsed(GET.replace(b"1.1", version, 1).replace(b"\r\n\r\n", lines + b"\r\n\r\n")) as (request, *_):
        assert request.should_close() is closes


HEADS = {
    "plain": GET,
    "body": b"POST /v1/games HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "repeated": b"GET / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nX-Y: 1\r\nAccept: b\r\nACCEPT: c\r\n\r\n",
    "1.0": b"GET /%E2%82%AC%2F HTTP/1.0\r\n\r\n",
    "chunked": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "whole address": b"GET http://other/path?q HTTP/1.1\r\nHost: h\r\n\r\n",
    "any": b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
}
ADDRESSES: dict[str, tuple[Any, Any]] = {
    "IPv4": (("127.0.0.1", 8000), ("192.0.2.7", 4711)),
    "IPv6": (("::1", 8000, 0, 0), ("2001:db8::1", 4711, 0, 0)),
    "socket": ("/run/domino.sock", ""),
}


@pytest.mark.parametrize("addresses", ADDRESSES.values(), ids=ADDRESSES)
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_an_application_gets_what_gunicorn_gives_it(head: bytes, addresses: tuple[Any, Any]) -> None:
    listener, client = addresses
    with parsed(head) as (request, config, ours, _):
        environ = environ_of(base_environ(config), request, listener, client)
        _, theirs = wsgi.create(request, ours, client, listener, config)
    theirs["wsgi.multithread"] = True  # as the worker of gevent sets it
    kept: Callable[[dict[str, Any]], dict[str, Any]] = lambda each: {  # noqa: E731
        key: value for key, value in each.items() if key not in NOT_THERE | {"wsgi.errors"}
    }
    if isinstance(listener, str):  # gunicorn takes the name from the Host of the request
        for each in (environ, theirs):
            each.pop("SERVER_NAME"), each.pop("SERVER_PORT"), each.pop("REMOTE_PORT", None)
    assert kept(environ) == kept(theirs)
    assert theirs.keys() - environ.keys() <= NOT_THERE


def test_requests_do_not_share_what_an_application_adds() -> None:
    base = base_environ(Config())
    with parsed(GET) as (request, _, _, _):
        first = environ_of(base, request, ("h", 1), ("c", 2))
        first["added"] = True
        assert "added" not in environ_of(base, request, ("h", 1), ("c", 2))


@pytest.mark.parametrize(
    ("framing", "body", "come"),
    [
        (b"Content-Length: 4", b"1234", True),
        (b"Content-Length: 4", b"1234GET / HTTP/1.1", True),
        (b"Content-Length: 4", b"123", False),
        (b"Content-Length: 4", b"", False),
        (b"Transfer-Encoding: chunked", b"4\r\n1234\r\n0\r\n\r\n", False),
    ],
)
def test_a_body_has_come_once_all_of_its_length_is_there(framing: bytes, body: bytes, come: bool) -> None:
    with parsed(b"POST / HTTP/1.1\r\nHost: localhost\r\n%b\r\n\r\n%b" % (framing, body)) as (request, *_):
        assert has_arrived(request) == come
