"""The way to Redis: a client whose every answer comes in time, and that never sends a command twice.

Owns the connection pool and all its settings. Must not know: games, keys, scripts.

A call waits for a free connection, for the connection to be made, and for the answer: 1.6 s together at most, or 1.9 s
where a name has two addresses and the first is silent. A write without an answer is sent once more by who asked for it,
and both with what was read before have three seconds: a server that freezes costs the wait for an answer twice. What
this does not bound: the look-up of the name, and a server that sends its answer byte by byte, for each byte is waited
for anew.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from queue import Empty, Full
from typing import Any

import redis
from redis._parsers import _HiredisParser
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import TimeoutError as NoAnswer
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from service.redis_url import read_redis_url

MAX_CONNECTIONS = 64
"""The most connections of a process. Each is held for one round trip only, so a few serve thousands of greenlets."""

POOL_TIMEOUT = 0.4
CONNECT_TIMEOUT = 0.3
READ_TIMEOUT = 0.9


def connect(url: str) -> redis.Redis:
    """A client of the one server at ``url``; it connects when it is first used. Raises ``ValueError``, see there."""
    return redis.Redis.from_pool(make_pool(url))


def make_pool(url: str) -> redis.ConnectionPool:
    """The connections to the one server at ``url``, as ``service.redis_url`` has it; none is made yet.

    Raises ``ValueError`` for a URL that cannot be taken.
    """
    if read_redis_url(url).kind != "single":
        raise ValueError("it must begin with redis://, rediss:// or unix://")
    return _Pool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=POOL_TIMEOUT,
        socket_connect_timeout=CONNECT_TIMEOUT,
        socket_timeout=READ_TIMEOUT,
        retry=Retry(NoBackoff(), 0),
        retry_on_timeout=False,
        health_check_interval=0,
        decode_responses=False,
        protocol=2,  # as fast as 3 with hiredis, and without a greeting on every new connection
        driver_info=None,  # else two more round trips on every new connection
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
        parser_class=_Parser,
    )


class _Pool(redis.BlockingConnectionPool):
    """redis-py's pool without its counting for metrics that nobody reads here: two thirds of what a loan costs."""

    def get_connection(self, command_name: str | None = None, *keys: Any, **options: Any) -> Any:  # noqa: ARG002 # redis-py's own
        """A connection that is made and has nothing to say, after a wait for a free one."""
        self._checkpid()
        try:
            connection = self.pool.get(timeout=self.timeout)
        except Empty:
            raise ConnectionBroken("No connection available.") from None
        try:
            if connection is None:
                connection = self.make_connection()  # type: ignore[no-untyped-call]
            if connection.is_connected and _is_closed(connection):
                connection.disconnect()
            if not connection.is_connected:
                connection.connect()
        except BaseException:
            if connection is None:
                self.pool.put_nowait(None)
            else:
                self.release(connection)
            raise
        return connection

    def release(self, connection: Any) -> None:
        """Take it back."""
        self._checkpid()
        if not self.owns_connection(connection):  # it is from before a fork
            connection.disconnect()
            connection = None
        with contextlib.suppress(Full):
            self.pool.put_nowait(connection)


def _is_closed(connection: Any) -> bool:
    """Whether an idle connection was hung up on, or has an answer that nobody waits for."""
    try:
        return bool(connection.can_read())
    except (ConnectionBroken, NoAnswer, OSError):
        return True


class _Parser(_HiredisParser):
    """hiredis, with a cheaper look at whether an idle connection is still good.

    The pool looks before it lends a connection, which is why a restart of the server fails no request. redis-py looks
    through ``select.poll``; gevent's stands in for it under gunicorn and costs 40 µs a look. A peek costs 2 µs.
    """

    def can_read(self, timeout: float = 0) -> bool:
        """Whether there is something to read, though nothing was asked; raises if the server has hung up."""
        sock: Any = self._sock
        reader: Any = self._reader
        if timeout or reader is None or isinstance(sock, ssl.SSLSocket):
            return super().can_read(timeout)
        if reader.has_data():
            return True
        sock.settimeout(0)
        try:
            if not sock.recv(1, socket.MSG_PEEK):
                raise ConnectionBroken("Connection closed by server.")
        except BlockingIOError:
            return False
        finally:
            sock.settimeout(self._socket_timeout)
        return True
