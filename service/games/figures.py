"""What an operator sees of a store: what waits in it, and how full it is.

Owns the figures only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from service.games.reminders import ReminderKind


class Backlog(NamedTuple):
    """The reminders of a kind that are due and that nobody has taken: how many, and for how long the oldest one is.

    In seconds; 0 if there is none. Where very many holders wait, those who have waited longest are counted.
    """

    waiting: int
    oldest: float


class Figures(NamedTuple):
    """The figures of a store.

    ``memory`` is that of the fullest server: the bytes that it uses, and the most that it may, 0 without a limit.
    """

    backlogs: Mapping[ReminderKind, Backlog]
    memory: tuple[int, int]
