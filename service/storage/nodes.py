"""Where the servers are, and how a command gets to the right one: the way to Redis of everything that is kept.

Owns the round trip on one connection of the pool, and the truth about it: was the command sent, or not? Must not
know what the commands mean.
"""

from __future__ import annotations

from typing import Any, Protocol

import redis
from redis.exceptions import AuthenticationError, BusyLoadingError, ResponseError

Command = tuple[bytes | int | str, ...]


class NotSent(Exception):
    """No server has got the command: no connection could be had. ``__cause__`` says why."""


class MaybeMade(Exception):
    """The command was sent, perhaps in part, and no answer came. ``__cause__`` says why."""


class Nodes(Protocol):
    """The servers that keep the games: one, or a primary that Sentinel names, or a Cluster."""

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send the commands on one connection, in one round trip, to the primary that owns ``key``.

        Gives their answers in order, an error answer as its exception. Nothing is sent twice, unless the server
        said that it did not execute it. Raises ``NotSent`` or ``MaybeMade``.
        """


class SingleNode(Nodes):
    """One server."""

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        """Send the commands and give their answers."""
        return call(self._pool, commands)


def call(pool: redis.ConnectionPool, commands: tuple[Command, ...]) -> list[Any]:
    """One round trip on a connection of the pool, as ``Nodes.call``."""
    try:
        connection: Any = pool.get_connection()
    except Exception as error:
        raise NotSent from error
    try:
        connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        return [_answer(connection) for _ in commands]
    except BaseException as error:
        # An answer may still be on its way: nobody else may get it.
        connection.disconnect()
        if isinstance(error, Exception):
            raise MaybeMade from error
        raise
    finally:
        pool.release(connection)


def _answer(connection: Any) -> Any:
    try:
        return connection.read_response()
    except (ResponseError, BusyLoadingError, AuthenticationError) as error:
        return error
