"""Connections wait for the next request to the same host: some, for a while, and only as long as they are silent."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from service.outgoing.connection import (
    AGE_SECONDS,
    IDLE_SECONDS,
    MAX_PER_HOST,
    Connection,
    Deadline,
    Key,
    Pool,
)

pytestmark = pytest.mark.gate

HERE: Key = ("https", "hooks.example.com", 443)
THERE: Key = ("https", "other.example.com", 443)
MOST = MAX_PER_HOST + 2


class Connections:
    """Opens connections, and knows which of them are still open; has a pool and its clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pool = Pool(MOST, lambda: self.now)
        self.others: list[socket.socket] = []

    def open(self) -> Connection:
        mine, other = socket.socketpair()
        self.others.append(other)
        connection = Connection(mine, Deadline(20))
        connection.opened = self.now
        return connection

    def put(self, key: Key, count: int = 1) -> list[Connection]:
        opened = [self.open() for _ in range(count)]
        for each in opened:
            self.pool.put(key, each)
        return opened

    def is_open(self) -> list[bool]:
        """Of each that was opened, whether it still is."""
        return [_is_open(each) for each in self.others]


def _is_open(other: socket.socket) -> bool:
    other.setblocking(False)
    try:
        return other.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@pytest.fixture
def connections() -> Iterator[Connections]:
    it = Connections()
    yield it
    it.pool.close()
    assert not any(it.is_open())
    for each in it.others:
        each.close()


def test_the_connection_that_has_waited_least_is_taken_first_and_once(connections: Connections) -> None:
    first, second = connections.put(HERE, 2)
    assert connections.pool.take(THERE) is None
    taken = [connections.pool.take(HERE) for _ in range(3)]
    assert taken == [second, first, None]
    for each in (first, second):
        each.close()


def test_the_scheme_and_the_port_are_of_the_key(connections: Connections) -> None:
    connections.put(HERE)
    assert connections.pool.take(("http", HERE[1], 443)) is None
    assert connections.pool.take(("https", HERE[1], 8443)) is None


def test_a_connection_with_something_to_read_is_closed(connections: Connections) -> None:
    connections.put(HERE, 2)
    connections.others[1].sendall(b"x")
    taken = connections.pool.take(HERE)
    assert connections.is_open() == [True, False]
    assert taken is not None
    connections.pool.put(HERE, taken)
    connections.others[0].close()
    assert connections.pool.take(HERE) is None
    connections.others.pop(0)


def test_a_connection_that_has_waited_long_is_closed(connections: Connections) -> None:
    connections.put(HERE)
    connections.now += IDLE_SECONDS / 2
    connections.put(THERE)
    connections.now += IDLE_SECONDS / 2
    connections.put(THERE)
    assert connections.is_open() == [False, True, True]
    assert connections.pool.take(HERE) is None


def test_a_connection_that_is_old_is_closed_though_it_was_used_all_the_time(connections: Connections) -> None:
    (entry,) = connections.put(HERE)
    while connections.now <= AGE_SECONDS:
        assert connections.pool.take(HERE) is entry
        connections.pool.put(HERE, entry)
        connections.now += IDLE_SECONDS / 2
    assert connections.pool.take(HERE) is entry
    connections.pool.put(HERE, entry)
    assert connections.is_open() == [False]


def test_of_more_connections_to_a_host_than_are_kept_the_oldest_are_closed(connections: Connections) -> None:
    connections.put(HERE, MAX_PER_HOST + 1)
    assert connections.is_open() == [False] + [True] * MAX_PER_HOST


def test_of_more_connections_than_are_kept_in_all_the_oldest_are_closed(connections: Connections) -> None:
    for number in range(MOST + 1):
        connections.put(("https", f"host{number}.example.com", 443))
    assert connections.is_open() == [False] + [True] * MOST
    assert connections.pool.take(("https", "host0.example.com", 443)) is None
