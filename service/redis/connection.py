"""Connections to a Redis server: pools with bounded waits, and the round trip of a command that is never sent twice.

Owns the settings of every connection, and whether a command whose answer is missing may have been executed. Does not
depend on games, keys or scripts, nor on how many servers there are.

A call waits for a free connection, for a new one to be established, and for the answer: at most 1.6 s together, or
1.9 s where a host name has two addresses of which the first does not respond. A write without an answer is repeated
once by the caller; both attempts and the read before them take at most three seconds, so a frozen server costs the wait
for an answer twice. Not bounded are name resolution, and an answer that arrives byte by byte: the timeout restarts
with each byte.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Full
from threading import BoundedSemaphore
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol

import redis
from hiredis import pack_command
from redis._parsers import _HiredisParser
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from service.redis.errors import TROUBLES
from service.redis.url import read_redis_url

MAX_CONNECTIONS = 64
"""Of a process to one server. Each is held for one round trip only, so a few serve thousands of greenlets."""

MAX_WAITING = MAX_CONNECTIONS * 3 // 4
"""Of these, for writes that wait for replicas: while a replica is away, reads find the others free."""

POOL_TIMEOUT = 0.4
CONNECT_TIMEOUT = 0.3
READ_TIMEOUT = 0.9
"""All in seconds."""

Command = tuple[bytes | int | str, ...]


class NotSent(Exception):
    """No server executed the command: there was no connection, or the server rejected it.

    ``__cause__`` is the reason.
    """


class MaybeSent(Exception):
    """The command was sent, perhaps in part, and no answer came. ``__cause__`` is the reason."""


class NoMajority(ConnectionBroken):
    """The primary may have been replaced: most of those who decide on it do not name it."""


class DedicatedConnection(NamedTuple):
    """A connection outside the pools, and the name of its server: servers with equal names are the same."""

    connection: Any
    node: str


def connect(url: str) -> redis.Redis:
    """Return a client of the single server at ``url``; it connects when it is first used. Raises as ``make_pool``."""
    return redis.Redis.from_pool(make_pool(url))


def make_pool(url: str) -> redis.ConnectionPool:
    """Return a pool of connections to the single server at ``url`` (see ``service.redis.url``).

    None is established yet.

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
        socket_read_size=_RECEIVED,
    )


_NONE_FREE: Final = "No connection available."


class _Pool(redis.BlockingConnectionPool):
    """redis-py's pool without its metrics, which are unused here and take two thirds of the time of a checkout."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self.waiting = BoundedSemaphore(MAX_WAITING)
        """Of round trips that wait for replicas."""

    def get_connection(self, command_name: str | None = None, *keys: Any, **options: Any) -> Any:  # noqa: ARG002 # redis-py's own
        """Return an established connection with nothing left to read; waits for a free one, ``timeout`` seconds."""
        self._checkpid()
        timeout = options.get("timeout")
        try:
            connection = self.pool.get(timeout=self.timeout if timeout is None else timeout)
        except Empty:
            raise ConnectionBroken(_NONE_FREE) from None
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
                connection.disconnect()  # a killed greenlet may leave it with an answer to AUTH outstanding
                self.release(connection)
            raise
        return connection

    def release(self, connection: Any) -> None:
        """Return a connection to the pool."""
        self._checkpid()
        if not self.owns_connection(connection):  # it is from before a fork
            connection.disconnect()
            connection = None
        with contextlib.suppress(Full):
            self.pool.put_nowait(connection)


_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


def _establish(pool: redis.ConnectionPool, connection: Any) -> None:
    """Connect, and have the log tell why that is not possible."""
    what = f"cannot connect to {node_name(pool)}"
    try:
        connection.connect()
    except (RedisError, OSError) as error:
        paths = [(name, pool.connection_kwargs.get(name)) for name in _FILES]
        missing = [f"there is no file {path} ({name})" for name, path in paths if path and not Path(path).exists()]
        TROUBLES.begin(what, missing[0] if missing else error)
        raise
    TROUBLES.end(what)


_RECEIVED: Final = 8_192
"""Bytes received at a time: more than nearly every answer has."""
_NOTHING: Final = bytearray(_RECEIVED)  # of bytes, a copy would be made first


class _Parser(_HiredisParser):
    """hiredis, with a cheaper check of idle connections, and a buffer that keeps nothing.

    The pool makes it at every checkout, so that no request fails after a restart of the server. redis-py's own uses
    ``select.poll``, whose gevent version takes 40 µs; a peek takes 2 µs.

    What was received would stay in the buffer of an idle connection for as long as nothing else comes, also the names
    in a game that has been deleted since. To clear it takes less than a microsecond.
    """

    _buffer: bytearray

    def read_from_socket(self, *arguments: Any, **options: Any) -> bool:
        """Receive what there is; returns whether that was anything."""
        try:
            return bool(super().read_from_socket(*arguments, **options))  # type: ignore[no-untyped-call]
        finally:
            self._buffer[:] = _NOTHING

    def can_read(self, timeout: float = 0) -> bool:
        """Return whether an idle connection is closed by the server, or has an answer that nobody requested."""
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


def round_trip(pool: redis.ConnectionPool, commands: tuple[Command, ...]) -> list[Any]:
    """Send the commands together on one connection of the pool; their answers in order, errors as exceptions.

    Raises ``NotSent`` or ``MaybeSent``.
    """
    if commands[-1][0] != b"WAIT":
        return _round_trip(pool, commands)
    waiting: BoundedSemaphore = pool.waiting  # type: ignore[attr-defined] # it is a _Pool
    began = monotonic()
    if not waiting.acquire(timeout=POOL_TIMEOUT):
        raise NotSent from ConnectionBroken(_NONE_FREE)
    try:
        return _round_trip(pool, commands, max(0.0, POOL_TIMEOUT - (monotonic() - began)))
    finally:
        waiting.release()


def _round_trip(pool: redis.ConnectionPool, commands: tuple[Command, ...], timeout: float | None = None) -> list[Any]:
    try:
        connection: Any = pool.get_connection() if timeout is None else pool.get_connection(timeout=timeout)
    except Exception as error:
        raise NotSent from error
    answers: list[Any] = []
    try:
        packed = [pack_command(command) for command in commands]  # type: ignore[arg-type] # it takes any number
        connection.send_packed_command([b"".join(packed)], check_health=False)
        for _ in commands:
            answers.append(_read_answer(connection))  # noqa: PERF401 # those before a failure count
        if isinstance(answers[0], RedisError):
            if _is_rejection(answers[0]):
                connection.disconnect()  # the server closes it, but the next caller might be faster
            if isinstance(answers[0], NoPermissionError):
                TROUBLES.begin(f"{node_name(pool)} lacks rights for this user", answers[0])
        return answers
    except BaseException as error:
        # An answer may still be on its way: nobody else may get it.
        connection.disconnect()
        if not isinstance(error, Exception):
            raise
        if answers and isinstance(answers[0], RedisError) and _is_rejection(answers[0]):
            raise NotSent from answers[0]
        raise MaybeSent from error
    finally:
        pool.release(connection)


class _Caller(Protocol):
    def call(self, key: bytes, *commands: Command) -> list[Any]: ...


def call_together(topology: _Caller, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
    """Return the answers to commands about keys of one server, or their errors, in one round trip."""
    if not calls:
        return []
    try:
        return topology.call(calls[0][0], *[command for _, command in calls])
    except (NotSent, MaybeSent) as error:
        return [error] * len(calls)


def _read_answer(connection: Any) -> Any:
    """Return the next answer of the server, an error answer as its exception. Raises for errors of the connection.

    redis-py has both kinds of errors in one class tree.
    """
    try:
        return connection.read_response(disconnect_on_error=False)
    except RedisError as error:
        if isinstance(error, ResponseError) or error.status_code is not None:
            return error.with_traceback(None)  # its frames would make a reference cycle with the list of answers
        raise


_REJECTIONS = ("max number of clients", "DENIED ", "Protocol error: unauthenticated")
"""How the answers begin that a server sends before it closes the connection without executing anything."""


def _is_rejection(error: RedisError) -> bool:
    return str(error).startswith(_REJECTIONS)


def dedicated_connection(pool: redis.ConnectionPool) -> DedicatedConnection:
    """Return a new connection to the server of the pool, outside it, as ``Topology.open_subscriber``."""
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": READ_TIMEOUT})
    try:
        _establish(pool, connection)
    except Exception as error:
        connection.disconnect()
        raise NotSent from error
    connection.update_current_socket_timeout(None)  # only now, so that authentication is bounded
    return DedicatedConnection(connection, node_name(pool))


def execute_unpooled(pool: redis.ConnectionPool, *commands: Command, wait: float = READ_TIMEOUT) -> list[Any]:
    """Run commands about the server itself on a new connection outside the pool, with ``wait`` seconds an answer.

    Raises redis-py's errors and ``OSError``.
    """
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": wait})
    try:
        _establish(pool, connection)
        connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        return [_read_answer(connection) for _ in commands]
    finally:
        connection.disconnect()


_A_CHANNEL: Final = b"domino:check"


def durability_warnings(pool: redis.ConnectionPool) -> list[str]:
    """Return the settings of the pool's server that may lose games, and rights that the user lacks, as sentences.

    None if it does not answer.
    """
    try:
        *answers, channel = execute_unpooled(
            pool, (b"INFO", b"memory"), (b"INFO", b"persistence"), (b"SSUBSCRIBE", _A_CHANNEL)
        )
    except (RedisError, OSError):
        return []
    name = node_name(pool)
    warnings = []
    if any(isinstance(answer, NoPermissionError) for answer in answers):
        warnings.append(f"{name} refuses INFO: new games are not refused in time when its memory is almost full")
    if isinstance(channel, NoPermissionError):
        warnings.append(f"{name} refuses channels: nobody is told at once what happens; its user needs &domino:*")
    facts = info_fields(b"\n".join(text for text in answers if isinstance(text, bytes)))
    policy = facts.get(b"maxmemory_policy", b"noeviction").decode()
    if facts.get(b"maxmemory", b"0") != b"0" and policy != "noeviction":
        warnings.append(f"{name} may evict games when its memory is full: its maxmemory-policy is {policy}")
    if facts.get(b"aof_enabled") == b"0":
        warnings.append(f"{name} may lose the last moves when it stops: its appendonly is no")
    return warnings


def info_fields(text: bytes) -> dict[bytes, bytes]:
    """Return the fields of an answer to INFO."""
    return dict(line.split(b":", 1) for line in text.split() if b":" in line)


def node_name(pool: redis.ConnectionPool) -> str:
    """Return the name of the pool's server: its address, or the path of its socket."""
    settings = pool.connection_kwargs
    return (
        str(settings["path"])
        if "path" in settings
        else f"{settings.get('host', 'localhost')}:{settings.get('port', 6379)}"
    )
