"""The descriptions of the messages that the service sends to the endpoints of applications."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from marshmallow import Schema

from service.backends.webhooks.messages import CHALLENGE, sample_data
from service.games.model.views import format_rfc3339
from tools.openapi.message_schemas import (
    ChallengeMessageSchema,
    DeletedMessageSchema,
    GameMessageSchema,
    PingMessageSchema,
)

HEADERS: Final = {
    "webhook-id": "The id of the message, the same for all attempts to deliver it: what arrives twice is one message.",
    "webhook-timestamp": "When this attempt was made: seconds since 1970.",
    "webhook-signature": "Signatures of `<webhook-id>.<webhook-timestamp>.<body>`: `v1,` and the HMAC-SHA256 in "
    "Base64, after each other, with a space between. One of them has to be right.",
}
"""The headers of a message."""

DELIVERY: Final = (
    "Any 2xx within ten seconds is a success; a redirect is not. Else it is sent again, after 5 s, 30 s, twice 50 s, "
    "10 min, 1 h, 3 h, 6 h, 12 h and then every 24 h, each ± 20 %, for three days; to an endpoint that takes nothing, "
    "one message at least once a minute. 410 disables the endpoint; `Retry-After` of 429, 502, 503 and 504 is heeded "
    "up to an hour."
)


class MessageSpec(NamedTuple):
    """A message that the service sends."""

    name: str
    summary: str
    description: str
    schema: type[Schema]
    example: dict[str, Any]


_AT: Final = 1_767_728_000_000
"""When the messages of the examples happened, in milliseconds since 1970."""


def _example(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "timestamp": format_rfc3339(_AT), "data": data}


def _sample(kind: str) -> dict[str, Any]:
    """Return the example of a message about a game: what a sample tells, too."""
    return _example(kind, sample_data(kind, _AT))


_ORDER: Final = "Messages of a game arrive in the order of `version`, each when the one before was taken."

MESSAGES: Final = (
    MessageSpec(
        "game.turn",
        "It is somebody's turn",
        "A person's turn has begun: what a push message needs, and a program that plays. A turn that is over by the "
        f"time it could be told is not told. {_ORDER}",
        GameMessageSchema,
        _sample("game.turn"),
    ),
    MessageSpec(
        "game.deadline",
        "Somebody's time ends soon",
        "So long before the `deadline` as the clock of the game says (`remind`), once a turn. It is not told of a turn "
        "that is over by then.",
        GameMessageSchema,
        _sample("game.deadline"),
    ),
    MessageSpec(
        "game.created",
        "Players have begun a rematch",
        "With the token of a finished game, which is `rematch_of`. It is the first message of the new game, which has "
        "the same `ref`; of games that the application creates itself there is none.",
        GameMessageSchema,
        _sample("game.created"),
    ),
    MessageSpec(
        "game.joined",
        "Somebody has joined",
        "A player took an open seat.",
        GameMessageSchema,
        _sample("game.joined"),
    ),
    MessageSpec(
        "game.freed",
        "A seat is open again",
        "In a game that waits, its player has left or was taken off: whose `ref` it was, `game.joined` has told.",
        GameMessageSchema,
        _sample("game.freed"),
    ),
    MessageSpec(
        "game.filled",
        "A computer player took a seat",
        "By request, or as the time to fill the table was over.",
        GameMessageSchema,
        _sample("game.filled"),
    ),
    MessageSpec(
        "game.started",
        "A match began without its open seats",
        "Seats have other numbers from now on, as the event `started` tells; a match that begins as the last seat is "
        "taken is not told.",
        GameMessageSchema,
        _sample("game.started"),
    ),
    MessageSpec(
        "game.round_over",
        "A round is over",
        "The round is scored; the seats in `to_act` may deal the next one: none if that is done, or the match is over.",
        GameMessageSchema,
        _sample("game.round_over"),
    ),
    MessageSpec(
        "game.finished",
        "A match is over",
        "With the winners and what the match has come to for each seat. The last message of most games.",
        GameMessageSchema,
        _sample("game.finished"),
    ),
    MessageSpec(
        "game.timed_out",
        "Somebody's time is over",
        "The time of the seat ended before it moved.",
        GameMessageSchema,
        _sample("game.timed_out"),
    ),
    MessageSpec(
        "game.deleted",
        "A game was deleted",
        "By the application. Nothing of it is left but its id and version.",
        DeletedMessageSchema,
        _sample("game.deleted"),
    ),
    MessageSpec(
        "webhook.ping",
        "A test",
        "The application asked for it. It is sent once, whether it arrives or not.",
        PingMessageSchema,
        _example("webhook.ping", {"webhook": "mfrggzdfmztwq2lk"}),
    ),
    MessageSpec(
        CHALLENGE,
        "A challenge",
        "The first message to a new URL, whatever its `events` are. The answer is 2xx with the challenge, as text or "
        'as `{"challenge": …}`. Without it, the challenge is repeated a few times, each time another one.',
        ChallengeMessageSchema,
        _example(CHALLENGE, {"challenge": "6f2b0c3a9d1e4f5a8b7c6d5e4f3a2b1c"}),
    ),
)
"""All messages, in the order of the document."""
