"""The seats of a game: who plays each seat, the names of players, and the record of the waiting room.

Owns which seats the service plays. Does not depend on the rules of any game.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import count
from typing import Final, Literal, NamedTuple

from service.engine.presence import Absence
from service.games.reminders import ReminderKind

SeatKind = Literal["human", "bot", "open"]

HUMAN: Final = "human"
OPEN_SEAT: Final = "open"
BOT: Final = "bot"

LEVELS: Final = ("random", "beginner", "casual", "greedy", "expert")
"""The levels of computer players."""
SLOW_LEVELS: Final = frozenset({"expert"})
"""The levels that calculate: a decision takes at least some fifty times as long as one of another level."""

BOT_NAMES: Final = (
    "Rosa", "Emil", "Nora", "Otto", "Ines", "Pablo", "Mila", "Hugo", "Vera", "Anton", "Lola", "Bruno", "Tessa", "Igor",
    "Selma", "Theo",
)  # fmt: skip
"""The names of computer players, in the order in which they are given at a table."""


class Seat(NamedTuple):
    """A seat and its player; ``ref``: the application's name for the player, shown only to it and to this seat."""

    kind: SeatKind
    name: str | None = None
    token_hash: bytes | None = None
    level: str | None = None
    ref: str | None = None


class Seats(tuple[Seat, ...]):
    """All seats of a game, in order. Its properties are computed once, when they are first used."""

    @cached_property
    def people(self) -> frozenset[int]:
        """The seats of people."""
        return frozenset([seat for seat, player in enumerate(self) if player.kind == HUMAN])

    @cached_property
    def are_open(self) -> bool:
        """Return whether any seat is open."""
        return any([seat.kind == OPEN_SEAT for seat in self])

    def open(self) -> list[int]:
        """Return the open seats, in order."""
        return [seat for seat, player in enumerate(self) if player.kind == OPEN_SEAT]

    @cached_property
    def are_bots(self) -> bool:
        """Return whether a computer player plays every seat."""
        return all([seat.kind == BOT for seat in self])

    @cached_property
    def bot_kinds(self) -> tuple[ReminderKind, ...]:
        """The kinds of reminders for the computer players of a game with people; ``experts`` last."""
        return ("bots", "experts") if any([seat.level in SLOW_LEVELS for seat in self]) else ("bots",)

    def erased(self) -> frozenset[int]:
        """Return the seats of erased players (``service.games.commands.erasure``) that have no new player."""
        return frozenset([seat for seat, player in enumerate(self) if player.kind == HUMAN and not player.token_hash])


class Fill(NamedTuple):
    """Computer players of this ``level`` take the open seats, ``after`` milliseconds from when a person sat down."""

    after: int
    level: str


class Room(NamedTuple):
    """The waiting room of a game: what happened before the match began. Seats have the numbers of that time."""

    fill: Fill | None = None
    since: int | None = None
    """Since when at least one person has been seated, in milliseconds since 1970; set only with ``fill``."""
    freed: tuple[tuple[int, int], ...] = ()
    """The seats that were freed, each with the version when it was last freed."""
    began: tuple[int, ...] = ()
    """The old number of each current seat; empty unless the match began without open seats."""
    began_at: int = 0
    """The version at which the match began without open seats."""
    places: int = 0
    """The number of seats before that version."""
    sought: tuple[tuple[int, int], ...] = ()
    """The seats of strangers who sought a table, each with the time they sat down, in milliseconds since 1970."""
    by_seek: bool = False
    """Whether a stranger who found no table opened this one, so that other strangers can sit down at it."""

    def seat_now(self, seat: int, version: int) -> int | None:
        """Return the current seat of the player who had this seat at that version; ``None`` if the player left."""
        if any([freed == seat and at > version for freed, at in self.freed]):
            return None
        if not self.began or version >= self.began_at:
            return seat
        return self.began.index(seat) if seat in self.began else None

    def seat_then(self, seat: int, version: int) -> int:
        """Return the number that a current seat had at that version."""
        return self.began[seat] if self.began and version < self.began_at else seat


def is_taken(name: str | None, others: Iterable[str | None]) -> bool:
    """Return whether one of the others has the same name, ignoring case."""
    return name is not None and _folded(name) in [_folded(other) for other in others if other is not None]


def free_name(name: str, others: Collection[str | None]) -> str:
    """Return this name, followed by a number if one of the others has the same name."""
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(candidate for candidate in numbered if not is_taken(candidate, others))


def bot_name(others: Collection[str | None]) -> str:
    """Return the name for a new computer player: the first in ``BOT_NAMES`` that nobody at the table has."""
    free = next((name for name in BOT_NAMES if not is_taken(name, others)), None)
    return free or free_name(BOT_NAMES[0], others)


def left_name(seat: int) -> str:
    """Return the name shown for a player of this seat who was erased or has left."""
    return f"Player {seat + 1}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def may_go_on_alone(kinds: Collection[SeatKind], absence: Absence | None, *, fills: bool = False) -> bool:
    """Return whether a game can go on with computer players alone: they have all seats, or two and people can forfeit.

    ``absence``: what happens at a deadline; ``None`` without a clock.
    ``fills``: whether computer players get the open seats.
    """
    bots = len([kind for kind in kinds if kind == BOT or (fills and kind == OPEN_SEAT)])
    return bots == len(kinds) or (absence == "forfeit" and bots > 1)
