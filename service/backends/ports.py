"""The ports of this package: stores of applications, erasures, the index, the lobbies, the feed and webhooks.

Owns the interfaces and their values. A store keeps all data of an application together: on a Cluster in one slot, that
of the shard of its id. Does not depend on Redis or Flask.

Every method returns within three seconds or raises ``StorageUnavailable``. A method that writes can also raise
``OutcomeUnknown``; it is safe to call it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

MAX_REPEATS: Final = 500
"""Idempotency records that an application can have at a time."""


class Repeat(NamedTuple):
    """The idempotency record of a request of an application, stored for ``IDEMPOTENCY_TTL`` seconds.

    ``name``: identifies the idempotency key and the operation within the application.
    ``fingerprint``: a digest of the request, without spaces.
    ``at``: the time of the request, in milliseconds since 1970.
    ``answer``: the data that a repeated answer is made from.
    """

    name: str
    fingerprint: bytes
    at: int
    answer: bytes


class RepeatKnown(Exception):
    """Another request with the same idempotency key was stored first, so nothing was written."""


class KeyRecord(NamedTuple):
    """A key of an application, as it is stored. Times in milliseconds since 1970.

    ``suffix``: its last characters, by which people distinguish it from others.
    ``digest``: its SHA-256.
    ``expires_at``: ``None`` if it is valid until it is revoked.
    """

    suffix: str
    digest: bytes
    created_at: int
    expires_at: int | None = None


class OwnLimits(NamedTuple):
    """The limits that the operator has set for one application: 0 for none, ``None`` for the general limit.

    ``requests``: requests per minute.
    ``games``: games created or joined per minute.
    ``stored``: MiB stored per day.
    """

    requests: int | None = None
    games: int | None = None
    stored: int | None = None


NO_OWN_LIMITS: Final = OwnLimits()


class Backend(NamedTuple):
    """An application. Its id determines a shard, as the id of a game does.

    ``suspended``: whether the operator has suspended it, so that its keys are refused.
    ``created_at``: in milliseconds since 1970.
    """

    id: str
    name: str
    created_at: int
    keys: tuple[KeyRecord, ...]
    suspended: bool = False
    limits: OwnLimits = NO_OWN_LIMITS


class RepeatStore(Protocol):
    """The idempotency records of applications: at most ``MAX_REPEATS`` of each at a time.

    A method with the argument ``repeat`` stores this record in the same atomic write. It raises ``RepeatKnown`` if a
    record of that name exists, and ``LimitReached`` if the application has too many; then it changes nothing.
    """

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """Return the record with this name; ``now`` in milliseconds since 1970.

        If writes wait for a replica, this also waits until a replica has the record.
        """


class BackendStore(RepeatStore, Protocol):
    """The applications, which do not expire. Their idempotency records outlive a deletion."""

    def create(self, backend: Backend) -> bool:
        """Store a new application. Return ``False`` if another one has its id."""

    def read(self, app: str) -> Backend | None:
        """Return the application with this id."""

    def replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace an application, or delete it if ``after`` is ``None``. Return whether that was done.

        Does nothing if the stored application differs from ``before``.
        """

    def all(self) -> list[Backend]:
        """Return all applications, the oldest first."""


MAX_ERASURES: Final = 1000
"""Pending erasures that an application can have at a time."""


class Erasure(NamedTuple):
    """A request to erase a person from the games of an application.

    ``ref``: the ref of the person.
    ``at``: identifies the last request for this person.
    """

    ref: str
    at: int


class ErasureStore(Protocol):
    """The pending erasures of applications: at most ``MAX_ERASURES`` of each at a time.

    A request also makes the reminder ``erasures`` of the application due at once (``ReminderQueue``).
    """

    def request(self, app: str, ref: str) -> bool:
        """Store an erasure; one that is pending is renewed. Return ``False`` if too many others are pending."""

    def pending(self, app: str) -> list[Erasure]:
        """Return the pending erasures."""

    def is_pending(self, app: str, ref: str) -> bool:
        """Return whether an erasure of this person is pending."""

    def done(self, app: str, erasure: Erasure) -> None:
        """Remove an erasure that was carried out, unless it was requested again since ``erasure`` was read."""


# The ports of the index: the games of each application, the lobbies, and the feed that is written with the index.

LOBBY_MS: Final = 360_000
"""Milliseconds for which a game stays in a lobby after it was last put there."""
FEED_ITEMS: Final = 100_000
"""Items that the feed of an application keeps; at times it has a few more."""


class PlayerEntry(NamedTuple):
    """A player of a game in the index. A game has one entry for each ref.

    ``urgency``: orders the games that wait for this player, the smallest first; ``None`` if the game does not wait for
    the player.
    """

    ref: str
    urgency: int | None


class IndexEntry(NamedTuple):
    """The entry of a game in the index of its application, at one version. Times in milliseconds since 1970.

    ``summary``: the JSON object that lists show, without ``expires_at``.
    ``deleted``: whether the game was deleted, so that no list has it.
    ``bytes``: memory that the state and the events of the game use in the store.
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
    """The usage of an application.

    ``games``: games that have not expired.
    ``bytes``: memory of all games in its index. Includes expired games until the index removes them; each write to the
    index removes some.
    ``messages``: for each endpoint, the number of games of which it has to be notified, summed over the endpoints.
    """

    games: int = 0
    bytes: int = 0
    messages: int = 0


class LobbyEntry(NamedTuple):
    """The entry of a public game in the lobbies, at one version.

    ``created_at``: in milliseconds since 1970.
    ``json``: the JSON object that a lobby shows; ``None`` if the game has no open seats, so that no lobby shows it.
    ``for_all``: whether it is in the lobby for everybody, too, and not only in that of its application.
    """

    game: str
    app: str
    version: int
    variant: str
    created_at: int
    json: bytes | None
    for_all: bool = True


class LobbyQuery(NamedTuple):
    """A request for a page of the lobby of an application; without ``app``, of the lobby for everybody."""

    app: str | None = None
    variant: str | None = None
    limit: int = 50
    cursor: str | None = None


class LobbyPage(NamedTuple):
    """The JSON objects of games, and the cursor of the next page, if there is one."""

    games: tuple[bytes, ...]
    next: str | None


class IndexPosition(NamedTuple):
    """The version of a game in the index.

    ``version``: 0 if the index does not have the game.
    ``write_id``: the id of the write that led to this version.
    ``endpoints``: the ids of the endpoints of the application that were ever active.
    """

    version: int
    write_id: str
    endpoints: tuple[str, ...]


class IndexPage(NamedTuple):
    """A page of a list of games.

    ``entries``: summaries, each with the time at which its game expires, in milliseconds since 1970.
    ``next``: the cursor of the next page, if there is one.
    """

    entries: tuple[tuple[bytes, int], ...]
    next: str | None


class IndexQuery(NamedTuple):
    """A request for a page of the games of an application, those with the newest writes first.

    ``ref``, ``player_ref``: select the games with this ref, or with a player of this ref.
    ``waiting``: only with a ``player_ref``; selects the games that wait for that player, the most urgent first.
    ``statuses``: empty for games of any status.
    ``updated_after``: in milliseconds since 1970.
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

    Lists have a game until it expires or is deleted.
    """

    def position(self, app: str, game: str) -> IndexPosition:
        """Return the version of a game in the index, with the endpoints of the application."""

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
        """Replace the entry of a game, append ``items`` to the feed, and make ``endpoints`` due, in one atomic write.

        Does nothing and returns ``False`` unless the index still has the game at ``position``. An endpoint to which the
        game was not due before is notified of the versions after that of ``position``. With ``notified``, all endpoints
        are notified of the versions after ``notified``, even if they were notified of some of them before.
        """

    def remove(self, app: str, game: str, *, position: IndexPosition) -> bool:
        """Remove the entry of a game without recording a deletion. Return ``False`` unless it was at ``position``."""

    def usage(self, app: str) -> Usage:
        """Return the usage of an application according to the index, which follows the games with a delay."""

    def find(self, app: str, query: IndexQuery) -> IndexPage:
        """Return a page of the games of an application. Even an empty page can have a next one.

        Raises ``ValueError`` for a ``cursor`` that no page had.
        """

    def games(self, app: str, cursor: str | None) -> tuple[list[str], str | None]:
        """Return the ids of some games in the index, and the next cursor, ``None`` at the end of the scan.

        Games come in no order. A scan returns each game that stays in the index at least once.
        """


class Lobby(Protocol):
    """The public games with open seats: a lobby for each application, and one for everybody.

    A game stays for ``LOBBY_MS`` after it was last put there. A lobby keeps the 1000 newest games of an application.
    """

    def put(self, entry: LobbyEntry) -> bool:
        """Show or hide a game, unless a newer version of it is stored. Return whether a lobby stores it as shown."""

    def games(self, query: LobbyQuery) -> LobbyPage:
        """Return a page of games, the newest first. Even an empty page can have a next one.

        The lobby for everybody shows at most the ten newest games of an application, or the ten newest of the variant
        in the query. Raises ``ValueError`` for a ``cursor`` that no page had.
        """


class StoredItem(NamedTuple):
    """An item of the feed as it is stored; its ``json`` has no refs."""

    cursor: str
    game: str
    json: bytes


class StoredItems(NamedTuple):
    """A part of a feed.

    ``cursor``: the position after the last item.
    ``summaries``: the summary of each game that is in the index.
    ``lost``: whether items after the requested cursor were dropped, or the cursor does not exist (any more). Then
    ``items`` is empty, and the stored items come after ``cursor``.
    """

    items: tuple[StoredItem, ...]
    cursor: str
    summaries: Mapping[str, bytes]
    lost: bool = False


class FeedStore(Protocol):
    """The feeds of the applications: the last ``FEED_ITEMS`` items of each. A cursor is a text, opaque to clients."""

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """Return at most ``limit`` items after a cursor, or from the oldest stored item without one.

        Raises ``ValueError`` for a text that is no cursor.
        """

    def newest(self, app: str) -> str:
        """Return the cursor after the newest item."""


# The port of webhooks: the endpoints of applications, the games due to each of them, and their last attempts.

ATTEMPTS_KEPT: Final = 100
"""Delivery attempts that are stored for each endpoint."""

WebhookStatus = Literal["unverified", "active", "failing", "disabled"]


class RequestedMessage(NamedTuple):
    """A message that an application has requested: a ping, a sample, or an earlier message that is sent again.

    ``game``, ``version``: the game of an earlier message, and its version in that message.
    ``happened_at``: the time in the message, in milliseconds since 1970.
    """

    id: str
    type: str
    happened_at: int
    game: str | None = None
    version: int = 0


class Webhook(NamedTuple):
    """An endpoint of an application. Times in milliseconds since 1970.

    ``events``: the types of messages that it receives.
    ``old_secret``: also signs messages, until ``old_secret_until``.
    ``is_verified``: whether the URL has answered a challenge.
    ``failures``: failed attempts since the last success; failed challenges before the endpoint is verified.
    ``failing_since``: the time of the first of these failures.
    ``paused_until``: until then, only requested messages are sent.
    ``requested``: requested messages that were not sent yet.
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
    """A game of which an endpoint has to be notified.

    ``at``: when it became due, in milliseconds since 1970. It identifies this state: every change of the game sets
    another time.
    ``notified``: the version up to which the endpoint was notified.
    ``version``: the version up to which it has to be notified: that in the index, 0 if the index does not have the
    game. For later versions the index makes the game due again.
    ``failures``: failed attempts.
    """

    game: str
    at: int
    notified: int
    version: int
    failures: int


class DeliveryAttempt(NamedTuple):
    """An attempt to deliver a message. Times in milliseconds since 1970.

    ``message``: the id of the message. Its body is not stored; it can be made again from game, type and version.
    ``at``: the time of the attempt.
    ``milliseconds``: the duration of the attempt.
    ``status``: the HTTP status of the response, if one came.
    ``error``: a word for the fault, ``None`` after a success.
    ``version``: the version of the game that the message is about, 0 without a game.
    ``happened_at``: the time in the message.
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
    """The endpoints of the applications, the games due to each of them, and their last attempts.

    An endpoint has the reminder ``<application>.<endpoint>`` of the kind ``webhooks``. Every write that makes the
    endpoint due also sets the reminder. While the reminder is leased (``ReminderQueue.take``), only ``renew`` and
    ``release`` change it, so one process at a time delivers to an endpoint. The index makes a game due to every
    endpoint that was ever active, even if it is disabled now. If a game is not due, the endpoint was notified up to the
    version in the index.
    """

    def create(self, webhook: Webhook, max_count: int, repeat: Repeat | None = None) -> bool:
        """Store a new endpoint, due at once. Return ``False`` if the application has ``max_count`` already."""

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
        """Replace an endpoint, or delete it with its due games if ``after`` is ``None``. Return whether that was done.

        Does nothing if the stored endpoint differs from ``before``. With ``at``, the endpoint is due at that time. With
        ``resume``, its deferred games are due at once, and their failures are reset. An endpoint that becomes active
        for the first time is notified of later versions of all games of its application.
        """

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        """Return the games of which an endpoint has to be notified now, the earliest first."""

    def read_with_due(self, app: str, webhook: str, now: int, limit: int) -> tuple[Webhook | None, list[DueGame]]:
        """Return an endpoint as ``read`` does, with its due games as ``due`` does."""
        endpoint = self.read(app, webhook)
        return endpoint, [] if endpoint is None else self.due(endpoint, now, limit)

    def mark_notified(
        self, webhook: Webhook, game: DueGame, version: int, *, done: bool, attempt: DeliveryAttempt | None = None
    ) -> None:
        """Store the version up to which the endpoint was notified of the game, and the attempt.

        A lower version than the stored one is ignored. With ``done`` no message is left: the game is due again only
        after another write to it.
        """

    def mark_failed(
        self, webhook: Webhook, game: DueGame, at: int, *, count: bool, attempt: DeliveryAttempt | None
    ) -> None:
        """Store a failed attempt, and defer the game to ``at``. Without ``count``, its failures stay as they are."""

    def log(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        """Store an attempt. Only the last ``ATTEMPTS_KEPT`` of an endpoint remain."""

    def attempts(self, webhook: Webhook) -> list[DeliveryAttempt]:
        """Return the last attempts, the newest first."""

    def forget(self, webhook: Webhook, before: int) -> None:
        """Remove the games that were due before this time: they have expired."""

    def renew(self, webhook: Webhook, leased: float, lease: int) -> float | None:
        """Extend the lease ``leased`` by ``lease`` milliseconds. Return the new lease, ``None`` if it was lost."""

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        """End the lease ``leased``, and set when the endpoint is due again. Do nothing if the lease was lost.

        Without ``games``, it is due at ``at``, or not at all. With ``games``, it is due when the next game is, and not
        before ``at``. If the stored endpoint differs from ``webhook``, it is due at once.
        """
