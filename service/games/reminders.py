"""The reminders of games: when somebody must look at a game, and the port of the queue that gives those that are due.

Owns the interface only; the queue in Redis is in ``service.games.store.reminder_queue``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, Protocol

ReminderKind = Literal["bots", "hints", "experts", "bots_alone", "reviews", "clock", "outbox", "webhooks", "erasures"]
"""What a reminder is about. A computer player is on turn: one that answers at once (``bots``), one that calculates
(``experts``), or one of a game that has no others (``bots_alone``). ``clock``: a deadline ends; ``outbox``: what has
happened in a game was not published to its application yet. ``hints``, ``reviews``: what somebody has asked for is
to be computed; they are written with the request. ``webhooks``: there are messages for an endpoint; it is about an
endpoint, not about a game, and is written with the index of its application. ``erasures``: people of an application are
to be erased; it is about an application, and is written with each request for it.
"""

NOT_OF_GAMES: Final[frozenset[ReminderKind]] = frozenset({"webhooks", "erasures"})
"""The kinds whose reminders are not about games; they have no tenant."""


Reminders = Mapping[ReminderKind, int | None]
"""When somebody must look at a game, in milliseconds since 1970; ``None`` for never. Kinds left out stay as they are.

A reminder carries no instruction: what is to be done is read from the game, so one that is early, late or sent twice
does no harm.
"""


NO_REMINDERS: Final[Reminders] = MappingProxyType({})


class OutageAllowance(NamedTuple):
    """After an outage nothing follows before ``until`` from a deadline whose time began before ``since``.

    Both in milliseconds since 1970.
    """

    since: int
    until: int


NO_ALLOWANCE: Final = OutageAllowance(0, 0)


class ClockReading(NamedTuple):
    """The time of games, in milliseconds since 1970, and the allowance of deadlines at that time."""

    now: int
    allowance: OutageAllowance = NO_ALLOWANCE


class LeasedReminder(NamedTuple):
    """A reminder of a ``game`` of this ``tenant``, which nobody else gets during its lease.

    ``due``: when it was due; the end of the last lease, if that was followed by no write and no ``reschedule``.
    ``leased``: the end of the lease, which identifies it; only to be compared.
    ``reading``: the clock when the lease began. A deadline that was over by it is over, although the allowance may grow
    a moment later, at the end of an outage. Without an allowance for kinds other than ``clock``.
    """

    game: str
    due: int
    leased: float
    reading: ClockReading
    tenant: str = ""


MostOf = Callable[[str], int]
"""How many more reminders of this tenant may be taken."""


class ReminderQueue(Protocol):
    """The reminders of the games of a store. Every method answers in three seconds or raises ``StorageUnavailable``.

    All times are in milliseconds since 1970, by the clock of the store. The queue gives every reminder that is due at
    least once, and again until a write or ``reschedule`` has replaced it. After a time in which nobody could move,
    deadlines have an ``outage_allowance`` of that time, one hour at most: nobody is late. Where several servers share
    the games, each has its own clock and keeps its own times.
    """

    def take(self, kind: ReminderKind, limit: int, lease: int, most_of: MostOf | None = None) -> list[LeasedReminder]:
        """At most ``limit`` games whose reminder of this kind is due, the earliest first, for ``lease`` milliseconds.

        Where there are more than ``limit``, their tenants take turns, so that each gets as many as the others, and none
        more than ``most_of`` says; the earliest of all need not be among them. Raises ``StorageUnavailable``
        only if no server answers: reminders on a server that is away are given later.
        """

    def reschedule(self, kind: ReminderKind, reminder: LeasedReminder, at: int | None) -> bool:
        """Make a leased reminder due at that time, or remove it; returns whether that was done.

        Does nothing if it is no longer leased as it was taken: a write has replaced it, or somebody else has taken it.
        """

    def renew(self, kind: ReminderKind, reminder: LeasedReminder, lease: int) -> LeasedReminder | None:
        """Lease a reminder again from now on; ``None`` if it is no longer leased as it was taken."""

    def restore(self, kind: ReminderKind, game: str, tenant: str, at: int) -> None:
        """Write a reminder that was lost; does nothing if the game has one of this kind, leased or not."""

    def is_set(self, kind: ReminderKind, game: str, tenant: str) -> bool:
        """Return whether the game of this tenant has a reminder of this kind, leased or not."""

    def reminded(self, kind: ReminderKind, tenant: str) -> list[str]:
        """Return all games of this tenant that have a reminder of this kind, leased or not.

        Raises ``StorageUnavailable`` unless every server answers.
        """

    def server_time(self) -> int:
        """Return the current time by the clock of the store."""

    def read_clock(self, game: str) -> ClockReading:
        """Return when a deadline of this game would be judged now: by the clock of its server, with the allowance then.

        While nobody can move, it is as if players could again from now on.
        """

    def allowance(self, game: str) -> OutageAllowance:
        """Return the allowance of the deadlines of this game as this process last learned it; asks nobody."""
