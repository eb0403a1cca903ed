"""Clients that sit at all tables at once and try everything, and the door through which they ask.

Owns what they wish for, when they ask again, and what they know: games, tokens, keys they have used. Must not know
what is behind the door: ``GameService`` in one process, or a service over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from random import Random
from typing import NamedTuple, Protocol

from service.engine.variants import variants
from tests.histories.history import Asked, History, Outcome, Told, Wish


class Heard(NamedTuple):
    """What was told, with the secrets that came along."""

    told: Told
    tokens: Mapping[int, str] = {}
    join_code: str | None = None


class Seen(NamedTuple):
    """How a game stands, and what a seat may do."""

    version: int
    status: str
    seat: int
    legal: Sequence[Asked]


class Door(Protocol):
    """One way to ask. A key of ``None`` is none; nothing is raised but for faults of the program."""

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Heard:
        """Open a game; a seat without a name is open."""

    def join(self, game: str, join_code: str, name: str, key: str | None) -> Heard:
        """Take an open seat."""

    def move(self, game: str, token: str, move: Asked, at: int | None, key: str | None) -> Heard:
        """Make a move, at that version if one is given."""

    def change_token(self, game: str, token: str, seat: int, key: str | None) -> Heard:
        """Get a new token for a seat."""

    def see(self, game: str, token: Callable[[int], str | None], seat: int) -> Seen | None:
        """How the game stands for the seat to move, or for ``seat``; ``None`` if that cannot be seen now."""


Send = Callable[[Door], Told]


class Table:
    """A game as the clients know it: where it is, its tokens, the code for its open seats."""

    def __init__(self, game: str, tokens: Mapping[int, str], join_code: str | None) -> None:
        self.game = game
        self.join_code = join_code
        self._first = dict(tokens)
        self._next: dict[str, str] = {}

    def sit(self, seat: int, token: str) -> None:
        """Somebody has joined, unless that is known already."""
        self._first.setdefault(seat, token)

    def change(self, old: str, new: str) -> None:
        """Answers may come in any order, but each new token was bought with an old one."""
        self._next[old] = new

    def token(self, seat: int) -> str | None:
        """The newest one that is known."""
        token = self._first.get(seat)
        while token in self._next:
            token = self._next[token]
        return token

    @property
    def seats(self) -> list[int]:
        return sorted(self._first)


class Party:
    """What all clients of a history share; threads may."""

    def __init__(self, prefix: str = "N") -> None:
        self.history = History()
        self.tables: list[Table] = []
        self.keyed: list[tuple[Wish, Send]] = []
        self._prefix = prefix
        self._names = count(1)

    def name(self) -> str:
        """One that nothing else has."""
        return f"{self._prefix}{next(self._names)}"


class Client:
    """Somebody who does one thing after the other, as ``luck`` has it.

    With fewer than ``tables`` that are still played at, another is opened. An unknown outcome is asked for again under
    its key by any of the ``doors``, with a ``rest`` in between, ``attempts`` times at most, or until a
    ``loss_of_patience``; so is what the store had no time for.
    """

    def __init__(
        self,
        party: Party,
        luck: Random,
        doors: Sequence[Door],
        *,
        keyed: float = 0.7,
        tables: int = 3,
        attempts: int = 8,
        loss_of_patience: float = 0.1,
        rest: Callable[[], object] = lambda: None,
    ) -> None:
        self._party = party
        self._luck = luck
        self._doors = doors
        self._keyed = keyed
        self._tables = tables
        self._attempts = attempts
        self._loss_of_patience = loss_of_patience
        self._rest = rest

    def act(self) -> None:
        """Do something."""
        if len(self._party.tables) < self._tables and self._luck.random() < 0.3:
            self.create()
        elif self._party.tables:
            what = (self._move, self._join, self._change_token, self.create, self._again)
            self._luck.choices(what, (80, 5, 3, 2, 10))[0]()

    def settle(self) -> None:
        """Ask again for all that is unknown and has a key."""
        self._loss_of_patience = 0.0
        for wish, send in self._party.keyed:
            if wish.outcome is Outcome.UNKNOWN:
                self._ask(wish, send)

    def create(self) -> None:
        """Open a game."""
        key, name = self._key("create", ()), self._party.name()
        variant = self._luck.choice(list(variants().values()))
        names = [name, *[self._luck.choice(("B", None)) for _ in range(variant.players.low - 1)]]

        def send(door: Door) -> Told:
            told, tokens, join_code = door.create(variant.key, names, key)
            if tokens and all(table.game != told.game for table in self._party.tables):
                self._party.tables.append(Table(told.game, tokens, join_code))
            return told

        self._wish(Wish(kind="create", what=name, key=key), send)

    def _join(self) -> None:
        self._join_at(self._luck.choice(self._party.tables))

    def _join_at(self, table: Table) -> None:
        code = table.join_code
        if code is None:
            return
        key, name = self._key("join", (table.game,)), self._party.name()

        def send(door: Door) -> Told:
            told, tokens, _ = door.join(table.game, code, name, key)
            for seat, token in tokens.items():
                table.sit(seat, token)
            return told

        self._wish(Wish(kind="join", game=table.game, what=name, scope=(table.game,), key=key), send)

    def _move(self) -> None:
        table = self._luck.choice(self._party.tables)
        seen = self._a_door().see(table.game, table.token, self._luck.choice(table.seats))
        if seen is None:
            return
        if seen.status == "waiting" and self._luck.random() < 0.9:
            self._join_at(table)
            return
        if seen.status == "finished" and table in self._party.tables and self._luck.random() < 0.5:
            self._party.tables = [each for each in self._party.tables if each is not table]
            return
        self._move_at(table, seen)

    def _move_at(self, table: Table, seen: Seen) -> None:
        seat = seen.seat
        move = self._luck.choice(seen.legal) if seen.legal and self._luck.random() < 0.95 else Asked("draw")
        at = self._luck.choices((seen.version, None, max(seen.version - 1, 1)), (60, 35, 5))[0]
        scope = (table.game, seat)
        key = self._key("move", scope)

        def send(door: Door) -> Told:
            return door.move(table.game, table.token(seat) or "", move, at, key).told

        self._wish(Wish(kind="move", game=table.game, seat=seat, what=move, at=at, scope=scope, key=key), send)

    def _change_token(self) -> None:
        table = self._luck.choice(self._party.tables)
        seat = self._luck.choice(table.seats)
        old = table.token(seat)
        assert old is not None
        scope = (table.game, seat, old)
        key = self._key("token", scope)
        if key is None and self._luck.random() < 0.8:
            return  # who loses this answer loses the seat

        def send(door: Door) -> Told:
            told, tokens, _ = door.change_token(table.game, old, seat, key)
            for token in tokens.values():
                table.change(old, token)
            return told

        self._wish(Wish(kind="token", game=table.game, seat=seat, scope=scope, key=key), send)

    def _again(self) -> None:
        """Ask once more for something that was asked for before, perhaps at the same time as its own client."""
        if self._party.keyed:
            self._ask(*self._luck.choice(self._party.keyed[-100:]))

    def _wish(self, wish: Wish, send: Send) -> None:
        wish = self._party.history.add(wish)
        if wish.key is not None:
            self._party.keyed.append((wish, send))
        self._ask(wish, send)

    def _ask(self, wish: Wish, send: Send) -> None:
        """Ask, and go on asking while that is safe and nothing is known, or until patience ends.

        It is safe while nothing was made, or, with a key, while nobody knows.
        """
        for _ in range(self._attempts):
            told = self._party.history.ask(wish, lambda: send(self._a_door()))
            unknown = wish.outcome is Outcome.UNKNOWN
            safe = wish.key is not None or not unknown
            if not safe or not (unknown or told.code == "storage_unavailable"):
                return
            if self._luck.random() < self._loss_of_patience:
                return
            self._rest()

    def _a_door(self) -> Door:
        return self._luck.choice(self._doors)

    def _key(self, kind: str, scope: Iterable[object]) -> str | None:
        """None, a new one, or now and then one that stands for something else already."""
        if self._luck.random() >= self._keyed:
            return None
        scope = tuple(scope)
        known = [wish.key for wish, _ in self._party.keyed[-100:] if wish.kind == kind and wish.scope == scope]
        return self._luck.choice(known) if known and self._luck.random() < 0.1 else self._party.name()
