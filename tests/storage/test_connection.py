"""The settings of the client do not depend on the URL, and it is cheap and safe under gevent."""

from __future__ import annotations

import os
import select
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import redis

from service.games.ports import StoredGame
from service.redis.connection import MAX_CONNECTIONS, connect
from service.redis.topology import SingleNodeTopology
from tests.storage.conftest import TTL
from tests.storage.servers import Answer, FakeServer, RealServer
from tests.support.stores.redis_stores import redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

RETRY_BUDGET = 1.5
"""Seconds within which the service repeats a write once, see ``service.games.store.transactions``."""

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("url", "kind", "settings"),
    [
        ("redis://example.test", redis.Connection, {"host": "example.test"}),
        ("redis://example.test:7000/3", redis.Connection, {"host": "example.test", "port": 7000, "db": 3}),
        ("redis://ada:p%40ss@[::1]:7000/", redis.Connection, {"username": "ada", "password": "p@ss", "host": "::1"}),
        (
            "rediss://:x@example.test/1?ssl_cert_reqs=none",
            redis.SSLConnection,
            {"password": "x", "ssl_cert_reqs": "none"},
        ),
        ("unix:///run/redis.sock?db=2", redis.UnixDomainSocketConnection, {"path": "/run/redis.sock", "db": 2}),
    ],
)
def test_a_url_gives_address_and_credentials(url: str, kind: type, settings: dict[str, object]) -> None:
    pool = connect(url).connection_pool
    assert pool.connection_class is kind
    assert settings.items() <= pool.connection_kwargs.items()


@pytest.mark.parametrize("url", ["redis://example.test", "rediss://example.test", "unix:///run/redis.sock"])
def test_all_waits_of_a_client_are_bounded_and_nothing_is_retried(url: str) -> None:
    client = connect(url)
    pool = client.connection_pool
    assert isinstance(pool, redis.BlockingConnectionPool)
    connection: Any = pool.connection_class(**pool.connection_kwargs)
    attempt = pool.timeout + connection.socket_connect_timeout * 2 + connection.socket_timeout
    assert attempt < 2
    # The repetition, to a frozen server that still accepts connections.
    assert RETRY_BUDGET + pool.timeout + connection.socket_timeout < 3
    assert connection.retry.get_retries() == 0
    assert not connection.retry_on_error
    assert connection.health_check_interval == 0
    assert not connection.encoder.decode_responses
    assert not connection.driver_info


@pytest.mark.parametrize(
    ("url", "why"),
    [
        *(("", "begin with"), ("localhost:6379", "begin with"), ("http://s3cret@example.test", "begin with")),
        ("redis://:s3cret@example.test/one", "number of a database"),
        *(("redis://:s3cret@example.test:port", "not a URL"), ("redis://:s3cret@example.test:70000", "not a URL")),
        *(("redis://:s3cret@[::1", "not a URL"), ("redis://:s3cret@example.test?db=one", "number of a database")),
        ("redis://:s3cret@example.test?socket_timeout=60", "may not set socket_timeout"),
        ("redis://:s3cret@example.test?decode_responses=1", "may not set decode_responses"),
        ("redis://:s3cret@example.test?ssl_cert_reqs=none", "may not set ssl_cert_reqs"),
        ("unix://s3cret@", "path of a socket"),
    ],
)
def test_an_invalid_url_is_rejected_without_leaking_its_password(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as rejection:
        connect(url)
    assert "s3cret" not in str(rejection.value)


def test_a_new_connection_sends_only_the_command() -> None:
    with FakeServer(lambda _: b"$-1\r\n") as server, connect(server.url) as client:
        redis_store(SingleNodeTopology(client), TTL).read("game")
        assert server.commands == [[b"GET", b"domino:{game}"]]


class Interruption(BaseException):
    """What ends a greenlet or a program at any moment."""


def test_a_connection_whose_handshake_was_interrupted_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the answer to its AUTH would be taken for that of the next command."""

    def interrupt(*_: object, **__: object) -> None:
        raise Interruption

    with FakeServer(lambda _: b"+OK\r\n") as server, connect(server.url.replace("//", "//:password@")) as client:
        with monkeypatch.context() as patch:
            patch.setattr(redis.Connection, "read_response", interrupt)
            with pytest.raises(Interruption):
                client.connection_pool.get_connection()
        assert not any(each.is_connected for each in client.connection_pool._connections)


def test_tls_is_used_and_a_closed_connection_is_replaced() -> None:
    """With a cipher that needs no certificate, which no real server offers."""
    cipher = "AECDH-AES256-SHA:@SECLEVEL=0"
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        tls.set_ciphers(cipher)
    except ssl.SSLError:
        pytest.skip("this OpenSSL has no such cipher")
    answers: list[Answer] = [b"$3\r\n1 a\r\n", b"$3\r\n2 b\r\n", None, b"$3\r\n3 c\r\n"]
    with FakeServer(lambda _: answers.pop(0), tls) as server:
        address = server.url.removeprefix("redis://")
        with connect(f"rediss://{address}?ssl_cert_reqs=none&ssl_check_hostname=no&ssl_ciphers={cipher}") as client:
            store = redis_store(SingleNodeTopology(client), TTL)
            assert [store.read("game") for _ in range(3)] == [
                StoredGame(1, b"a"),
                StoredGame(2, b"b"),
                StoredGame(3, b"c"),
            ]


def test_many_threads_share_no_more_connections_than_the_pool_has(shared_server: RealServer) -> None:
    thread_count = MAX_CONNECTIONS * 2
    together = threading.Barrier(thread_count)
    with connect(shared_server.url) as client:
        store = redis_store(SingleNodeTopology(client), TTL)
        client.connection_pool.timeout = 30.0  # all are to be served, however slow the machine is

        def read() -> None:
            together.wait(PATIENCE)
            for _ in range(5):
                store.read("game")

        threads = [threading.Thread(target=read) for _ in range(thread_count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(client.connection_pool._connections) <= MAX_CONNECTIONS


def test_an_idle_connection_is_checked_without_poll(
    shared_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gevent's poll would be the most expensive part of a round trip."""

    def poll() -> None:
        pytest.fail("the pool calls select.poll")

    store = redis_store(SingleNodeTopology(shared_client), TTL)
    store.check()
    monkeypatch.setattr(select, "poll", poll)
    store.check()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_greenlets_are_served_or_refused_in_time(server: RealServer) -> None:
    """In a process of its own, because gevent's patches affect the whole process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.greenlets", server.url, str(server._server.pid)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
