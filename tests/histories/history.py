"""The record of a history: the operations of the clients, their attempts, and the results.

Owns the meaning of results: made, not made, unknown. Does not depend on who sends requests, or how: simulated clients
and those over HTTP write the same record, and ``checker`` judges it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Literal, NamedTuple

from service.engine.moves import Action

Kind = Literal["create", "join", "move", "token"]


class Outcome(Enum):
    """What is known of an operation."""

    MADE = "made"
    NOT_MADE = "not made"
    UNKNOWN = "unknown"


class MoveRequest(NamedTuple):
    """A move as it is requested, and as it is reconstructed from events."""

    action: Action
    tile: str | None = None
    end: str | None = None
    face_down: bool = False


class OperationResult(NamedTuple):
    """An answer. If the operation was made: the game, the body, whether it is a replay, the version if it has one."""

    outcome: Outcome
    code: str = ""
    game: str = ""
    body: bytes = b""
    replayed: bool = False
    version: int | None = None


class Attempt(NamedTuple):
    """One request: when it began and ended, as numbers in a total order over all clients."""

    began: int
    ended: int
    result: OperationResult


@dataclass(eq=False, kw_only=True)
class Operation:
    """Something to be made at most once: a game, a taken seat, a move, a new token.

    ``what`` is the name of a new player, for ``create`` and ``join``, or the move; ``at`` the only version at which
    it may be made. Operations with equal ``scope`` and ``key`` are one to the service, even if they differ otherwise.
    """

    kind: Kind
    game: str = ""
    seat: int | None = None
    what: str | MoveRequest = ""
    at: int | None = None
    scope: tuple[object, ...] = ()
    key: str | None = None
    floor: int = 0
    """A version that the game had reached when this was first requested."""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """What follows from all results together."""
        if self.made:
            return Outcome.MADE
        open_until = max([each.ended for each in self.attempts if each.result.outcome is Outcome.UNKNOWN], default=0)
        if open_until and not any(each.began > open_until and self._concludes(each.result) for each in self.attempts):
            return Outcome.UNKNOWN
        return Outcome.NOT_MADE

    @property
    def made(self) -> list[OperationResult]:
        """The results that say that it was made, in the order in which they came."""
        return [each.result for each in self.attempts if each.result.outcome is Outcome.MADE]

    def _concludes(self, result: OperationResult) -> bool:
        """Whether a rejection shows that nothing was made under the key before, either.

        An unavailable store says so of this attempt only, and so does a wrong token: the seat may have got a new one
        since. But the key of a token rotation belongs to the old token, and is looked up.
        """
        if result.outcome is not Outcome.NOT_MADE or result.code == "storage_unavailable":
            return False
        return self.kind == "token" or result.code != "unauthorized"


class History:
    """All operations of all clients. Thread-safe."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._keyed: dict[tuple[object, ...], Operation] = {}
        self._reached: dict[str, int] = {}
        self._now = count(1)

    def add(self, operation: Operation) -> Operation:
        """Record an operation before its first request; returns an equal earlier one under its key, if any."""
        if operation.key is not None:
            first = self._keyed.setdefault(
                (operation.kind, *operation.scope, operation.key, operation.what, operation.at), operation
            )
            if first is not operation:
                return first
        operation.floor = self._reached.get(operation.game, 0)
        self.operations.append(operation)
        return operation

    def attempt(self, operation: Operation, send: Callable[[], OperationResult]) -> OperationResult:
        """Send a request for it, a first or a repeated one."""
        began = next(self._now)
        result = send()
        if result.version is not None and result.version > self._reached.get(result.game, 0):
            # Two threads may race here: then the floor is lower than it could be, which only makes the check weaker.
            self._reached[result.game] = result.version
        operation.attempts.append(Attempt(began, next(self._now), result))
        return result
