"""What an operator sees of a store: what waits in it, how much it holds, how full it is.

Owns the figures only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from service.games.reminders import ReminderKind

RUNNING_MINUTES: Final = 5
"""A game that has begun is running if it was written in the last so many minutes."""
MOST_APPLICATIONS: Final = 50
"""Applications of which each is shown; of more, none is."""


class Backlog(NamedTuple):
    """The reminders of a kind that are due and that nobody has taken: how many, and for how long the oldest one is.

    In seconds; 0 if there is none. Where very many holders wait, those who have waited longest are counted.
    """

    waiting: int
    oldest: float


class Application(NamedTuple):
    """The games of an application in its index, and the sum of their sizes in bytes."""

    id: str
    games: int
    stored: int


class Figures(NamedTuple):
    """The figures of a store.

    ``running`` games are those of ``RUNNING_MINUTES``, correct to about a percent. ``memory`` is that of the server
    that is fullest: the bytes that it uses, and the most that it may, 0 without a limit.
    """

    backlogs: Mapping[ReminderKind, Backlog]
    running: int
    applications: int
    each: tuple[Application, ...]
    memory: tuple[int, int]


class StoreFigures(Protocol):
    """The figures of a store."""

    def read(self) -> Figures:
        """Return the figures as they are, or were a few seconds ago; raises ``StorageUnavailable``."""

    def note_running(self, games: set[str]) -> None:
        """Note that these games were written just now; raises ``StorageUnavailable``, ``OutcomeUnknown``."""
