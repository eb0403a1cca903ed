"""The values that the stores of applications, erasures, the index, the lobbies, the feed and webhooks take and return.

Owns also how much of each is kept. All times are in milliseconds since 1970. Does not depend on how a store keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Generic, Literal, NamedTuple, TypeVar

T = TypeVar("T")

MAX_REPEATS: Final = 500
"""Idempotency records that an application can have at a time."""


class Repeat(NamedTuple):
    """The idempotency record of a request of an application, stored for ``IDEMPOTENCY_TTL`` seconds.

    ``name``: identifies the idempotency key and the operation within the application.
    ``fingerprint``: a digest of the request, without spaces.
    ``at``: the time of the request.
    ``answer``: the data that a repeated answer is made from.
    """

    name: str
    fingerprint: bytes
    at: int
    answer: bytes


class RepeatKnown(Exception):
    """Another request with the same idempotency key was stored first, so nothing was written."""


class KeyRecord(NamedTuple):
    """A key of an application, as it is stored.

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
    """

    id: str
    name: str
    created_at: int
    keys: tuple[KeyRecord, ...]
    suspended: bool = False
    limits: OwnLimits = NO_OWN_LIMITS


MAX_ERASURES: Final = 1000
"""Pending erasures that an application can have at a time."""


class Erasure(NamedTuple):
    """A request to erase a person from the games of an application.

    ``ref``: the ref of the person.
    ``at``: identifies the last request for this person.
    """

    ref: str
    at: int


# The index: the games of each application, the lobbies, and the feed that is written with the index.

LOBBY_MS: Final = 360_000
"""Milliseconds for which a game stays in a lobby after it was last put there."""
FEED_ITEMS: Final = 100_000
"""Items that the feed of an application keeps; at times it has a few more."""


class IndexEntry(NamedTuple):
    """The entry of a game in the index of its application, at one version.

    ``players``: the urgency for the ref of each player. It orders the games that wait for this player, the smallest
    first; ``None`` if the game does not wait for the player.
    ``summary``: the JSON object that lists show, without ``expires_at``.
    ``status``: ``deleted`` for a deleted game, which no list has.
    ``bytes``: memory that the state and the events of the game use in the store.
    """

    game: str
    version: int
    write_id: str
    updated_at: int
    expires_at: int
    ref: str | None
    players: Mapping[str, int | None]
    variant: str
    status: str
    summary: bytes
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


class GamePage(NamedTuple, Generic[T]):
    """A page of a list of games: what the list has of each, and the cursor of the next page, if there is one."""

    games: list[T]
    next: str | None


class IndexPosition(NamedTuple):
    """The version of a game in the index.

    ``version``: 0 if the index does not have the game.
    ``write_id``: the id of the write that led to this version.
    """

    version: int
    write_id: str


class IndexQuery(NamedTuple):
    """A request for a page of the games of an application, those with the newest writes first.

    ``ref``, ``player_ref``: select the games with this ref, or with a player of this ref.
    ``waiting``: only with a ``player_ref``; selects the games that wait for that player, the most urgent first.
    ``statuses``: empty for games of any status.
    """

    ref: str | None = None
    player_ref: str | None = None
    waiting: bool = False
    statuses: tuple[str, ...] = ()
    variant: str | None = None
    updated_after: int | None = None
    limit: int = 50
    cursor: str | None = None


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


# Webhooks: the endpoints of applications, the games due to each of them, and their last attempts.

ATTEMPTS_KEPT: Final = 100
"""Delivery attempts that are stored for each endpoint."""

WebhookStatus = Literal["unverified", "active", "failing", "disabled"]


class RequestedMessage(NamedTuple):
    """A message that an application has requested: a ping, a sample, or an earlier message that is sent again.

    ``game``, ``version``: the game of an earlier message, and its version in that message.
    ``happened_at``: the time in the message.
    """

    id: str
    type: str
    happened_at: int
    game: str | None = None
    version: int = 0


class Webhook(NamedTuple):
    """An endpoint of an application.

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

    ``at``: when it became due. It identifies this state: every change of the game sets another time.
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
    """An attempt to deliver a message.

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
