"""The record of a history: what clients wished for, how often they asked, and what they were told.

Owns the meaning of what was told: made, not made, unknown. Must not know who asks, or how: simulated clients and
those over HTTP write the same record, and ``checker`` judges it.
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
    """What an answer says of a wish."""

    MADE = "made"
    NOT_MADE = "not made"
    UNKNOWN = "unknown"


class Asked(NamedTuple):
    """A move as it is asked for, and as it is found again among the events."""

    action: Action
    tile: str | None = None
    end: str | None = None
    face_down: bool = False


class Told(NamedTuple):
    """An answer. Of what was made: the game, its bytes, whether it is a replay, the version where it tells one."""

    outcome: Outcome
    code: str = ""
    game: str = ""
    answer: bytes = b""
    replayed: bool = False
    version: int | None = None


class Attempt(NamedTuple):
    """One asking: when it began and ended, as numbers in one order of all that happened to all clients."""

    began: int
    ended: int
    told: Told


@dataclass(eq=False, kw_only=True)
class Wish:
    """Something that is to be made once at most: a game, a seat taken, a move, a new token.

    ``what`` is the name of a new player, for ``create`` and ``join``, or the move; ``at`` the only version at which
    it may be made. Wishes of one ``scope`` and ``key`` are one to the service, though they ask for different things.
    """

    kind: Kind
    game: str = ""
    seat: int | None = None
    what: str | Asked = ""
    at: int | None = None
    scope: tuple[object, ...] = ()
    key: str | None = None
    floor: int = 0
    """A version that the game had surely reached when this was first asked for."""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """What all the answers say together."""
        if self.made:
            return Outcome.MADE
        open_until = max([each.ended for each in self.attempts if each.told.outcome is Outcome.UNKNOWN], default=0)
        if open_until and not any(each.began > open_until and self._concludes(each.told) for each in self.attempts):
            return Outcome.UNKNOWN
        return Outcome.NOT_MADE

    @property
    def made(self) -> list[Told]:
        """The answers that say so, in the order in which they came."""
        return [each.told for each in self.attempts if each.told.outcome is Outcome.MADE]

    def _concludes(self, told: Told) -> bool:
        """Whether a refusal says that nothing was made under the key before, either.

        A store that is away says so of this asking only, and so does a wrong token: the seat may have got a new one
        since. But the key of a new token goes with the old one, and is looked at.
        """
        if told.outcome is not Outcome.NOT_MADE or told.code == "storage_unavailable":
            return False
        return self.kind == "token" or told.code != "unauthorized"


class History:
    """All wishes of all clients; threads may share it."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []
        self._keyed: dict[tuple[object, ...], Wish] = {}
        self._reached: dict[str, int] = {}
        self._now = count(1)

    def add(self, wish: Wish) -> Wish:
        """Record a wish, about to be asked for; gives the earlier one if it is the same under the same key."""
        if wish.key is not None:
            first = self._keyed.setdefault((wish.kind, *wish.scope, wish.key, wish.what, wish.at), wish)
            if first is not wish:
                return first
        wish.floor = self._reached.get(wish.game, 0)
        self.wishes.append(wish)
        return wish

    def ask(self, wish: Wish, send: Callable[[], Told]) -> Told:
        """Ask for it, again or for the first time."""
        began = next(self._now)
        told = send()
        if told.version is not None and told.version > self._reached.get(told.game, 0):
            # Two threads may race here: then the floor is lower than it could be, which only asks for less.
            self._reached[told.game] = told.version
        wish.attempts.append(Attempt(began, next(self._now), told))
        return told
