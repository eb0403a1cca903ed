"""The descriptions of the operations on webhooks, and of the messages that the service itself sends."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from marshmallow import Schema

from service.apps.messages import CHALLENGE
from service.web.openapi.app_operations import APP_PROBLEMS
from service.web.openapi.operations import BODY_PROBLEMS, Operation, ResponseSpec
from service.web.schemas import webhooks as webhook_schemas

_WRITE_PROBLEMS: Final = (*APP_PROBLEMS, "not_found", "outcome_unknown")
_READ_HEADERS: Final = ("Cache-Control", "Vary")
_SECRET_HEADERS: Final = ("Location", "Cache-Control")

CREATE_WEBHOOK: Final = Operation(
    id="createWebhook",
    tag="webhooks",
    summary="Register an endpoint",
    description="Messages about the games of the application are posted there, once it has answered a challenge: it "
    'gets `webhook.challenge`, and must answer with the challenge, as text or as `{"challenge": …}`. The secret by '
    "which it recognises messages is returned only here. An application has at most five endpoints.",
    access="app",
    body=webhook_schemas.WebhookIn,
    responses={
        201: ResponseSpec(
            description="The endpoint, with its secret.",
            schema=webhook_schemas.NewWebhook,
            headers=_SECRET_HEADERS,
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, *BODY_PROBLEMS, "limit_reached", "outcome_unknown"),
)

LIST_WEBHOOKS: Final = Operation(
    id="listWebhooks",
    tag="webhooks",
    summary="List the endpoints",
    description="The endpoints of the application.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The endpoints.", schema=webhook_schemas.WebhookList, headers=_READ_HEADERS, limited=True
        )
    },
    problems=APP_PROBLEMS,
)

GET_WEBHOOK: Final = Operation(
    id="getWebhook",
    tag="webhooks",
    summary="Get an endpoint",
    description="An endpoint, and how it fares.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The endpoint.", schema=webhook_schemas.Webhook, headers=_READ_HEADERS, limited=True
        )
    },
    problems=(*APP_PROBLEMS, "not_found"),
)

CHANGE_WEBHOOK: Final = Operation(
    id="changeWebhook",
    tag="webhooks",
    summary="Change an endpoint",
    description="Another `url` has to answer a challenge before it gets messages. `status` `active` resumes an "
    "endpoint that is failing or disabled: each game is told from where it was told, whatever has happened since; but "
    "of turns only those that run.",
    access="app",
    body=webhook_schemas.WebhookChangeIn,
    needs_body=True,
    responses={
        200: ResponseSpec(
            description="The endpoint.", schema=webhook_schemas.Webhook, headers=_READ_HEADERS, limited=True
        )
    },
    problems=(*_WRITE_PROBLEMS, *BODY_PROBLEMS),
)

DELETE_WEBHOOK: Final = Operation(
    id="deleteWebhook",
    tag="webhooks",
    summary="Delete an endpoint",
    description="Nothing is sent there any more, but for what is under way.",
    access="app",
    responses={204: ResponseSpec(description="It is deleted.", media_type=None, limited=True)},
    problems=("unauthorized", "rate_limited", "not_found", "outcome_unknown"),
)

CHANGE_WEBHOOK_SECRET: Final = Operation(
    id="changeWebhookSecret",
    tag="webhooks",
    summary="Make a new secret",
    description="Returned only here. For 24 hours messages are signed with the old secret, too: "
    "`webhook-signature` has two signatures. The body is empty, or an empty object.",
    access="app",
    body=webhook_schemas.WebhookSecretIn,
    responses={
        201: ResponseSpec(
            description="The endpoint, with its new secret.",
            schema=webhook_schemas.NewWebhook,
            headers=_SECRET_HEADERS,
            limited=True,
        )
    },
    problems=(*_WRITE_PROBLEMS, *BODY_PROBLEMS),
)

PING_WEBHOOK: Final = Operation(
    id="pingWebhook",
    tag="webhooks",
    summary="Send a test message",
    description="`webhook.ping` is sent soon, once, also to an endpoint that is failing or disabled, but not to one "
    "that is unverified before it is verified. How that went is in `deliveries`. The body is empty, or an empty "
    "object.",
    access="app",
    body=webhook_schemas.PingIn,
    responses={
        202: ResponseSpec(description="It will be sent.", schema=webhook_schemas.Ping, limited=True),
    },
    problems=(*_WRITE_PROBLEMS, *BODY_PROBLEMS, "limit_reached"),
)

GET_DELIVERIES: Final = Operation(
    id="getDeliveries",
    tag="webhooks",
    summary="List the last deliveries",
    description="The last 100 attempts to deliver a message to the endpoint.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The attempts.", schema=webhook_schemas.DeliveryList, headers=_READ_HEADERS, limited=True
        )
    },
    problems=(*APP_PROBLEMS, "not_found"),
)

HEADERS: Final = {
    "webhook-id": "The id of the message, the same for all attempts to deliver it: what arrives twice is one message.",
    "webhook-timestamp": "When this attempt was made: seconds since 1970.",
    "webhook-signature": "Signatures of `<webhook-id>.<webhook-timestamp>.<body>`: `v1,` and the HMAC-SHA256 in "
    "Base64, after each other, with a space between. One of them has to be right.",
}
"""The headers of a message."""

DELIVERY: Final = (
    "Any 2xx within ten seconds is a success; a redirect is not. Else it is sent again, after 5 s, 30 s, 2 min, "
    "10 min, 1 h, 3 h, 6 h, 12 h and then every 24 h, each ± 20 %, for three days. 410 disables the endpoint; "
    "`Retry-After` of 429, 502, 503 and 504 is heeded up to an hour."
)


class MessageSpec(NamedTuple):
    """A message that the service sends."""

    name: str
    summary: str
    description: str
    schema: type[Schema]
    example: dict[str, Any]


def _example(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-01-06T19:33:20.000Z", "data": data}


_GAME: Final = {"game": "sT5ZeVYKdGmZtSSr6jNn4gAB", "ref": "table-7", "variant": "domino"}
_TURN: Final = {"to_act": [{"seat": 1, "ref": "bo"}]}
_TOLD: Final = "Messages of a game arrive in the order of `version`, each when the one before was taken."

MESSAGES: Final = (
    MessageSpec(
        "game.turn",
        "It is somebody's turn",
        "A person's or a remote player's turn has begun: what a push message needs. A turn that is over by the time it "
        f"could be told is not told. {_TOLD}",
        webhook_schemas.GameMessage,
        _example(
            "game.turn",
            _GAME | {"version": 12, "seat": 1, "player_ref": "bo"} | _TURN | {"deadline": "2026-01-06T19:34:20.000Z"},
        ),
    ),
    MessageSpec(
        "game.joined",
        "Somebody has joined",
        "A player took an open seat.",
        webhook_schemas.GameMessage,
        _example("game.joined", _GAME | {"version": 2, "seat": 1, "player_ref": "bo", "to_act": []}),
    ),
    MessageSpec(
        "game.round_over",
        "A round is over",
        "The round is scored; the seats in `to_act` may deal the next one: none if that is done, or the match is over.",
        webhook_schemas.GameMessage,
        _example("game.round_over", _GAME | {"version": 31, "to_act": [{"seat": 0}, {"seat": 1, "ref": "bo"}]}),
    ),
    MessageSpec(
        "game.finished",
        "A match is over",
        "The last message of most games.",
        webhook_schemas.GameMessage,
        _example("game.finished", _GAME | {"version": 94, "to_act": []}),
    ),
    MessageSpec(
        "game.timed_out",
        "Somebody's time is over",
        "The time of the seat ended before it moved.",
        webhook_schemas.GameMessage,
        _example("game.timed_out", _GAME | {"version": 13, "seat": 1, "player_ref": "bo"} | _TURN),
    ),
    MessageSpec(
        "game.deleted",
        "A game was deleted",
        "By the application. Nothing of it is left but its id and version.",
        webhook_schemas.DeletedMessage,
        _example("game.deleted", {"game": _GAME["game"], "version": 95}),
    ),
    MessageSpec(
        "webhook.ping",
        "A test",
        "The application asked for it. It is sent once, whether it arrives or not.",
        webhook_schemas.PingMessage,
        _example("webhook.ping", {"webhook": "mfrggzdfmztwq2lk"}),
    ),
    MessageSpec(
        CHALLENGE,
        "A challenge",
        "The first message to a new URL, whatever its `events` are. The answer is 2xx with the challenge, as text or "
        'as `{"challenge": …}`. Without it, the challenge is repeated a few times, each time another one.',
        webhook_schemas.ChallengeMessage,
        _example(CHALLENGE, {"challenge": "6f2b0c3a9d1e4f5a8b7c6d5e4f3a2b1c"}),
    ),
)
"""All messages, in the order of the document."""
