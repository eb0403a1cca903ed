"""The ports of this package: applications, what they store, the index, the lobbies, the feed, and webhooks.

Owns the interfaces only. What belongs to one application lies together (on a Cluster in one slot, that of the shard of
its id). Does not depend on Redis or Flask.

Every method answers within three seconds or raises ``StorageUnavailable``; one that writes may raise
``OutcomeUnknown``, and can be called again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

MAX_REPEATS: Final = 500
"""The most requests of an application under idempotency keys that are kept at a time."""


class Repeat(NamedTuple):
    """The record of a request under an idempotency key, stored for ``IDEMPOTENCY_TTL`` to answer it again.

    The ``name`` is unique among those of the application; ``fingerprint`` is a digest of the request, without a space;
    ``at`` is when it was made, in milliseconds since 1970; ``answer`` is what is needed to answer it again.
    """

    name: str
    fingerprint: bytes
    at: int
    answer: bytes


class RepeatKnown(Exception):
    """A request under the same idempotency key was kept first, so that this one was not written."""


class KeyRecord(NamedTuple):
    """A key of an application: the first characters by which people distinguish it from others, and its SHA-256.

    Times in milliseconds since 1970; a key without ``expires_at`` is valid until it is revoked.
    """

    suffix: str
    digest: bytes
    created_at: int
    expires_at: int | None = None


class OwnLimits(NamedTuple):
    """The limits that the operator has given one application: 0 is no limit, ``None`` that of all applications.

    ``requests`` and ``games`` (created or joined) per minute, MiB ``stored`` per day.
    """

    requests: int | None = None
    games: int | None = None
    stored: int | None = None


NO_OWN_LIMITS: Final = OwnLimits()


class Backend(NamedTuple):
    """An application; its id has a shard, like that of a game. The operator may have ``suspended`` it with its keys."""

    id: str
    name: str
    created_at: int
    keys: tuple[KeyRecord, ...]
    suspended: bool = False
    limits: OwnLimits = NO_OWN_LIMITS


class RepeatStore(Protocol):
    """The requests of applications under idempotency keys: at most ``MAX_REPEATS`` of each at a time.

    What writes with a ``Repeat`` keeps it in the same atomic write. It then also raises ``RepeatKnown``, and
    ``LimitReached`` if too many are kept; both change nothing.
    """

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """Return what is kept under this name, as confirmed as a write; ``now`` in milliseconds since 1970."""


class BackendStore(RepeatStore, Protocol):
    """The applications, which do not expire; what is kept of their requests outlives them."""

    def create(self, backend: Backend) -> bool:
        """Store a new application; ``False`` if there is another one with this id."""

    def read(self, app: str) -> Backend | None:
        """Return the application with this id."""

    def replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace the application if it is still as ``before``, or delete it; returns whether that was done."""

    def all(self) -> list[Backend]:
        """Return every application, the oldest first."""


MAX_ERASURES: Final = 1000
"""The most people of an application who are to be erased at a time."""


class Erasure(NamedTuple):
    """A person who is to be erased, by the ref; ``at`` identifies the last request for it."""

    ref: str
    at: int


class ErasureStore(Protocol):
    """The people of applications who are to be erased: at most ``MAX_ERASURES`` of each at a time.

    The reminder ``erasures`` of an application (``ReminderQueue``) is due at once after each request.
    """

    def request(self, app: str, ref: str) -> bool:
        """Note that a person is to be erased, also one who is already; ``False`` if there are too many others."""

    def pending(self, app: str) -> list[Erasure]:
        """Return who is to be erased."""

    def is_pending(self, app: str, ref: str) -> bool:
        """Return whether this person is to be erased."""

    def done(self, app: str, erasure: Erasure) -> None:
        """Note that a person has been erased; does nothing if there was another request meanwhile."""


# The ports of the index: the games of each application, the lobbies, and the feed that is written with the index.


LOBBY_MS: Final = 360_000
"""Milliseconds that a game is shown in the lobby unless it is shown again."""


FEED_ITEMS: Final = 100_000
"""Items that the feed of an application keeps, or a few more."""


class PlayerEntry(NamedTuple):
    """A player of a game as the index finds it, once for each ``ref``.

    The game with the smallest ``urgency`` is the most urgent one; ``None`` if the game does not wait for this player.
    """

    ref: str
    urgency: int | None


class IndexEntry(NamedTuple):
    """The entry of one game in the index of its application, at one version.

    ``summary`` is the JSON object of the listing, without ``expires_at``. ``deleted``: the game was deleted, and is
    listed no more. ``bytes``: what the store uses for its state and its events. Times in milliseconds since 1970.
    """

    game: str
    version: int
    write_id: str
    updated_at: int
    expires_at: int
    ref: str | None
    players: tuple[PlayerEntry, ...]
    variant: str
    status: str
    summary: bytes
    deleted: bool = False
    bytes: int = 0


class Usage(NamedTuple):
    """The usage of an application: ``games`` that have not expired, the ``bytes`` of all games in its index.

    ``messages`` that wait: the games of which an endpoint is still to be notified, summed over all endpoints. A game
    that has expired counts in the bytes until the index forgets it, which any write to the index does for some of them.
    """

    games: int = 0
    bytes: int = 0
    messages: int = 0


class LobbyEntry(NamedTuple):
    """A public game of an application at one version; ``json`` is what a lobby shows, ``None`` without open seats.

    It is in the lobby of its application and, if it is ``for_all``, in the one that everybody may read. ``created_at``
    in milliseconds since 1970.
    """

    game: str
    app: str
    version: int
    variant: str
    created_at: int
    json: bytes | None
    for_all: bool = True


class LobbyQuery(NamedTuple):
    """The part to read of the lobby of this application; without one, of that which everybody may read."""

    app: str | None = None
    variant: str | None = None
    limit: int = 50
    cursor: str | None = None


class LobbyPage(NamedTuple):
    """The JSON of games, and where the next page begins, if there is one."""

    games: tuple[bytes, ...]
    next: str | None


class IndexPosition(NamedTuple):
    """The version of a game that the index knows (version 0: it does not know it), and the active endpoints."""

    version: int
    write_id: str
    endpoints: tuple[str, ...]


class IndexPage(NamedTuple):
    """Summaries, each with the time at which its game expires, and where the next page begins, if there is one."""

    entries: tuple[tuple[bytes, int], ...]
    next: str | None


class IndexQuery(NamedTuple):
    """The games to list; without ``statuses`` games of any status.

    ``waiting`` only with a ``player_ref``: the games that wait for that player, most urgent first.
    Any other list is ordered by the time of the last write, newest first. Times in milliseconds since 1970.
    """

    ref: str | None = None
    player_ref: str | None = None
    waiting: bool = False
    statuses: tuple[str, ...] = ()
    variant: str | None = None
    updated_after: int | None = None
    limit: int = 50
    cursor: str | None = None


class GameIndex(Protocol):
    """The index of the games of each application, and the feed that is written with it.

    A game that is not written any more is listed until it expires.
    """

    def position(self, app: str, game: str) -> IndexPosition:
        """Return the version of a game that the index knows, and the endpoints that are to be notified."""

    def put(
        self,
        app: str,
        entry: IndexEntry,
        items: Sequence[bytes],
        endpoints: Sequence[str],
        *,
        position: IndexPosition,
        notified: int | None = None,
    ) -> bool:
        """Replace what the index knows of a game, append ``items`` of it to the feed, and make ``endpoints`` due.

        Does nothing, and returns ``False``, unless the index is still at ``position``. One atomic write. An endpoint
        that has not been notified of this game before knows it up to the version of ``position``; with ``notified``,
        every endpoint knows it up to that version only: it is notified again of what follows.
        """

    def remove(self, app: str, game: str, *, position: IndexPosition) -> bool:
        """Forget a game, as if it had never been there, if the index is still at ``position``."""

    def usage(self, app: str) -> Usage:
        """Return what is kept for an application, as far as the index has followed its games."""

    def find(self, app: str, query: IndexQuery) -> IndexPage:
        """Return the games of an application. A page may have fewer than ``limit`` games, or none, and yet a next one.

        Raises ``ValueError`` for a ``cursor`` that no page had.
        """

    def games(self, app: str, cursor: str | None) -> tuple[list[str], str | None]:
        """Return some of the games that the index knows, in no order, and where to go on; ``None`` at the end.

        A game that is there from the beginning to the end is given at least once.
        """


class Lobby(Protocol):
    """The public games with open seats: a lobby for each application, and one that everybody may read.

    A game stays for ``LOBBY_MS`` after it was last put there. A lobby keeps the 1000 newest games of an application.
    """

    def put(self, entry: LobbyEntry) -> bool:
        """Show a game, or hide it, unless a newer version of it is known; returns whether it is kept now."""

    def games(self, query: LobbyQuery) -> LobbyPage:
        """Return the games, the newest first; in the lobby for everybody at most the ten newest of one application.

        With a variant, the ten newest of that. A page may have fewer than ``limit`` games, or none, and yet a next one.
        Raises ``ValueError`` for a ``cursor`` that no page had.
        """


class StoredItem(NamedTuple):
    """An item of the feed as it is stored: its cursor, its game, and its JSON object, which has no refs."""

    cursor: str
    game: str
    json: bytes


class StoredItems(NamedTuple):
    """Items of the feed, and the cursor of the last one.

    ``summaries`` are those that the index has of their games, where it knows the game. ``lost``: items after the given
    cursor are no longer kept, or never existed; then there are no items here, and what is kept comes after ``cursor``.
    """

    items: tuple[StoredItem, ...]
    cursor: str
    summaries: Mapping[str, bytes]
    lost: bool = False


class FeedStore(Protocol):
    """The feeds of the applications: the last ``FEED_ITEMS`` of each. A cursor is a text, opaque to its reader."""

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """At most ``limit`` items after a cursor; without one, from the oldest that is kept.

        Raises ``ValueError`` for a text that is no cursor.
        """

    def newest(self, app: str) -> str:
        """Return the cursor after which there is nothing yet."""


# The port of webhooks: the endpoints of applications, what is due to each of them, and their last attempts.


ATTEMPTS_KEPT: Final = 100
"""Attempts that are kept of an endpoint."""


WebhookStatus = Literal["unverified", "active", "failing", "disabled"]


class RequestedMessage(NamedTuple):
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
    endpoint that is not verified, failed challenges. Nothing is sent before ``paused_until`` but what was ``requested``
    and is not sent yet.
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
    requested: tuple[RequestedMessage, ...] = ()


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
        """Store a new endpoint, due at once; ``False`` if the application has the most already."""

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

        With ``at`` the endpoint is due at that time. With ``resume`` the games that were deferred are due at once, and
        their failures are forgotten. An endpoint that becomes active is notified of the games of its application from
        now on.
        """

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        """Return the games that are due to an endpoint, the earliest first."""

    def read_with_due(self, app: str, webhook: str, now: int, limit: int) -> tuple[Webhook | None, list[DueGame]]:
        """Return an endpoint, as ``read`` does, and the games that are due to it, as ``due`` does."""
        found = self.read(app, webhook)
        return found, [] if found is None else self.due(found, now, limit)

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
        """Extend a lease by these milliseconds; returns the new lease, ``None`` if the reminder is not leased so."""

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        """End a lease: the endpoint is due at that time, or never; with ``games`` when the next game is, if later.

        With ``games`` and without ``at`` it is due when the next game is. If the endpoint is no longer as given, it is
        due at once. Does nothing if the reminder is not leased so.
        """
