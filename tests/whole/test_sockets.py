"""Raw bytes, as a faulty or hostile client sends them: answered or disconnected, without an effect on other clients."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
from collections.abc import Iterator
from importlib.metadata import version
from typing import Self
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.contract import PROBLEM
from tests.support.serving import Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import Table

pytestmark = pytest.mark.gate

LIMIT = 256 * 1024
CHUNK = 8 * 1024
JSON_POST = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}\r\n"
CODED = JSON_POST.format("/v1/games", "Transfer-Encoding: {}\r\n")
"""The head of a request whose body has this coding."""
GOOD = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}


class Answer:
    """One answer, read off a connection."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def problem(self) -> Json:
        assert self.headers["content-type"] == PROBLEM, self.body
        value: Json = json.loads(self.body)
        assert value["status"] == self.status
        return value


class Connection:
    """A connection to the service, on which bytes are written and answers read."""

    def __init__(self, service: Service) -> None:
        url = urlsplit(service.url)
        assert url.hostname
        assert url.port
        self._socket = socket.create_connection((url.hostname, url.port), timeout=PATIENCE)
        self._kept = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, *parts: bytes | str) -> None:
        for part in parts:
            self._socket.sendall(part.encode() if isinstance(part, str) else part)

    def end_sending(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def has_data(self) -> bool:
        """Whether data or the end of the connection can be read now."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def _receive(self) -> bool:
        got = self._socket.recv(65536)
        self._kept += got
        return bool(got)

    def read(self, *, head: bool = False) -> Answer:
        """The next answer; its length must be announced. Raises ``EOFError`` when the connection is closed instead."""
        while b"\r\n\r\n" not in self._kept:
            if not self._receive():
                raise EOFError(self._kept)
        top, _, self._kept = self._kept.partition(b"\r\n\r\n")
        first, *lines = top.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        length = 0 if head or status == 204 else int(headers["content-length"])
        while len(self._kept) < length:
            if not self._receive():
                raise EOFError(self._kept)
        body, self._kept = self._kept[:length], self._kept[length:]
        return Answer(status, headers, body)

    def ends(self) -> bool:
        """Whether the service closes the connection without another answer."""
        try:
            return not self._receive() and not self._kept
        except ConnectionResetError:
            return True

    def has_data_within(self, seconds: float) -> bool:
        return bool(select.select([self._socket], [], [], seconds)[0])


@pytest.fixture
def connection(service: Service) -> Iterator[Connection]:
    with Connection(service) as it:
        yield it


def chunked(body: bytes, size: int = CHUNK) -> Iterator[bytes]:
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def padded(size: int) -> bytes:
    body = json.dumps(GOOD).encode()
    return body + b" " * (size - len(body))


def assert_next_answered(connection: Connection) -> None:
    """Check that the next request on the same connection gets its own answer."""
    connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = connection.read()
    assert (answer.status, answer.body) == (200, b'{"status":"ok"}')


def assert_next_answered_or_closed(connection: Connection, answer: Answer) -> None:
    """Check that after a refusal the connection serves the next request, or is closed as announced."""
    if answer.headers.get("connection", "").lower() == "close":
        assert connection.ends()
    else:
        assert_next_answered(connection)


@pytest.mark.parametrize("size", [10, 1000, CHUNK, LIMIT])
def test_a_chunked_body_within_the_limit_is_taken(size: int, connection: Connection) -> None:
    body = padded(LIMIT)
    connection.send(CODED.format("chunked"), *chunked(body, size))
    assert connection.read().status == 201
    assert_next_answered(connection)


@pytest.mark.parametrize("size", [LIMIT + 1, 4 * LIMIT])
def test_a_chunked_body_beyond_the_limit_is_too_large(size: int, connection: Connection) -> None:
    connection.send(CODED.format("chunked"))
    with contextlib.suppress(OSError):  # it need not read to the end
        connection.send(*chunked(padded(size)))
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (413, "too_large")
    assert_next_answered_or_closed(connection, answer)


def test_an_endless_chunked_body_is_not_waited_for(connection: Connection) -> None:
    connection.send(CODED.format("chunked"))
    piece = b"%x\r\n%b\r\n" % (CHUNK, b" " * CHUNK)
    with contextlib.suppress(OSError):
        for _ in range(2 * LIMIT // CHUNK):
            connection.send(piece)
            if connection.has_data_within(0):
                break
    assert connection.has_data_within(PATIENCE)
    assert connection.read().problem["code"] == "too_large"


def test_a_body_announced_beyond_the_limit_is_refused_before_it_is_sent(connection: Connection) -> None:
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {LIMIT + 1}\r\n"))
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (413, "too_large")


def test_a_client_that_waits_for_leave_to_send_gets_it(connection: Connection) -> None:
    body = json.dumps(GOOD).encode()
    connection.send(JSON_POST.format("/v1/games", f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n"))
    assert connection.read(head=True).status == 100
    connection.send(body)
    assert connection.read().status == 201
    assert_next_answered(connection)


@pytest.mark.parametrize(
    "refused", [("/v1/games/AAAAAAAAAAAAAAAAAAAAAAAA/moves", 401), ("/v1/games/none/players", 404), ("/healthz", 405)]
)
def test_the_body_of_a_refused_request_is_not_read_as_the_next_request(
    refused: tuple[str, int], connection: Connection
) -> None:
    path, status = refused
    body = b"GET /v1/variants HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3
    connection.send(JSON_POST.format(path, f"Content-Length: {len(body)}\r\n"), body)
    answer = connection.read()
    assert answer.status == status
    assert_next_answered_or_closed(connection, answer)


def test_a_length_shorter_than_the_body_cuts_it(connection: Connection) -> None:
    body = json.dumps(GOOD).encode()
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {len(body) - 1}\r\n"), body)
    assert connection.read().problem["code"] == "malformed"


def test_a_length_longer_than_the_body_is_not_answered_as_if_it_were_whole(
    connection: Connection, http: httpx.Client
) -> None:
    body = json.dumps(GOOD).encode()
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {len(body) + 10}\r\n"), body)
    assert not connection.has_data_within(0.3)
    assert http.get("/healthz").status_code == 200
    connection.end_sending()
    with contextlib.suppress(EOFError, ConnectionResetError):
        assert connection.read().status == 400


@pytest.mark.parametrize("length", ["-1", "abc", "1, 2", "+5", "0x10", "9" * 40, ""])
def test_a_length_that_is_none_is_refused(length: str, connection: Connection) -> None:
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {length}\r\n"), "{}")
    assert connection.read().status in (400, 413)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("Content-Length: 2\r\nContent-Length: 3\r\n", "{} "),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "5\r\n{    \r\n0\r\n\r\n"),
    ],
)
def test_two_lengths_or_one_beside_chunks_are_refused(head: str, body: str, connection: Connection) -> None:
    connection.send(JSON_POST.format("/v1/games", head), body)
    assert connection.read().status == 400
    assert connection.ends()


READ = (
    *("/healthz", "/readyz", "/openapi.yaml", "/v1/variants", "/v1/variants/domino"),
    *("/docs/", "game", "moves", "score"),
)


@pytest.fixture(scope="module")
def table(http: httpx.Client) -> Table:
    return Table.create(http, "domino", 2)


def address(table: Table, path: str) -> str:
    return path if path.startswith("/") else table.path + ("" if path == "game" else f"/{path}")


@pytest.mark.parametrize("path", [*READ, "/v1/variants/none", "/v1/games/none", "/none"])
def test_head_answers_as_get_without_the_body(path: str, connection: Connection, table: Table) -> None:
    request = f"{address(table, path)} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection.send(f"GET {request}")
    got = connection.read()
    connection.send(f"HEAD {request}")
    head_answer = connection.read(head=True)
    assert head_answer.status == got.status
    for headers in (got.headers, head_answer.headers):
        headers.pop("date")
        headers.pop("x-request-id")
    assert head_answer.headers == got.headers
    assert_next_answered(connection)


def test_a_browser_may_read_what_it_needs_of_every_answer(http: httpx.Client, table: Table) -> None:
    for answer in (table.get(), table.get("/none"), http.get("/v1/games/none"), http.post("/v1/games", content=b"{")):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        shown = {each.strip().lower() for each in answer.headers["Access-Control-Expose-Headers"].split(",")}
        assert {"etag", "location", "retry-after", "www-authenticate", "allow"} <= shown
        assert "Set-Cookie" not in answer.headers


ANSWERS = {
    "204": ("OPTIONS /v1/games HTTP/1.1\r\nHost: localhost\r\nOrigin: https://elsewhere.example\r\n\r\n", 204),
    "404": ("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "405": ("DELETE /v1/games HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    "401": (f"GET /v1/games/{'A' * 24} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n", 401),
    "406": ("GET /v1/variants HTTP/1.1\r\nHost: localhost\r\nAccept: image/png\r\n\r\n", 406),
    "415": (
        "POST /v1/games HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
        415,
    ),
    "400": (JSON_POST.format("/v1/games", "Content-Length: 1\r\n") + "{", 400),
    "422": (JSON_POST.format("/v1/games", "Content-Length: 2\r\n") + "{}", 422),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_after_any_answer_the_line_goes_on(name: str, connection: Connection) -> None:
    request, status = ANSWERS[name]
    for _ in range(3):
        connection.send(request)
        answer = connection.read()
        assert answer.status == status
        assert status == 204 or answer.problem["status"] == status
    assert_next_answered(connection)


def test_pipelined_requests_are_answered_in_order(connection: Connection) -> None:
    names = list(ANSWERS) * 3
    connection.send("".join(ANSWERS[name][0] for name in names))
    assert [connection.read().status for _ in names] == [ANSWERS[name][1] for name in names]
    assert_next_answered(connection)


@pytest.mark.parametrize("request_", [*(request for request, _ in ANSWERS.values()), READ[0], "no http\r\n\r\n"])
def test_no_answer_names_a_version_of_what_serves(request_: str, connection: Connection) -> None:
    connection.send(request_ if "\r\n" in request_ else f"GET {request_} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = connection.read()
    assert answer.headers.get("server", "gunicorn") == "gunicorn"
    assert "x-powered-by" not in answer.headers
    for package in ("flask", "gevent", "gunicorn", "redis", "werkzeug"):
        assert version(package) not in str(answer.headers) + answer.body.decode()
    assert not re.search(r"python|werkzeug|gevent", str(answer.headers), re.IGNORECASE)


NONSENSE = {
    "no http": b"hello\r\n\r\n",
    "nothing": b"\r\n\r\n\r\n",
    "zeros": b"\0" * 4096,
    "noise": bytes(range(256)) * 16,
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version to come": b"GET / HTTP/9.9\r\n\r\n",
    "a header without a colon": b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n",
    "a header with a NUL": b"GET /healthz HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    "a folded header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n more\r\n\r\n",
    "a space before the colon": b"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "a long line": b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a long header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    "many headers": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
    "no such chunk": CODED.format("chunked").encode() + b"zz\r\n{}\r\n0\r\n\r\n",
    "a huge chunk": CODED.format("chunked").encode() + b"f" * 40 + b"\r\n{}",
    "a minus chunk": CODED.format("chunked").encode() + b"-1\r\n{}\r\n0\r\n\r\n",
    "an odd coding": CODED.format("gzip, chunked").encode() + b"0\r\n\r\n",
}


@pytest.mark.parametrize("name", NONSENSE)
def test_invalid_bytes_are_refused_and_no_worker_ends(name: str, service: Service, http: httpx.Client) -> None:
    before = service.workers()
    for _ in range(4):  # so that each worker gets some
        with Connection(service) as connection:
            with contextlib.suppress(OSError):
                connection.send(NONSENSE[name])
                connection.end_sending()
            with contextlib.suppress(EOFError, ConnectionResetError):
                answer = connection.read()
                assert 400 <= answer.status <= 505
                assert answer.status != 500
                assert b"Traceback" not in answer.body
    assert http.get("/healthz").status_code == 200
    assert service.workers() == before


def test_an_address_that_is_too_long_is_414(service: Service) -> None:
    for target in ("/" + "a" * 4094, "/healthz?token=" + "a" * 100_000):
        with Connection(service) as connection:
            connection.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = connection.read()
            assert (answer.status, answer.problem["status"], answer.problem["code"]) == (414, 414, "uri_too_long")
            assert b"aaa" not in answer.body
            assert connection.ends()


BAD_HOSTS = ("a b", "a/b", "a@b", "a, b", "a?b", "a#b", "<a>", "a:b", "a:8000000", ":80", "[::1", "::1", "[]", "ä")
MALFORMED = {
    "no host": "GET /healthz HTTP/1.1\r\n\r\n",
    "an empty host": "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n",
    "an empty host in HTTP/1.0": "GET /healthz HTTP/1.0\r\nHost:\r\n\r\n",
    "two hosts": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    **{f"the host {host}": f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n" for host in BAD_HOSTS},
    "no host in a later version": "GET /healthz HTTP/1.2\r\n\r\n",
    "compressed chunks": CODED.format("gzip, chunked") + "0\r\n\r\n",
    "compressed chunks in two lines": CODED.format("deflate\r\nTransfer-Encoding: chunked") + "0\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_head_that_breaks_a_rule_of_http_is_malformed(name: str, connection: Connection) -> None:
    connection.send(MALFORMED[name])
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (400, "malformed")
    assert connection.ends()


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "a.example.", "my_host:", "127.0.0.1:80", "[::1]:8000", "xn--4ca.example"]
)
def test_a_valid_host_is_accepted(host: str, connection: Connection) -> None:
    for _ in range(2):
        connection.send(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n")
        assert connection.read().status == 200


def test_http_1_0_needs_no_host(connection: Connection) -> None:
    connection.send("GET /healthz HTTP/1.0\r\n\r\n")
    assert connection.read().status == 200
    assert connection.ends()


def test_chunks_after_a_coding_that_changes_nothing_are_accepted(connection: Connection) -> None:
    body = "".join(piece.decode() for piece in chunked(json.dumps(GOOD).encode()))
    connection.send(JSON_POST.format("/v1/games", "Transfer-Encoding: identity,\tChunked\r\n"), body)
    assert connection.read().status == 201


@pytest.mark.parametrize("number", [2, 9])
def test_a_later_version_is_answered_as_1_1(number: int, service: Service) -> None:
    url = urlsplit(service.url)
    assert url.hostname
    with socket.create_connection((url.hostname, url.port), timeout=PATIENCE) as connection:
        connection.sendall(f"GET /healthz HTTP/1.{number}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")


SLASHED = [
    *("//healthz", "///healthz", "//v1/variants"),
    *("/%2fhealthz", "//localhost/healthz", "http://localhost//healthz"),
]


@pytest.mark.parametrize("target", SLASHED)
def test_a_path_that_begins_with_two_slashes_has_no_route(target: str, connection: Connection) -> None:
    connection.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (404, "not_found")
    assert_next_answered(connection)


@pytest.mark.parametrize(
    "header", ["SCRIPT_NAME: /x", "PATH_INFO: /healthz", "Script-Name: /x", "Path-Info: /healthz", "X-Script-Name: /x"]
)
def test_no_header_changes_the_path(header: str, connection: Connection) -> None:
    for path, status in (("/x/healthz", 404), ("/healthz", 200)):
        connection.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n")
        assert connection.read().status == status


ODD_TARGETS = [
    *("/%00", "/%ff%fe", "/v1/games/%ed%a0%80", "/v1/games/%"),
    *("/v1/games/a%2fb", "/v1//variants", "//evil.example/", "/v1/games/../variants"),
    *("/v1/games/" + "a" * 3000, "/v1/variants/%F0%9F%81%A9", "*", "http://localhost/none"),
]


@pytest.mark.parametrize("target", ODD_TARGETS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unusual_path_gets_a_problem_document(method: str, target: str, connection: Connection) -> None:
    connection.send(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    answer = connection.read()
    assert 400 <= answer.status < 500, answer.body
    assert answer.problem["code"] in ("malformed", "not_found", "method_not_allowed", "unsupported_media_type")
    assert_next_answered_or_closed(connection, answer)


@pytest.mark.parametrize("value", [b"Bearer \xff\xfe", b"Bearer", b"Basic QTpC", b"Bearer a b", b""])
def test_a_malformed_token_is_unauthorized(value: bytes, connection: Connection, table: Table) -> None:
    connection.send(f"GET {table.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ", value, "\r\n\r\n")
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert_next_answered(connection)


ODD_BUT_HARMLESS = [
    *(b"If-None-Match: \xff", b'If-None-Match: ,,"', b"If-None-Match: W/", b"Accept: ;;q="),
    *(b"Accept-Language: \xe4;q=9", b"Accept-Language: " + b"de;q=0.1," * 100, b'Cookie: a="\x80', b"Origin: \xff"),
    *(b"Range: bytes=0-1", b"X-Forwarded-For: x", b"If-Modified-Since: yesterday", b"Content-Type: \xff"),
    *(b"Content-Encoding: gzip", b"Idempotency-Key: \xff", b"Idempotency-Key: a\r\nIdempotency-Key: b"),
    *(b'If-Match: "\xff", W/"1", *', b"Last-Event-ID: \xff"),
]


@pytest.mark.parametrize("header", ODD_BUT_HARMLESS)
def test_an_unusual_header_is_harmless(header: bytes, connection: Connection, table: Table) -> None:
    for path in (table.path, "/v1/variants/domino"):
        connection.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n", header, b"\r\n\r\n")
        assert connection.read().status in (200, 406)
        assert_next_answered(connection)


@pytest.mark.parametrize(
    "name", [b"Accept", b"Accept-Language", b"If-Match", b"If-None-Match", b"Range", b"Content-Type"]
)
def test_a_header_that_is_too_long_to_be_parsed_is_malformed(name: bytes, connection: Connection, table: Table) -> None:
    for path in (table.path, "/v1/variants/domino", "/docs/swagger-ui.css", "/nothing"):
        connection.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n", name, b": " + b"x," * 513, b"\r\n\r\n")
        answer = connection.read()
        assert (answer.status, answer.problem["code"]) == (400, "malformed")
        assert_next_answered(connection)


@pytest.mark.parametrize("keys", [b"a-key-of-a-create\r\nIdempotency-Key: b", b"a-key-of-a-create\xff", b""])
def test_an_invalid_idempotency_key_is_refused(keys: bytes, connection: Connection) -> None:
    body = json.dumps(GOOD).encode()
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {len(body)}\r\nIdempotency-Key: ")[:-2], keys)
    connection.send("\r\n\r\n", body)
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) == (422, "invalid")
    assert [each["field"] for each in answer.problem["causes"]] == ["Idempotency-Key"]
    assert_next_answered(connection)


BAD_BODIES = {
    "cut": b'{"variant": "domino"',
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "latin-1": '{"variant": "domino", "players": [{"name": "Ä"}, {"name": "B"}]}'.encode("latin-1"),
    "many seats": b'{"variant": "domino", "players": [' + b'{"name": "A"},' * 9000 + b'{"name": "A"}]}',
}
"""Of each kind one that another part of the service refuses: all others are sent without sockets."""


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_refused(name: str, connection: Connection) -> None:
    body = BAD_BODIES[name]
    connection.send(JSON_POST.format("/v1/games", f"Content-Length: {len(body)}\r\n"), body)
    answer = connection.read()
    assert (answer.status, answer.problem["code"]) in ((400, "malformed"), (422, "invalid"))
    if answer.status == 422:
        assert answer.problem["causes"]
    assert_next_answered(connection)


def test_hundreds_of_unfinished_requests_do_not_block_others(
    service: Service, http: httpx.Client, table: Table
) -> None:
    halves = (
        b"GET /v1/var",
        b"GET /v1/variants HTTP/1.1\r\nHost: loc",
        JSON_POST.format("/v1/games", "Content-Length: 1000\r\n").encode() + b'{"variant"',
        CODED.format("chunked").encode() + b'9\r\n{"variant',
    )
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Connection(service)) for _ in range(500)]
        for number, each in enumerate(connections):
            each.send(halves[number % len(halves)])
        before = service.workers()
        for number in range(25):
            assert http.get("/v1/variants").status_code == 200
            assert table.get(seat=0).status_code == 200
            with Connection(service) as fresh:
                assert_next_answered(fresh)
            # Answered while the unfinished requests are pending, not only after their time-out.
            assert number or not any(connection.has_data() for connection in connections)
        assert service.workers() == before
        # A slow request is answered in the end.
        body = json.dumps(GOOD).encode()
        slow = stack.enter_context(Connection(service))
        slow.send(JSON_POST.format("/v1/games", f"Content-Length: {len(body)}\r\n"))
        for place in range(0, len(body), 16):
            slow.send(body[place : place + 16])
        assert slow.read().status == 201


def test_clients_that_disconnect_early_do_no_harm(service: Service, http: httpx.Client) -> None:
    before = service.workers()
    for request in (b"GET /v1/vari", b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        for _ in range(50):
            with Connection(service) as connection:
                connection.send(request)
    assert http.get("/healthz").status_code == 200
    assert service.workers() == before
    assert os.getpid() not in before
