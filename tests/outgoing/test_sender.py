"""Requests reach the endpoint as they were meant, and no endpoint keeps the sender longer than it allows."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from ipaddress import ip_network
from threading import Event, Thread
from typing import Any

import pytest
import trustme

from service.outgoing.addresses import RefusedUrl
from service.outgoing.connection import MAX_PER_HOST
from service.outgoing.lookups import LookupFailed
from service.outgoing.sender import MAX_ANSWER_BYTES, REASONS, Answer, Sender, SendFailed
from tests.outgoing.conftest import OpenEndpoint
from tests.outgoing.endpoints import HOST, PUBLIC, Behaviour, Endpoint, Network, answer, endless, raw
from tests.support.serving import ROOT

pytestmark = pytest.mark.gate

URL = f"https://{HOST}/turns?of=mine"
APP = "A" * 24
BODY = b'{"type":"webhook.ping"}'
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
TIMEOUT = 20.0
"""Seconds that no test takes unless it fails."""

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
UNDER_GEVENT = "from gevent import monkey; monkey.patch_all(); import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


class Net:
    """Endpoints and senders, which are closed after the test."""

    def __init__(self, open_endpoint: OpenEndpoint, trust: ssl.SSLContext) -> None:
        self.open = open_endpoint
        self.trust = trust
        self._senders: list[Sender] = []

    def new_sender(self, **options: Any) -> Sender:
        self._senders.append(Sender("domino-server/1.2.3", **options))
        return self._senders[-1]

    def sender(self, network: Network, **options: Any) -> Sender:
        return self.new_sender(**{"tls": self.trust, "lookup": network.lookup, "connect": network.connect, **options})

    def posted(self, *behaviours: Behaviour) -> Answer:
        return post(self.sender(Network(self.open(*behaviours))))

    def failed(self, endpoint: Endpoint) -> str:
        return failure(self.sender(Network(endpoint)))

    def times_out(self, behaviour: Behaviour, timeout: float) -> bool:
        """Return whether a request is given up for its time. Its URL is an address, as a look-up takes time, too."""
        return failure(self.sender(Network(self.open(behaviour))), f"https://{PUBLIC}/", timeout) == "timeout"

    def close(self) -> None:
        for sender in self._senders:
            sender.close()


@pytest.fixture
def net(open_endpoint: OpenEndpoint, trust: ssl.SSLContext) -> Iterator[Net]:
    net = Net(open_endpoint, trust)
    yield net
    net.close()


def post(by: Sender, url: str = URL, timeout: float = TIMEOUT, **options: Any) -> Answer:
    return by.post(url, {"webhook-id": "msg_1"}, BODY, app=APP, timeout=timeout, **options)


def failure(by: Sender, url: str = URL, timeout: float = TIMEOUT) -> str:
    """Why a request fails, well before the time after which a test gives up."""
    begin = time.monotonic()
    with pytest.raises(SendFailed) as caught:
        post(by, url, timeout)
    assert caught.value.reason in REASONS
    seconds = time.monotonic() - begin
    assert seconds < TIMEOUT / 2
    assert 0 <= caught.value.ms <= seconds * 1000
    return caught.value.reason


# What arrives


def test_the_endpoint_gets_the_request_and_the_sender_its_answer(net: Net) -> None:
    endpoint = net.open(answer("202 Accepted", b"thanks"))
    network = Network(endpoint)
    got = post(net.sender(network))
    assert (got.status, got.body, got.retry_after, got.complete) == (202, b"thanks", None, True)
    assert 0 <= got.ms < TIMEOUT * 1000
    assert network.connected == [(PUBLIC, 443)]
    (request,) = endpoint.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == BODY
    assert head.decode().split("\r\n") == [
        "POST /turns?of=mine HTTP/1.1",
        "Host: hooks.example.com",
        "User-Agent: domino-server/1.2.3",
        "Accept-Encoding: identity",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
        "webhook-id: msg_1",
    ]


def test_a_large_body_arrives_whole(net: Net) -> None:
    endpoint, body = net.open(answer()), os.urandom(300_000)
    assert net.sender(Network(endpoint)).post(URL, {}, body, app=APP, timeout=TIMEOUT).status == 200
    assert endpoint.requests[0].endswith(b"\r\n\r\n" + body)


@pytest.mark.parametrize("status", ["200 OK", "204 No Content", "400 Bad", "410 Gone", "429 Slow down", "503 Down"])
def test_every_status_is_an_answer(net: Net, status: str) -> None:
    assert net.posted(answer(status)).status == int(status[:3])


def test_interim_answers_are_no_answers_however_many(net: Net) -> None:
    interim = (
        b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    )
    final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    endpoint = net.open(raw(interim * 2 + final))
    by = net.sender(Network(endpoint))
    assert [post(by)[:2] for _ in range(2)] == [(200, b"ok")] * 2
    assert endpoint.accepted == 1
    assert net.posted(raw(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")).status == 101
    without_end = endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n")
    assert net.failed(net.open(without_end)) == "too_large"


@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308"])
@pytest.mark.parametrize("location", ["https://127.0.0.1/", "https://other.example.com/", "//[::1]/", "/elsewhere"])
def test_a_redirect_is_an_answer_and_is_not_followed(net: Net, status: str, location: str) -> None:
    endpoint = net.open(answer(f"{status} Moved", b"", f"Location: {location}"))
    network = Network(endpoint)
    assert post(net.sender(network)).status == int(status)
    assert len(endpoint.requests) == len(network.connected) == len(network.looked_up) == 1


@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("Fri, 02 Jan 2026 00:00:00 GMT", 0),
        *[(text, None) for text in ("-1", "soon", "1.5", "9" * 10, "", "Thu, 99 Jan 2026 00:00:00 GMT")],
        *[(text, None) for text in ("Thu, 01 Jan 99999 00:00:00 GMT", "１")],
    ],
)
def test_retry_after_is_read(net: Net, field: str, seconds: int | None) -> None:
    behaviour = raw(f"HTTP/1.1 503 Down\r\nRetry-After: {field}\r\nContent-Length: 0\r\n\r\n".encode())
    assert net.posted(behaviour).retry_after == seconds


def test_retry_after_may_be_a_date(net: Net) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    got = net.posted(answer("429 Slow down", b"", f"Retry-After: {later}"))
    assert got.retry_after is not None
    assert 3500 < got.retry_after <= 3600


@pytest.mark.parametrize("header", [{"x-a": "1\r\nx-b: 2"}, {"x-a\r\nx-b": "1"}, {"x-a": "ü"}, {"": "1"}, {"a b": "1"}])
def test_a_header_that_would_break_the_request_is_not_sent(net: Net, header: dict[str, str]) -> None:
    network = Network()
    with pytest.raises(ValueError, match="cannot be sent"):
        net.sender(network).post(URL, header, BODY, app=APP, timeout=TIMEOUT)
    assert network.connected == []


# Where it goes


@pytest.mark.parametrize(
    "addresses", [(), ("127.0.0.1",), (PUBLIC, "10.0.0.1"), ("::1", PUBLIC), ("169.254.169.254",), ("fe80::1%1",)]
)
def test_nothing_is_sent_to_a_name_without_an_address_or_with_one_that_is_not_public(
    net: Net, addresses: tuple[str, ...]
) -> None:
    network = Network(names={HOST: addresses})
    assert failure(net.sender(network)) == "refused_address"
    assert network.connected == []


def test_a_resolver_that_changes_its_answer_has_no_effect_on_where_the_connection_goes(net: Net) -> None:
    network = Network(net.open(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", close=True)))
    answers = iter([(PUBLIC,), ("127.0.0.1",), (PUBLIC,)])
    asked = []

    def lookup(host: str) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    by = net.new_sender(tls=net.trust, lookup=lookup, connect=network.connect)
    assert post(by).status == 200
    assert (len(asked), network.connected) == (1, [(PUBLIC, 443)])
    assert failure(by) == "refused_address"
    assert (len(asked), network.connected) == (2, [(PUBLIC, 443)])
    assert post(by).status == 200
    assert (len(asked), network.connected) == (3, [(PUBLIC, 443)] * 2)


def test_the_system_connects_to_localhost_only_where_its_network_is_allowed(net: Net) -> None:
    endpoint = net.open(answer(), names=())
    for host in ("localhost", "127.0.0.1"):
        url = f"http://{host}:{endpoint.port}/"
        assert failure(net.new_sender(), url) == "refused_address"
        assert failure(net.new_sender(networks=[ip_network("10.0.0.0/8")]), url) == "refused_address"
    assert endpoint.accepted == 0
    for host in ("localhost", "127.0.0.1"):
        by = net.new_sender(networks=LOOPBACK)
        assert post(by, f"http://{host}:{endpoint.port}/").status == 200
    assert endpoint.requests[0].split(b"\r\n")[1] == f"Host: localhost:{endpoint.port}".encode()


def test_a_url_can_be_checked_without_a_request(net: Net) -> None:
    network = Network(names={HOST: (PUBLIC,), "inside.example.com": ("10.0.0.1",), "nowhere.example.com": ()})
    by = net.sender(network)
    by.check(URL, APP)
    for url, reason in {
        "https://inside.example.com/": "not_public",
        "https://nowhere.example.com/": "not_public",
        "http://hooks.example.com/": "not_https",
    }.items():
        with pytest.raises(RefusedUrl, match=reason):
            by.check(url, APP)
    assert network.connected == []


def test_behind_a_proxy_a_url_is_checked_without_a_look_up(net: Net) -> None:
    network = Network(names={})
    by = net.sender(network, proxy="http://egress:4750")
    by.check(URL, APP)
    with pytest.raises(RefusedUrl, match="not_public"):
        by.check("https://10.0.0.1/", APP)
    assert (network.connected, network.looked_up) == ([], [])


def test_variables_of_the_environment_name_no_proxy(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:1")
    network = Network(net.open(answer()))
    assert post(net.sender(network)).status == 200
    assert network.connected == [(PUBLIC, 443)]


def test_the_next_address_is_tried_if_one_does_not_accept(net: Net) -> None:
    network = Network(net.open(answer()), {HOST: ("2606:4700::1", "8.8.4.4", PUBLIC)})
    tried = []

    def connect(address: Any, port: int, seconds: float) -> socket.socket:
        tried.append(str(address))
        if str(address) != PUBLIC:
            raise ConnectionRefusedError
        return network.connect(address, port, seconds)

    by = net.new_sender(tls=net.trust, lookup=network.lookup, connect=connect)
    assert post(by).status == 200
    assert tried == ["2606:4700::1", "8.8.4.4", PUBLIC]


def test_a_few_addresses_are_tried_and_no_more(net: Net) -> None:
    network = Network(names={HOST: [f"8.8.8.{number}" for number in range(100)]})
    assert failure(net.sender(network)) == "connection"
    assert len(network.connected) == 4


def test_a_look_up_that_fails_is_no_refusal(net: Net) -> None:
    def fail(_: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    by = net.new_sender(tls=net.trust, lookup=fail)
    assert failure(by) == "lookup"
    with pytest.raises(LookupFailed, match="no_answer"):
        by.check(URL, APP)


# TLS


def test_a_certificate_for_another_name_is_refused(net: Net) -> None:
    endpoint = net.open(answer(), names=("other.example.com",))
    assert net.failed(endpoint) == "tls"
    assert endpoint.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(net: Net) -> None:
    endpoint, unknown = net.open(answer()), ssl.create_default_context()
    trustme.CA().configure_trust(unknown)
    assert failure(net.sender(Network(endpoint), tls=unknown)) == "tls"
    assert failure(net.new_sender(lookup=Network().lookup, connect=Network(endpoint).connect)) == "tls"
    assert endpoint.requests == []


def test_an_address_in_the_url_needs_a_certificate_for_that_address(net: Net) -> None:
    assert post(net.sender(Network(net.open(answer()))), f"https://{PUBLIC}/").status == 200
    assert failure(net.sender(Network(net.open(answer(), names=(HOST,)))), f"https://{PUBLIC}/") == "tls"


def test_a_server_without_tls_is_refused(net: Net) -> None:
    client, server = socket.socketpair()
    by = net.new_sender(tls=net.trust, lookup=Network().lookup, connect=lambda *_: client)
    with client, server:
        server.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        assert failure(by) == "tls"


# Answers that take too much


@pytest.mark.parametrize(
    ("field", "more"),
    [
        (b"Content-Length: 10000000000", b"x" * 65536),
        (b"Connection: close", b"x" * 65536),
        (b"Transfer-Encoding: chunked", b"1000\r\n" + b"x" * 4096 + b"\r\n"),
    ],
)
def test_a_huge_answer_is_cut_off(net: Net, field: bytes, more: bytes) -> None:
    got = net.posted(endless(b"HTTP/1.1 200 OK\r\n" + field + b"\r\n\r\n", more))
    assert (got.status, got.body, got.complete) == (200, b"x" * MAX_ANSWER_BYTES, False)


@pytest.mark.parametrize("size", [0, 1, 999, 1000])
@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_as_long_as_allowed_is_complete(net: Net, size: int, chunked: bool) -> None:
    body = b"x" * size
    chunks = b"".join(b"1\r\nx\r\n" for _ in body) + b"0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    endpoint = net.open(raw(head + chunks) if chunked else answer(body=body))
    by = net.sender(Network(endpoint))
    for _ in range(2):
        assert post(by, max_answer=1000)[:2] == (200, body)
        assert post(by, max_answer=1000).complete
    assert endpoint.accepted == 1


def test_a_compressed_answer_is_not_decompressed(net: Net) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < MAX_ANSWER_BYTES
    got = net.posted(answer("200 OK", bomb, "Content-Encoding: gzip"))
    assert (got.body, got.complete) == (bomb, True)


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nx-", b"a" * 4096),
        (b"HTTP/1.1 ", b"2" * 4096),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"x-trailer: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 4000 + b"\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"x: 1\r\n"),
    ],
    ids=["field", "status", "continue", "trailers", "extensions", "fields"],
)
def test_a_head_without_end_is_refused(net: Net, begin: bytes, more: bytes) -> None:
    assert net.failed(net.open(endless(begin, more))) in ("too_large", "not_http")


# Answers that take too long


def dripping(begin: bytes, more: bytes, pause: float) -> Any:
    def behave(sock: socket.socket) -> bool:
        sock.sendall(begin)
        for _ in range(int(TIMEOUT / pause)):
            time.sleep(pause)
            sock.sendall(more)
        return False

    return behave


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"", b" "),
        (b"HTTP/1.1 200 OK\r\n", b"x: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "fields", "body", "chunks", "until closed", "continue"],
)
def test_an_answer_that_arrives_byte_by_byte_is_given_up_in_time(net: Net, begin: bytes, more: bytes) -> None:
    assert net.times_out(dripping(begin, more, 0.05), 0.4)


def test_an_endpoint_that_never_answers_is_given_up_in_time(net: Net) -> None:
    never = Event()
    assert net.times_out(lambda _: never.wait(TIMEOUT), 0.2)
    never.set()


@pytest.mark.parametrize("record", ["handshake", "data"])
def test_tls_that_arrives_byte_by_byte_is_given_up_in_time(net: Net, record: str) -> None:
    """One record of TLS, so that no byte of it can be used before the last."""
    endpoint = net.open(answer(body=b"x" * 15_000))
    client, proxy = socket.socketpair()
    upstream = Network(endpoint).connect(Network, 0, TIMEOUT)  # type: ignore[arg-type] # any address leads there

    def forward() -> None:
        while data := proxy.recv(65536):
            upstream.sendall(data)

    def drip() -> None:
        fast = 0 if record == "handshake" else 4000
        while data := upstream.recv(65536):
            proxy.sendall(data[:fast])
            for byte in data[fast:]:
                time.sleep(0.02)
                proxy.sendall(bytes([byte]))

    threads = [Thread(target=_quietly, args=(each,), daemon=True) for each in (forward, drip)]
    for each in threads:
        each.start()
    by = net.new_sender(tls=net.trust, lookup=Network().lookup, connect=lambda *_: client)
    with client, proxy, upstream:
        assert failure(by, f"https://{PUBLIC}/", timeout=0.5) == "timeout"
        upstream.shutdown(socket.SHUT_RDWR)
        for each in threads:
            each.join(TIMEOUT)


def _quietly(run: Any) -> None:
    try:
        run()
    except OSError:
        return


def test_an_endpoint_that_does_not_read_is_given_up_in_time(net: Net) -> None:
    client, other = socket.socketpair()
    by = net.new_sender(networks=LOOPBACK, connect=lambda *_: client)
    begin = time.monotonic()
    with client, other, pytest.raises(SendFailed, match="timeout"):  # the time may be over before it is connected
        by.post("http://127.0.0.1:1/", {}, bytes(50_000_000), app=APP, timeout=0.2)
    assert time.monotonic() - begin < TIMEOUT / 2


def test_a_look_up_that_hangs_is_given_up_in_time(net: Net) -> None:
    never = Event()

    def hang(_: str) -> Sequence[str]:
        never.wait(TIMEOUT)
        return (PUBLIC,)

    assert failure(net.new_sender(tls=net.trust, lookup=hang), timeout=0.2) in ("lookup", "timeout")
    never.set()


# Answers that are none


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsho", "connection"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not_http"),
        (b"HTTP/1.1 twohundred OK\r\n\r\n", "not_http"),
        (b"HTTP/9.9 200 OK\r\n\r\n", "not_http"),
        (b"\0\1\2\3\r\n\r\n", "not_http"),
        (b"+PONG\r\n", "not_http"),
        (b"x" * 100_000 + b"\r\n", "not_http"),
    ],
    ids=lambda it: repr(it)[:40],
)
def test_what_is_no_answer_has_a_reason(net: Net, data: bytes, reason: str) -> None:
    assert net.failed(net.open(raw(data, close=True))) == reason


def test_random_answers_are_answers_or_have_a_reason(net: Net) -> None:
    luck, outcomes = random.Random(17), Counter[str]()
    pieces = (
        *(b"HTTP/1.1 200 OK", b"HTTP/1.0 204", b"HTTP/1.1 100 C", b"HTTP/1.1 -1 X", b"HTTP/1.1 99999", b"HTTP/1.1"),
        *(b"Content-Length: 5", b"Content-Length: -5", b"Content-Length: 5, 5"),
        *(b"Content-Length: \xb2", b"\0", b"\xff"),
        *(
            b"Transfer-Encoding: chunked",
            b"transfer-encoding:  Chunked",
            b"Connection: close",
            b"Retry-After: \xff\xfe",
        ),
        *(b"0", b"5", b"-1", b"1_0", b"FFFFFFFFFFFFFFFFFFFF", b"5;x", b"hello", b" folded", b":", b"", b"", b""),
    )
    for _ in range(3000):
        lines = [luck.choice(pieces[:6]), *(luck.choice(pieces) for _ in range(luck.randint(0, 8)))]
        client, server = socket.socketpair()
        by = net.new_sender(networks=LOOPBACK, connect=lambda *_, sock=client: sock, tls=NO_TLS)
        with client, server:
            server.sendall(luck.choice([b"\r\n", b"\r\n", b"\n"]).join(lines))
            server.shutdown(socket.SHUT_WR)
            try:
                assert len(post(by, "http://127.0.0.1/").body) <= MAX_ANSWER_BYTES
                outcomes["answer"] += 1
            except SendFailed as error:
                outcomes[error.reason] += 1
            by.close()
    assert outcomes.keys() == {"answer", "connection", "not_http"}
    assert min(outcomes.values()) > 100


def test_a_port_that_nobody_listens_on_is_no_connection(net: Net) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert failure(net.new_sender(networks=LOOPBACK), f"http://127.0.0.1:{port}/") == "connection"


# Connections that wait for the next request


def test_a_connection_is_used_again_without_another_look_up(net: Net) -> None:
    network = Network(net.open(answer(body=b"a"), answer("500 Oh", b"b"), answer("204 No Content")))
    by = net.sender(network)
    assert [post(by).status for _ in range(4)] == [200, 500, 204, 204]
    assert len(network.connected) == len(network.looked_up) == 1


def test_a_connection_that_is_closed_instead_of_a_second_answer_is_opened_anew_once(net: Net) -> None:
    endpoint = net.open(answer(), raw(b"", close=True), answer("201 Created"), raw(b"", close=True))
    by = net.sender(Network(endpoint))
    assert [post(by).status for _ in range(2)] == [200, 201]
    assert (endpoint.accepted, len(endpoint.requests)) == (2, 3)
    assert failure(by) == "connection"
    assert (endpoint.accepted, len(endpoint.requests)) == (3, 5)


@pytest.mark.parametrize("distance", [0, io.DEFAULT_BUFFER_SIZE])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_answer_that_was_not_asked_for_is_not_taken_for_the_next_one(net: Net, scheme: str, distance: int) -> None:
    """Within what is read with the answer, and right behind it."""
    first = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    forged = b"HTTP/1.1 299 Forged\r\nContent-Length: 0\r\n\r\n"
    endpoint = net.open(
        raw(first.ljust(distance, b"x") + forged),
        answer("201 Created"),
        names=("127.0.0.1",) if scheme == "https" else (),
    )
    by = net.new_sender(tls=net.trust, networks=LOOPBACK)
    assert [post(by, f"{scheme}://127.0.0.1:{endpoint.port}/").status for _ in range(2)] == [200, 201]


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12345",
    ],
    ids=["HTTP/1.0", "close", "cut off"],
)
def test_a_connection_that_the_endpoint_will_close_or_with_an_answer_cut_off_is_not_used_again(
    net: Net, data: bytes
) -> None:
    endpoint = net.open(raw(data), answer("201 Created"))
    by = net.sender(Network(endpoint))
    assert [post(by, max_answer=4).status for _ in range(2)] == [200, 201]
    assert endpoint.accepted == 2


def test_a_connection_that_the_endpoint_has_closed_is_opened_anew(net: Net) -> None:
    endpoint = net.open(answer())
    by = net.sender(Network(endpoint))
    assert post(by).status == 200
    endpoint.close_connections()
    assert post(by).status == 200
    assert (endpoint.accepted, len(endpoint.requests)) == (2, 2)


def test_a_request_of_which_an_answer_has_begun_is_not_repeated(net: Net) -> None:
    endpoint = net.open(answer(), raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsho", close=True))
    by = net.sender(Network(endpoint))
    assert post(by).status == 200
    assert failure(by) == "connection"
    assert len(endpoint.requests) == 2


def test_requests_at_the_same_time_have_connections_of_their_own_and_some_are_kept(net: Net) -> None:
    together, done = Event(), []
    many = MAX_PER_HOST + 4

    def behave(sock: socket.socket) -> None:
        if len(endpoint.requests) == many:
            together.set()
        assert together.wait(TIMEOUT)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    endpoint = net.open(behave)
    by = net.sender(Network(endpoint))
    threads = [Thread(target=lambda: done.append(post(by).status)) for _ in range(many)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(TIMEOUT)
    assert done == [200] * many
    assert endpoint.accepted == many
    assert [post(by).status for _ in range(MAX_PER_HOST)] == [200] * MAX_PER_HOST
    assert endpoint.accepted == many


# Through a proxy


def proxy_to(endpoint: Endpoint, sock: socket.socket) -> bool:
    """Accept the request for a tunnel, and pass bytes both ways."""
    sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    upstream = socket.create_connection(("127.0.0.1", endpoint.port))

    def back() -> None:
        while data := upstream.recv(65536):
            sock.sendall(data)

    Thread(target=_quietly, args=(back,), daemon=True).start()
    with upstream:
        while data := sock.recv(65536):
            upstream.sendall(data)
    return False


def test_through_a_proxy_the_host_is_neither_looked_up_nor_connected_to(net: Net) -> None:
    endpoint = net.open(answer("202 Accepted", b"thanks"))
    proxy = net.open(partial(proxy_to, endpoint), names=())
    network = Network(proxy, {"egress": ("10.1.2.3",)})
    by = net.sender(network, proxy="http://egress:4750")
    for _ in range(2):
        assert post(by)[:2] == (202, b"thanks")
    assert (network.looked_up, network.connected) == (["egress"], [("10.1.2.3", 4750)])
    assert proxy.requests == [f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n".encode()]
    assert [request.split(b" ")[0] for request in endpoint.requests] == [b"POST", b"POST"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [("403 Forbidden", "refused_address"), ("407 Denied", "refused_address"), ("502 Bad gateway", "connection")],
)
def test_what_the_proxy_refuses_is_refused(net: Net, status: str, reason: str) -> None:
    proxy = net.open(answer(status), names=())
    assert failure(net.sender(Network(proxy), proxy="http://127.0.0.1:4750")) == reason


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://localhost/", "http://hooks.example.com/"])
def test_a_proxy_is_not_asked_for_what_is_refused_by_its_url(net: Net, url: str) -> None:
    network = Network()
    assert failure(net.sender(network, proxy="http://127.0.0.1:4750"), url) == "refused_address"
    assert network.connected == []


# With gevent


@pytest.mark.nightly
@pytest.mark.skipif(bool(os.environ.get("UNDER_GEVENT")), reason="runs itself")
def test_all_of_this_holds_under_gevent() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", UNDER_GEVENT, "-q", "-n", "0", "-p", "no:cacheprovider", __file__],
        cwd=ROOT,
        env={**os.environ, "UNDER_GEVENT": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert completed.returncode == 0, completed.stdout[-4000:] + completed.stderr[-2000:]
    assert re.search(r"\b[0-9]+ passed", completed.stdout)
