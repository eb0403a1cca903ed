"""The port of webhooks: the endpoints of applications, what is due to each of them, and their last attempts.

Owns the interface only. Errors are those of ``service.backends.ports``. Does not depend on Redis or Flask.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, Protocol

from service.backends.ports import Repeat, RepeatStore

ATTEMPTS_KEPT: Final = 100
"""Attempts that are kept of an endpoint."""


WebhookStatus = Literal["unverified", "active", "failing", "disabled"]


class AskedMessage(NamedTuple):
    """A message that an application has asked for, by its id and type, as it is to be sent by a messenger.

    Of a ``game``: the message about its ``version``, once more. Without one, a sample, or a ping. ``happened_at`` is
    the time in the message, in milliseconds since 1970.
    """

    id: str
    type: str
    happened_at: int
    game: str | None = None
    version: int = 0


class Webhook(NamedTuple):
    """An endpoint of an application. Times in milliseconds since 1970.

    ``old_secret`` signs too until ``old_secret_until``. ``is_verified``: whether the URL has answered a challenge.
    ``failures`` counts failed attempts since the last success, the first of which was at ``failing_since``; of an
    endpoint that is not verified, failed challenges. Nothing is sent before ``paused_until`` but what was ``asked`` for
    and is not yet sent.
    """

    id: str
    app: str
    url: str
    events: tuple[str, ...]
    status: WebhookStatus
    created_at: int
    secret: bytes
    old_secret: bytes | None = None
    old_secret_until: int = 0
    is_verified: bool = False
    failures: int = 0
    failing_since: int | None = None
    paused_until: int = 0
    asked: tuple[AskedMessage, ...] = ()


class DueGame(NamedTuple):
    """A game with messages for an endpoint: the version up to which the endpoint knows it, and the failed attempts.

    ``at`` is when it was due, and identifies this state: what comes later has another time. ``version`` is the one that
    the index knows, up to which the endpoint is notified: of what follows, the index makes the game due again. It is 0
    if the index does not know the game.
    """

    game: str
    at: int
    notified: int
    version: int
    failures: int


class DeliveryAttempt(NamedTuple):
    """One attempt to deliver a message; ``status`` is that of the answer, ``error`` a word for what was wrong.

    It was ``at`` a time, the message is about a ``version`` of its game (0 without one) that was ``happened_at``
    another: by them it can be made again. Nothing else of the message is kept. Times in milliseconds since 1970.
    """

    message: str
    type: str
    game: str | None
    at: int
    milliseconds: int
    status: int | None
    error: str | None
    version: int
    happened_at: int


class WebhookStore(RepeatStore, Protocol):
    """The endpoints of the applications, what is due to each of them, and their last attempts.

    The reminder ``webhooks`` of an endpoint, ``<application>.<endpoint>``, is written with all that makes it due. While
    it is leased (``ReminderQueue.take``), nothing but ``renew`` and ``release`` changes it, so that one process at a
    time delivers to an endpoint. The index makes a game due to every endpoint that was ever active, also while it is
    disabled. A game that is not due to an endpoint is known to it up to the version of the index.
    """

    def create(self, webhook: Webhook, most: int, repeat: Repeat | None = None) -> bool:
        """Store a new endpoint, due at once; ``False`` if the application has so many already."""

    def read(self, app: str, webhook: str) -> Webhook | None:
        """Return the endpoint of this application with this id."""

    def all(self, app: str) -> list[Webhook]:
        """Return the endpoints of an application, the oldest first."""

    def replace(
        self,
        before: Webhook,
        after: Webhook | None,
        *,
        at: int | None = None,
        resume: bool = False,
        repeat: Repeat | None = None,
    ) -> bool:
        """Replace an endpoint if it is still as ``before``, or delete it with all that is due; whether that was done.

        With ``at`` the endpoint is due at that time. With ``resume`` the games that were put off are due at once, and
        their failures are forgotten. An endpoint that becomes active is notified of the games of its application from
        now on.
        """

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        """Return the games that are due to an endpoint, the earliest first."""

    def mark_notified(
        self, webhook: Webhook, game: DueGame, version: int, *, done: bool, attempt: DeliveryAttempt | None = None
    ) -> None:
        """Note that the endpoint knows the game up to ``version``, which never goes back, and keep the attempt.

        ``done``: there is no more to send; the game is due again only if it has gone on.
        """

    def mark_failed(
        self, webhook: Webhook, game: DueGame, at: int, *, count: bool, attempt: DeliveryAttempt | None
    ) -> None:
        """Keep a failed attempt; the game is due again at that time. Without ``count`` it does not count as failed."""

    def log(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        """Keep an attempt; the last ``ATTEMPTS_KEPT`` of an endpoint are kept."""

    def attempts(self, webhook: Webhook) -> list[DeliveryAttempt]:
        """Return the last attempts, the newest first."""

    def forget(self, webhook: Webhook, before: int) -> None:
        """Forget the games that were due before this time: they have expired."""

    def renew(self, webhook: Webhook, leased: float, lease: int) -> float | None:
        """Lease the reminder for so many milliseconds more; the new lease, or ``None`` if it is not leased so."""

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        """End a lease: the endpoint is due at that time, or never; with ``games`` when the next game is, if later.

        With ``games`` and without ``at`` it is due when the next game is. If the endpoint is no longer as given, it is
        due at once. Does nothing if the reminder is not leased so.
        """
