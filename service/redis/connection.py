"""Connections to a Redis server: pools with bounded waits, and round trips that never send a command twice.

Owns the settings of every connection, and decides whether a command without an answer may have been executed. Does not
depend on games, keys or scripts, nor on the number of servers.

A call waits for a free connection, for the connection to be established, and for the answer: at most 1.6 s together, or
1.9 s if a host name has two addresses and the first does not respond. The caller repeats a write without an answer
once. Both attempts and a read before them take at most three seconds together, since a frozen server costs the wait for
an answer only twice. Two waits have no bound: name resolution, and an answer that arrives byte by byte, because the
timeout restarts with each byte.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Full
from threading import BoundedSemaphore
from time import monotonic
from typing import Any, Final, NamedTuple

import redis
from hiredis import pack_command
from redis._parsers import _HiredisParser
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import MaxConnectionsError, NoPermissionError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from service.redis.errors import TROUBLES
from service.redis.url import read_redis_url

MAX_CONNECTIONS = 64
"""Connections of a process to one server. Each is used for one round trip, so a few serve thousands of greenlets."""

MAX_WAITING = MAX_CONNECTIONS * 3 // 4
"""Connections for writes that wait for replicas. The others stay free for reads while a replica is unreachable."""

POOL_TIMEOUT = 0.4
CONNECT_TIMEOUT = 0.3
READ_TIMEOUT = 0.9
"""Timeouts, in seconds."""

Command = tuple[bytes | int | str, ...]


class NotSent(Exception):
    """No server has executed the command: there was no connection, or the server rejected it.

    ``__cause__`` is the reason.
    """


class MaybeSent(Exception):
    """The command was sent, perhaps in part, and no answer came. ``__cause__`` is the reason."""


class NoMajority(ConnectionBroken):
    """The primary may have been replaced: the majority of the Sentinels does not name it."""


class DedicatedConnection(NamedTuple):
    """A connection outside the pools; ``node`` is the unique name of its server."""

    connection: Any
    node: str


def connect(url: str) -> redis.Redis:
    """Return a client of the single server at ``url``, which connects on first use. Raises as ``make_pool`` does."""
    return redis.Redis.from_pool(make_pool(url))


def make_pool(url: str) -> redis.ConnectionPool:
    """Return a pool of connections to the single server at ``url`` (see ``service.redis.url``). Does not connect yet.

    Raises ``ValueError`` for an invalid URL, or one of a Sentinel or Cluster.
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
        protocol=2,  # as fast as 3 with hiredis, and without a HELLO on every new connection
        driver_info=None,  # saves two round trips on every new connection
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
        parser_class=_Parser,
        socket_read_size=_RECEIVE_BYTES,
    )


class _Pool(redis.BlockingConnectionPool):
    """redis-py's pool without its metrics, which are not used and take two thirds of the time of a checkout."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self.waiting = BoundedSemaphore(MAX_WAITING)
        """Limits the round trips that wait for replicas."""

    def get_connection(self, command_name: str | None = None, *keys: Any, **options: Any) -> Any:  # noqa: ARG002 # redis-py's own
        """Wait ``timeout`` seconds for a free connection. Return it connected, with nothing left to read."""
        self._checkpid()
        timeout = options.get("timeout")
        try:
            connection = self.pool.get(timeout=self.timeout if timeout is None else timeout)
        except Empty:
            raise MaxConnectionsError("No connection available.") from None
        try:
            if connection is None:
                connection = self.make_connection()  # type: ignore[no-untyped-call]
            if connection.is_connected and connection.can_read():
                connection.disconnect()
            if not connection.is_connected:
                _establish(self, connection)
        except BaseException:
            if connection is None:
                self.pool.put_nowait(None)
            else:
                connection.disconnect()  # if the greenlet was killed, an answer to AUTH may still arrive
                self.release(connection)
            raise
        return connection

    def release(self, connection: Any) -> None:
        """Return a connection to the pool, with a receive buffer that contains no answer.

        While the connection is idle, a game can be deleted whose names are in the answer.
        """
        self._checkpid()
        connection._parser._buffer[:] = _ZEROS  # noqa: SLF001 # takes less than a microsecond
        if not self.owns_connection(connection):  # it was opened before a fork
            connection.disconnect()
            connection = None
        with contextlib.suppress(Full):
            self.pool.put_nowait(connection)


_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


def _establish(pool: redis.ConnectionPool, connection: Any) -> None:
    """Connect. Log the reason if that is not possible."""
    trouble = f"cannot connect to {node_name(pool)}"
    try:
        connection.connect()
    except (RedisError, OSError) as error:
        paths = [(name, pool.connection_kwargs.get(name)) for name in _FILES]
        missing = [f"there is no file {path} ({name})" for name, path in paths if path and not Path(path).exists()]
        TROUBLES.begin(trouble, missing[0] if missing else error)
        raise
    TROUBLES.end(trouble)


_RECEIVE_BYTES: Final = 8_192
"""Bytes received at a time. Nearly every answer is shorter."""
_ZEROS: Final = bytearray(_RECEIVE_BYTES)  # not bytes, which a slice assignment would copy first


class _Parser(_HiredisParser):
    """hiredis with a faster check of idle connections.

    The pool checks a connection at every checkout, so that no request fails after a restart of the server. redis-py's
    own check uses ``select.poll``, whose gevent version takes 40 µs; a peek takes 2 µs.
    """

    def can_read(self, timeout: float = 0) -> bool:
        """Return whether the server has closed an idle connection, or has sent an answer that was not requested."""
        sock: Any = self._sock
        reader: Any = self._reader
        if timeout or reader is None or isinstance(sock, ssl.SSLSocket):
            try:
                return super().can_read(timeout)
            except (ConnectionBroken, NoAnswer, OSError):
                return True
        if reader.has_data():
            return True
        sock.settimeout(0)
        try:
            sock.recv(1, socket.MSG_PEEK)  # empty if it is closed
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            sock.settimeout(self._socket_timeout)
        return True


def round_trip(
    pool: redis.ConnectionPool, commands: tuple[Command, ...], *, pool_timeout: float | None = None
) -> list[Any]:
    """Send commands together on one connection of the pool. Return their answers in order, errors as exceptions.

    ``pool_timeout``: the seconds to wait for a free connection; ``None`` for the default, with which commands that end
    in a WAIT use at most ``MAX_WAITING`` connections. Raises ``NotSent`` or ``MaybeSent``.
    """
    if pool_timeout is None and commands[-1][0] == b"WAIT":
        return _limited_round_trip(pool, commands)
    try:
        connection: Any = pool.get_connection() if pool_timeout is None else pool.get_connection(timeout=pool_timeout)
    except Exception as error:
        raise NotSent from error
    try:
        answers = _exchange(connection, commands)
        if isinstance(answers[0], RedisError):
            if _is_rejection(answers[0]):
                connection.disconnect()  # the server closes it, too, but the next caller might use it before
            if isinstance(answers[0], NoPermissionError):
                TROUBLES.begin(f"{node_name(pool)} lacks rights for this user", answers[0])
        return answers
    except BaseException as error:
        # An answer may still arrive, and must not reach the next caller.
        connection.disconnect()
        if not isinstance(error, Exception):
            raise
        raise (NotSent if _is_rejection(error) else MaybeSent) from error
    finally:
        pool.release(connection)


def _limited_round_trip(pool: redis.ConnectionPool, commands: tuple[Command, ...]) -> list[Any]:
    """Make a round trip that waits for replicas, one of at most ``MAX_WAITING`` at a time."""
    waiting: BoundedSemaphore = pool.waiting  # type: ignore[attr-defined] # it is a _Pool
    began = monotonic()
    if not waiting.acquire(timeout=POOL_TIMEOUT):
        raise NotSent from MaxConnectionsError("No connection available.")
    try:
        return round_trip(pool, commands, pool_timeout=max(0.0, POOL_TIMEOUT - (monotonic() - began)))
    finally:
        waiting.release()


def call_together(call: Callable[..., list[Any]], calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
    """Run commands about keys of the same server in one round trip. Return the answers, errors as exceptions."""
    if not calls:
        return []
    try:
        return call(calls[0][0], *[command for _, command in calls])
    except (NotSent, MaybeSent) as error:
        return [error] * len(calls)


def _exchange(connection: Any, commands: Sequence[Command]) -> list[Any]:
    """Send commands together, and return their answers in order, errors as exceptions.

    Raises errors of the connection, or the rejection with which the server has closed it. redis-py raises errors of the
    connection and error answers, with the same base class.
    """
    packed = [pack_command(command) for command in commands]  # type: ignore[arg-type] # it takes any number
    connection.send_packed_command([b"".join(packed)], check_health=False)
    answers: list[Any] = []
    for _ in commands:
        try:
            answers.append(connection.read_response(disconnect_on_error=False))
        except RedisError as error:
            if isinstance(error, ResponseError) or error.status_code is not None:
                answers.append(error.with_traceback(None))  # its frames would make a reference cycle with the list
            elif answers and isinstance(answers[0], RedisError) and _is_rejection(answers[0]):
                raise answers[0] from None
            else:
                raise
    return answers


_REJECTIONS = ("max number of clients", "DENIED ", "Protocol error: unauthenticated")
"""The beginnings of error answers after which a server closes the connection without executing anything."""


def _is_rejection(error: Exception) -> bool:
    return str(error).startswith(_REJECTIONS)


def dedicated_connection(pool: redis.ConnectionPool) -> DedicatedConnection:
    """Return a new connection to the server of a pool, but outside of the pool. See ``Topology.open_subscriber``."""
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": READ_TIMEOUT})
    try:
        _establish(pool, connection)
    except Exception as error:
        connection.disconnect()
        raise NotSent from error
    connection.update_current_socket_timeout(None)  # only now, so that authentication is bounded
    return DedicatedConnection(connection, node_name(pool))


def receive(connection: Any) -> Any:
    """Return the next message on a dedicated connection, and clear the receive buffer. Raises redis-py's errors."""
    try:
        return connection.read_response(disconnect_on_error=False)
    finally:
        connection._parser._buffer[:] = _ZEROS  # noqa: SLF001 # as in ``_Pool.release``


def execute_unpooled(pool: redis.ConnectionPool, *commands: Command, wait: float = READ_TIMEOUT) -> list[Any]:
    """Run commands about the server itself on a new connection outside of the pool, and return the answers.

    Waits for each answer for ``wait`` seconds. Raises redis-py's errors and ``OSError``.
    """
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": wait})
    try:
        _establish(pool, connection)
        return _exchange(connection, commands)
    finally:
        connection.disconnect()


_TEST_CHANNEL: Final = b"domino:check"


def durability_warnings(pool: redis.ConnectionPool) -> list[str]:
    """Return a sentence for each setting of the server by which games can be lost, and each right that the user lacks.

    Returns none if the server does not answer.
    """
    try:
        *answers, channel = execute_unpooled(
            pool, (b"INFO", b"memory"), (b"INFO", b"persistence"), (b"SSUBSCRIBE", _TEST_CHANNEL)
        )
    except (RedisError, OSError):
        return []
    name = node_name(pool)
    warnings = []
    if any(isinstance(answer, NoPermissionError) for answer in answers):
        warnings.append(f"{name} refuses INFO: new games are not refused in time when its memory is almost full")
    if isinstance(channel, NoPermissionError):
        warnings.append(f"{name} refuses channels: events reach streams late; its user needs &domino:*")
    facts = info_fields(b"\n".join(text for text in answers if isinstance(text, bytes)))
    policy = facts.get(b"maxmemory_policy", b"noeviction").decode()
    if facts.get(b"maxmemory", b"0") != b"0" and policy != "noeviction":
        warnings.append(f"{name} may evict games when its memory is full: its maxmemory-policy is {policy}")
    if facts.get(b"aof_enabled") == b"0":
        warnings.append(f"{name} may lose the last moves when it stops: its appendonly is no")
    return warnings


def info_fields(text: bytes) -> dict[bytes, bytes]:
    """Parse the fields of an answer to INFO."""
    return dict(line.split(b":", 1) for line in text.split() if b":" in line)


def node_name(pool: redis.ConnectionPool) -> str:
    """Return the name of the server of a pool: its address, or the path of its socket."""
    settings = pool.connection_kwargs
    return (
        str(settings["path"])
        if "path" in settings
        else f"{settings.get('host', 'localhost')}:{settings.get('port', 6379)}"
    )
