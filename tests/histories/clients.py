"""Clients that play in all games at once and try everything, and the gateway that they use.

Owns what they request, when they repeat it, and what they know: games, tokens, used keys. Does not depend on what is
behind the gateway: ``GamesFacade`` in one process, or a service over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from random import Random
from typing import NamedTuple, Protocol

from service.engine.variants import variants
from tests.histories.history import History, MoveRequest, Operation, OperationResult, Outcome


class Response(NamedTuple):
    """A result, with the secrets of the answer."""

    result: OperationResult
    tokens: Mapping[int, str] = {}
    join_code: str | None = None


class Position(NamedTuple):
    """The state of a game, and the legal moves of a seat."""

    version: int
    status: str
    seat: int
    legal: Sequence[MoveRequest]


class Gateway(Protocol):
    """Access to the service. A key of ``None`` is none; raises nothing but errors of the program."""

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Response:
        """Create a game; a seat without a name is open."""

    def join(self, game: str, join_code: str, name: str, key: str | None) -> Response:
        """Take an open seat."""

    def move(self, game: str, token: str, move: MoveRequest, at: int | None, key: str | None) -> Response:
        """Make a move, with that expected version if one is given."""

    def rotate_token(self, game: str, token: str, seat: int, key: str | None) -> Response:
        """Get a new token for a seat."""

    def view(self, game: str, token: Callable[[int], str | None], seat: int) -> Position | None:
        """The game for the seat to move, or for ``seat``; ``None`` while it cannot be read."""


Send = Callable[[Gateway], OperationResult]


class KnownGame:
    """A game as the clients know it: its id, its tokens, its join code."""

    def __init__(self, game: str, tokens: Mapping[int, str], join_code: str | None) -> None:
        self.game = game
        self.join_code = join_code
        self._first = dict(tokens)
        self._next: dict[str, str] = {}

    def sit(self, seat: int, token: str) -> None:
        """Add the token of a seat that was joined, unless it is known."""
        self._first.setdefault(seat, token)

    def change(self, old: str, new: str) -> None:
        """Record a rotation. Answers may come in any order, but each new token replaces an old one."""
        self._next[old] = new

    def token(self, seat: int) -> str | None:
        """The newest token of the seat, ``None`` if none is known."""
        token = self._first.get(seat)
        while token in self._next:
            token = self._next[token]
        return token

    @property
    def seats(self) -> list[int]:
        return sorted(self._first)


class Party:
    """The state that all clients of a history share. Thread-safe."""

    def __init__(self, prefix: str = "N") -> None:
        self.history = History()
        self.tables: list[KnownGame] = []
        self.keyed: list[tuple[Operation, Send]] = []
        self._prefix = prefix
        self._names = count(1)

    def name(self) -> str:
        """A unique name."""
        return f"{self._prefix}{next(self._names)}"


class Client:
    """A client that does one thing after the other, at ``random``.

    With fewer than ``tables`` games in play it creates another. It repeats an operation with an unknown outcome under
    its key, by any of the ``gateways``, with a ``rest`` in between, at most ``attempts`` times or until its patience
    ends, with the probability ``loss_of_patience`` each time; the same after ``storage_unavailable``.
    """

    def __init__(
        self,
        party: Party,
        random: Random,
        gateways: Sequence[Gateway],
        *,
        keyed: float = 0.7,
        tables: int = 3,
        attempts: int = 8,
        loss_of_patience: float = 0.1,
        rest: Callable[[], object] = lambda: None,
    ) -> None:
        self._party = party
        self._random = random
        self._gateways = gateways
        self._keyed = keyed
        self._tables = tables
        self._attempts = attempts
        self._loss_of_patience = loss_of_patience
        self._rest = rest

    def act(self) -> None:
        """Do something at random."""
        if len(self._party.tables) < self._tables and self._random.random() < 0.3:
            self.create()
        elif self._party.tables:
            what = (self._move, self._join, self._rotate_token, self.create, self._repeat)
            self._random.choices(what, (80, 5, 3, 2, 10))[0]()

    def settle(self) -> None:
        """Repeat all operations with a key whose outcome is unknown."""
        self._loss_of_patience = 0.0
        for operation, send in self._party.keyed:
            if operation.outcome is Outcome.UNKNOWN:
                self._send(operation, send)

    def create(self) -> None:
        """Create a game."""
        key, name = self._key("create", ()), self._party.name()
        variant = self._random.choice(list(variants().values()))
        names = [name, *[self._random.choice(("B", None)) for _ in range(variant.players.low - 1)]]

        def send(gateway: Gateway) -> OperationResult:
            result, tokens, join_code = gateway.create(variant.key, names, key)
            if tokens and all(table.game != result.game for table in self._party.tables):
                self._party.tables.append(KnownGame(result.game, tokens, join_code))
            return result

        self._submit(Operation(kind="create", what=name, key=key), send)

    def _join(self) -> None:
        self._join_at(self._random.choice(self._party.tables))

    def _join_at(self, table: KnownGame) -> None:
        code = table.join_code
        if code is None:
            return
        key, name = self._key("join", (table.game,)), self._party.name()

        def send(gateway: Gateway) -> OperationResult:
            result, tokens, _ = gateway.join(table.game, code, name, key)
            for seat, token in tokens.items():
                table.sit(seat, token)
            return result

        self._submit(Operation(kind="join", game=table.game, what=name, scope=(table.game,), key=key), send)

    def _move(self) -> None:
        table = self._random.choice(self._party.tables)
        position = self._any_gateway().view(table.game, table.token, self._random.choice(table.seats))
        if position is None:
            return
        if position.status == "waiting" and self._random.random() < 0.9:
            self._join_at(table)
            return
        if position.status == "finished" and table in self._party.tables and self._random.random() < 0.5:
            self._party.tables = [each for each in self._party.tables if each is not table]
            return
        self._move_at(table, position)

    def _move_at(self, table: KnownGame, position: Position) -> None:
        seat = position.seat
        move = (
            self._random.choice(position.legal)
            if position.legal and self._random.random() < 0.95
            else MoveRequest("draw")
        )
        at = self._random.choices((position.version, None, max(position.version - 1, 1)), (60, 35, 5))[0]
        scope = (table.game, seat)
        key = self._key("move", scope)

        def send(gateway: Gateway) -> OperationResult:
            return gateway.move(table.game, table.token(seat) or "", move, at, key).result

        self._submit(Operation(kind="move", game=table.game, seat=seat, what=move, at=at, scope=scope, key=key), send)

    def _rotate_token(self) -> None:
        table = self._random.choice(self._party.tables)
        seat = self._random.choice(table.seats)
        old = table.token(seat)
        assert old is not None
        scope = (table.game, seat, old)
        key = self._key("token", scope)
        if key is None and self._random.random() < 0.8:
            return  # if this answer is lost, the seat is lost

        def send(gateway: Gateway) -> OperationResult:
            result, tokens, _ = gateway.rotate_token(table.game, old, seat, key)
            for token in tokens.values():
                table.change(old, token)
            return result

        self._submit(Operation(kind="token", game=table.game, seat=seat, scope=scope, key=key), send)

    def _repeat(self) -> None:
        """Repeat an earlier operation, perhaps at the same time as its own client."""
        if self._party.keyed:
            self._send(*self._random.choice(self._party.keyed[-100:]))

    def _submit(self, operation: Operation, send: Send) -> None:
        operation = self._party.history.add(operation)
        if operation.key is not None:
            self._party.keyed.append((operation, send))
        self._send(operation, send)

    def _send(self, operation: Operation, send: Send) -> None:
        """Send a request, and repeat it while that is safe and the outcome unknown, or until patience ends.

        It is safe if nothing was made, or with a key.
        """
        for _ in range(self._attempts):
            result = self._party.history.attempt(operation, lambda: send(self._any_gateway()))
            unknown = operation.outcome is Outcome.UNKNOWN
            safe = operation.key is not None or not unknown
            if not safe or not (unknown or result.code == "storage_unavailable"):
                return
            if self._random.random() < self._loss_of_patience:
                return
            self._rest()

    def _any_gateway(self) -> Gateway:
        return self._random.choice(self._gateways)

    def _key(self, kind: str, scope: Iterable[object]) -> str | None:
        """No key, a new one, or now and then one that was used for something else."""
        if self._random.random() >= self._keyed:
            return None
        scope = tuple(scope)
        known = [
            operation.key
            for operation, _ in self._party.keyed[-100:]
            if operation.kind == kind and operation.scope == scope
        ]
        return (
            self._random.choice(known)
            if known and self._random.random() < 0.1
            else f"a-key-of-its-own-{self._party.name()}"
        )
