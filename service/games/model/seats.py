"""The seats of a game: who plays each, and what follows from that.

Owns which players the service acts for. Does not depend on the rules of any game.
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
"""Those that calculate: a decision takes some fifty times as long as one of the others, or more."""

BOT_NAMES: Final = (
    "Rosa", "Emil", "Nora", "Otto", "Ines", "Pablo", "Mila", "Hugo", "Vera", "Anton", "Lola", "Bruno", "Tessa", "Igor",
    "Selma", "Theo",
)  # fmt: skip
"""The names of computer players, in the order in which they come to a table."""


class Seat(NamedTuple):
    """A seat: who plays it, and the hash of the token for it; for a computer player its level.

    ``ref`` is the name of the player in the application that owns the game: only that and the seat itself are told.
    """

    kind: SeatKind
    name: str | None = None
    token_hash: bytes | None = None
    level: str | None = None
    ref: str | None = None


class Seats(tuple[Seat, ...]):
    """All seats of a game, in their order. What follows from them is found out once, when it is first asked for."""

    @cached_property
    def people(self) -> frozenset[int]:
        """The seats of people."""
        return frozenset([seat for seat, player in enumerate(self) if player.kind == HUMAN])

    @cached_property
    def are_open(self) -> bool:
        """Whether any seat is open."""
        return any([seat.kind == OPEN_SEAT for seat in self])

    def open(self) -> list[int]:
        """Return the open seats, in their order."""
        return [seat for seat, player in enumerate(self) if player.kind == OPEN_SEAT]

    @cached_property
    def are_bots(self) -> bool:
        """Whether a computer player plays every seat, so that nobody waits for any of them."""
        return all([seat.kind == BOT for seat in self])

    @cached_property
    def bot_kinds(self) -> tuple[ReminderKind, ...]:
        """The kinds of reminders of its computer players while others play, too; ``experts`` last."""
        return ("bots", "experts") if any([seat.level in SLOW_LEVELS for seat in self]) else ("bots",)

    @cached_property
    def are_people(self) -> bool:
        """Whether a person plays every seat, so that the service acts for none of them."""
        return all([seat.kind == HUMAN for seat in self])

    def erased(self) -> frozenset[int]:
        """Return the seats whose player was erased (``service.games.commands.erasure``) and that nobody got since."""
        return frozenset(
            [seat for seat, player in enumerate(self) if player.kind == HUMAN and player.token_hash is None]
        )

    def replaced(self, seat: int, value: Seat) -> Seats:
        """Return these seats, but one of them with another value."""
        return Seats((*self[:seat], value, *self[seat + 1 :]))


class Fill(NamedTuple):
    """Open seats go to computer players of this level, so many milliseconds (``after``) after the first person sat."""

    after: int
    level: str


class Room(NamedTuple):
    """The record of the time in which a game waited for players, beside its seats.

    Seats are those of that time: a match that began with fewer players has other numbers.
    """

    fill: Fill | None = None
    since: int | None = None
    """When the first of the people who are there sat down, in milliseconds since 1970; kept only with ``fill``."""
    freed: tuple[tuple[int, int], ...] = ()
    """The seats that were freed, each with the version of the last time."""
    began: tuple[int, ...] = ()
    """Who began the match, in the order of the present seats; empty unless some seats were open."""
    began_at: int = 0
    """The version of the beginning with open seats."""
    places: int = 0
    """How many seats there were until then."""
    sought: tuple[tuple[int, int], ...] = ()
    """The seats of strangers who sought a table, each with when they sat down, in milliseconds since 1970."""
    by_seek: bool = False
    """Whether a stranger who found no table has opened this one, so that others may sit down at it."""

    def seat_now(self, seat: int, version: int) -> int | None:
        """Return the present seat of the player who had this one at that version; ``None`` for who has left it."""
        if any([freed == seat and at > version for freed, at in self.freed]):
            return None
        if not self.began or version >= self.began_at:
            return seat
        return self.began.index(seat) if seat in self.began else None

    def seat_then(self, seat: int, version: int) -> int:
        """Return the seat that the player of a present one had at that version."""
        return self.began[seat] if self.began and version < self.began_at else seat


def is_taken(name: str | None, others: Iterable[str | None]) -> bool:
    """Return whether one of the others has the same name, in capital letters or small ones."""
    return name is not None and _folded(name) in [_folded(other) for other in others if other is not None]


def free_name(name: str, others: Collection[str | None]) -> str:
    """Return this name, with a number behind it if one of the others has the same."""
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(candidate for candidate in numbered if not is_taken(candidate, others))


def bot_name(others: Collection[str | None]) -> str:
    """Return the name of a computer player that comes to a table: the first of the list that nobody else there has."""
    free = next((name for name in BOT_NAMES if not is_taken(name, others)), None)
    return free or free_name(BOT_NAMES[0], others)


def left_name(seat: int) -> str:
    """Return the name of a player of this seat of whom nothing is known any more."""
    return f"Player {seat + 1}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def may_go_on_alone(kinds: Collection[SeatKind], absence: Absence | None) -> bool:
    """Return whether computer players may come to play on by themselves in a game that begins with these seats.

    So it is where they have all seats, and where all people may forfeit and leave two of them. ``absence`` is what
    follows at a deadline, ``None`` without a clock.
    """
    bots = len([kind for kind in kinds if kind == BOT])
    return bots == len(kinds) or (absence == "forfeit" and bots > 1)
