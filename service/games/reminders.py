"""Reminders: when a worker must process a game; and the interface of the queue from which workers take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, Protocol

ReminderKind = Literal["bots", "hints", "experts", "bots_alone", "reviews", "clock", "outbox", "webhooks", "erasures"]
"""The kinds of work that have reminders.

``bots``: the move of a computer player that chooses at once.
``experts``: the move of a computer player that calculates.
``bots_alone``: the move of a computer player in a game for which no person waits.
``hints``, ``reviews``: an analysis that was requested.
``clock``: a deadline of a game.
``outbox``: events of a game that were not published to its application yet.
``webhooks``: messages for an endpoint, to which the reminder belongs.
``erasures``: people to be erased by an application, to which the reminder belongs.
"""

NOT_OF_GAMES: Final[frozenset[ReminderKind]] = frozenset({"webhooks", "erasures"})
"""The kinds whose reminders do not belong to games; they have no tenant."""


Reminders = Mapping[ReminderKind, int | None]
"""When each kind of work for a game is due, in milliseconds since 1970; ``None`` removes the reminder.

A missing kind does not change. A reminder carries no instruction: the worker reads from the game what to do, so a
reminder that comes early, late or twice does no harm.
"""


NO_REMINDERS: Final[Reminders] = MappingProxyType({})


class OutageAllowance(NamedTuple):
    """The postponement of deadlines after an outage, in milliseconds since 1970.

    A deadline whose time began before ``since``, the end of the outage, has no effect before ``until``.
    """

    since: int
    until: int


NO_ALLOWANCE: Final = OutageAllowance(0, 0)


class ClockReading(NamedTuple):
    """The time by the clock of the store, in milliseconds since 1970, and the outage allowance at that time."""

    now: int
    allowance: OutageAllowance = NO_ALLOWANCE


class LeasedReminder(NamedTuple):
    """A reminder of a ``game`` of this ``tenant``, which no other worker gets during the lease.

    ``due``: when it was due; after a lease without a write or ``reschedule``, the end of that lease.
    ``leased``: the end of the lease, which identifies the lease; only to be compared.
    ``reading``: the clock when the lease began. A deadline that had passed by this reading has passed, even if the
    allowance grows a moment later, at the end of an outage. Has an allowance only for the kind ``clock``.
    """

    game: str
    due: int
    leased: float
    reading: ClockReading
    tenant: str = ""


Rescheduled = tuple[LeasedReminder, int | None]
"""A reminder, and the time at which it is due again, in milliseconds since 1970; ``None`` removes it."""

TenantLimit = Callable[[str], int]
"""Returns how many more reminders of a tenant the caller can take."""


class ReminderQueue(Protocol):
    """The reminders of the games of a store. Every method returns in three seconds or raises ``StorageUnavailable``.

    All times are in milliseconds since 1970, by the clock of the server. The queue delivers every reminder that is due
    at least once, and again after each lease, until a write or ``reschedule`` replaces it. After an outage deadlines
    are postponed by an allowance as long as the outage, at most one hour.
    """

    def take(
        self, kind: ReminderKind, limit: int, lease: int, limit_of: TenantLimit | None = None
    ) -> list[LeasedReminder]:
        """Lease at most ``limit`` due reminders of this kind for ``lease`` milliseconds; return the earliest first.

        If more are due, tenants take turns, so that all get equally many, and none more than ``limit_of`` returns; then
        the earliest of all can be missing. Raises ``StorageUnavailable`` only if no server answers: reminders on an
        unavailable server come later.
        """

    def reschedule(self, kind: ReminderKind, reminders: Sequence[Rescheduled]) -> int:
        """Make leased reminders due at other times, or remove them; return how many were changed.

        Does nothing with a reminder whose lease has been lost: a write replaced it, or another worker leased it. Raises
        ``StorageUnavailable`` only if no server answers: reminders on an unavailable server do not change.
        """

    def renew(self, kind: ReminderKind, reminder: LeasedReminder, lease: int) -> LeasedReminder | None:
        """Extend a lease to ``lease`` milliseconds from now; return ``None`` if the lease has been lost."""

    def restore(self, kind: ReminderKind, game: str, tenant: str, at: int) -> None:
        """Write a lost reminder; do nothing if the game has one of this kind, leased or not."""

    def is_set(self, kind: ReminderKind, game: str, tenant: str) -> bool:
        """Return whether the game of this tenant has a reminder of this kind, leased or not."""

    def reminded(self, kind: ReminderKind, tenant: str) -> list[str]:
        """Return all games of this tenant that have a reminder of this kind, leased or not.

        Raises ``StorageUnavailable`` unless every server answers.
        """

    def server_time(self) -> int:
        """Return the current time by the clock of the store."""

    def read_clock(self, game: str) -> ClockReading:
        """Return the time by the clock of this game's server, and the allowance at that time.

        During an outage, it is the one that applies if the outage ends now.
        """

    def allowance(self, game: str) -> OutageAllowance:
        """Return the last allowance that this process read for this game, without asking the store."""
