"""Where the servers are, and how a command gets to the right one: the way to Redis of everything that is kept.

Owns the round trip on one connection of the pool, and the truth about it: was the command sent, or not? Must not
know what the commands mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import redis
from hiredis import pack_command
from redis.exceptions import RedisError, ResponseError

from service.storage.connection import READ_TIMEOUT

Command = tuple[bytes | int | str, ...]


class NotSent(Exception):
    """No server has taken the command: no connection could be had, or it was refused. ``__cause__`` says why."""


class MaybeSent(Exception):
    """The command was sent, perhaps in part, and no answer came. ``__cause__`` says why."""


class DedicatedConnection(NamedTuple):
    """A connection of one's own, and the name of the server it leads to: equal names are one server."""

    connection: Any
    node: str


class Topology(Protocol):
    """The servers that keep the games: one, or a primary that Sentinel names, or a Cluster."""

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send the commands on one connection, in one round trip, to the primary that owns ``key``.

        Gives their answers in order, an error answer as its exception. Nothing is sent twice, unless the server
        said that it did not execute it. Raises ``NotSent`` or ``MaybeSent``.
        """

    def node(self, key: bytes) -> str:
        """The name of the primary that owns ``key``, as far as is known. Raises ``NotSent``."""

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        """A new connection to the primary that owns ``key``, for a reader that waits for what is published there.

        It is the caller's to close (``connection.disconnect()``), is kept alive by TCP, and waits for ever for what
        is read from it. Raises ``NotSent``.
        """

    def report_failure(self, key: bytes, error: Exception) -> None:
        """Tell that a line to the owner of ``key`` broke, or what it said: the servers are looked for anew, soon.

        Returns at once. ``call`` does this by itself.
        """

    def durability_warnings(self) -> list[str]:
        """What the servers do that may lose games, as sentences; nothing of a server that does not tell."""


class SingleNodeTopology(Topology):
    """One server."""

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        """Send the commands and give their answers."""
        return call(self._pool, commands)

    def node(self, key: bytes) -> str:  # noqa: ARG002
        """Its name."""
        return node_name(self._pool)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:  # noqa: ARG002
        """A new connection to it."""
        return dedicated_connection(self._pool)

    def report_failure(self, key: bytes, error: Exception) -> None:
        """Do nothing: it is where it is."""

    def durability_warnings(self) -> list[str]:
        """What it does that may lose games."""
        return durability_warnings(self._pool)


def call(pool: redis.ConnectionPool, commands: tuple[Command, ...]) -> list[Any]:
    """One round trip on a connection of the pool, as ``Topology.call``."""
    try:
        connection: Any = pool.get_connection()
    except Exception as error:
        raise NotSent from error
    answers: list[Any] = []
    try:
        packed = [pack_command(command) for command in commands]  # type: ignore[arg-type] # it takes any number
        connection.send_packed_command([b"".join(packed)], check_health=False)
        for _ in commands:
            answers.append(_answer(connection))  # noqa: PERF401 # those before a break count
        if _was_disconnected(answers[0]):
            connection.disconnect()  # else the next one may use it before the end of it has come
        return answers
    except BaseException as error:
        # An answer may still be on its way: nobody else may get it.
        connection.disconnect()
        if not isinstance(error, Exception):
            raise
        if answers and _was_disconnected(answers[0]):
            raise NotSent from answers[0]
        raise MaybeSent from error
    finally:
        pool.release(connection)


def _answer(connection: Any) -> Any:
    """What the server says next; redis-py has errors of the connection and of the server in one tree."""
    try:
        return connection.read_response(disconnect_on_error=False)
    except RedisError as error:
        if isinstance(error, ResponseError) or error.status_code is not None:
            return error.with_traceback(None)  # which would hold who holds the answers: a circle
        raise


_REFUSALS = ("max number of clients", "DENIED ", "Protocol error: unauthenticated")
"""What a server says before it hangs up, instead of executing anything."""


def _was_disconnected(answer: Any) -> bool:
    return isinstance(answer, RedisError) and str(answer).startswith(_REFUSALS)


def dedicated_connection(pool: redis.ConnectionPool) -> DedicatedConnection:
    """A connection beside the pool, as ``Topology.subscribable``."""
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": READ_TIMEOUT})
    try:
        connection.connect()
    except Exception as error:
        connection.disconnect()
        raise NotSent from error
    connection.update_current_socket_timeout(None)  # only now: the greeting has its bounds
    return DedicatedConnection(connection, node_name(pool))


def execute_unpooled(pool: redis.ConnectionPool, *commands: Command, wait: float = READ_TIMEOUT) -> list[Any]:
    """The answers to a question that is not about a key, on a connection beside the pool. Raises as redis-py does."""
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": wait})
    try:
        connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        return [_answer(connection) for _ in commands]
    finally:
        connection.disconnect()


def durability_warnings(pool: redis.ConnectionPool) -> list[str]:
    """What the server of the pool does that may lose games, as sentences; none if it does not tell."""
    try:
        told = execute_unpooled(pool, (b"INFO", b"memory"), (b"INFO", b"persistence"))
    except (RedisError, OSError):
        return []
    facts = dict(
        line.split(b":", 1) for text in told if isinstance(text, bytes) for line in text.split() if b":" in line
    )
    found = []
    policy = facts.get(b"maxmemory_policy", b"noeviction").decode()
    if facts.get(b"maxmemory", b"0") != b"0" and policy != "noeviction":
        found.append(f"{node_name(pool)} may throw games away when it is full: its maxmemory-policy is {policy}")
    if facts.get(b"aof_enabled") == b"0":
        found.append(f"{node_name(pool)} may forget the last moves when it stops: its appendonly is no")
    return found


def node_name(pool: redis.ConnectionPool) -> str:
    """How the server of the pool is called."""
    where = pool.connection_kwargs
    return str(where["path"]) if "path" in where else f"{where.get('host', 'localhost')}:{where.get('port', 6379)}"
