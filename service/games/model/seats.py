"""The seats of a game: who plays each, and what follows from that.

Owns which players the service acts for.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
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
        return frozenset([seat for seat, each in enumerate(self) if each.kind == HUMAN])

    @cached_property
    def are_open(self) -> bool:
        """Whether any seat is open."""
        return any([each.kind == OPEN_SEAT for each in self])

    @cached_property
    def are_bots(self) -> bool:
        """Whether a computer player plays every seat, so that nobody waits for any of them."""
        return all([each.kind == BOT for each in self])

    @cached_property
    def bot_kinds(self) -> tuple[ReminderKind, ...]:
        """The kinds of reminders of its computer players while others play, too; ``experts`` last."""
        return ("bots", "experts") if any([each.level in SLOW_LEVELS for each in self]) else ("bots",)

    @cached_property
    def are_people(self) -> bool:
        """Whether a person plays every seat, so that the service acts for none of them."""
        return all([each.kind == HUMAN for each in self])

    def erased(self) -> frozenset[int]:
        """Return the seats whose player was erased (``service.games.commands.erasure``) and that nobody got since."""
        return frozenset([seat for seat, each in enumerate(self) if each.kind == HUMAN and each.token_hash is None])

    def replaced(self, seat: int, value: Seat) -> Seats:
        """Return these seats, but one of them with another value."""
        return Seats((*self[:seat], value, *self[seat + 1 :]))


def may_go_on_alone(kinds: Collection[SeatKind], absence: Absence | None) -> bool:
    """Return whether computer players may come to play on by themselves in a game that begins with these seats.

    So it is where they have all seats, and where all people may forfeit and leave two of them. ``absence`` is what
    follows at a deadline, ``None`` without a clock.
    """
    bots = len([kind for kind in kinds if kind == BOT])
    return bots == len(kinds) or (absence == "forfeit" and bots > 1)
