"""The descriptions of the operations on webhooks."""

from __future__ import annotations

from typing import Final

from service.web.openapi.app_operations import APP_PROBLEMS, REPEAT_PROBLEMS
from service.web.openapi.operations import BODY_PROBLEMS, Operation, ResponseSpec
from service.web.request_parsing import TOKEN_KEY_LENGTH
from service.web.schemas import webhooks as webhook_schemas
from service.web.schemas.requests import EmptyInSchema

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
    body=webhook_schemas.WebhookInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The endpoint, with its secret.",
            schema=webhook_schemas.CreatedWebhookSchema,
            headers=_SECRET_HEADERS,
            replayable=True,
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, *BODY_PROBLEMS, "limit_reached", *REPEAT_PROBLEMS),
)

LIST_WEBHOOKS: Final = Operation(
    id="listWebhooks",
    tag="webhooks",
    summary="List the endpoints",
    description="The endpoints of the application.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The endpoints.", schema=webhook_schemas.WebhookListSchema, headers=_READ_HEADERS, limited=True
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
            description="The endpoint.", schema=webhook_schemas.WebhookSchema, headers=_READ_HEADERS, limited=True
        )
    },
    problems=(*APP_PROBLEMS, "not_found"),
)

CHANGE_WEBHOOK: Final = Operation(
    id="changeWebhook",
    tag="webhooks",
    summary="Change an endpoint",
    description="Another `url` has to answer a challenge before it gets messages. `status` `active` opens an endpoint "
    "at once, whether it is failing, disabled, or has asked for a pause: call it when your backend starts. Each game "
    "is told from where it was told, whatever has happened since; but of turns only those that run. The body may also "
    "be sent as `application/merge-patch+json`.",
    access="app",
    body=webhook_schemas.WebhookChangeInSchema,
    needs_body=True,
    responses={
        200: ResponseSpec(
            description="The endpoint.", schema=webhook_schemas.WebhookSchema, headers=_READ_HEADERS, limited=True
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
    body=EmptyInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The endpoint, with its new secret.",
            schema=webhook_schemas.CreatedWebhookSchema,
            headers=_SECRET_HEADERS,
            replayable=True,
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, *BODY_PROBLEMS, "not_found", "limit_reached", *REPEAT_PROBLEMS),
)

PING_WEBHOOK: Final = Operation(
    id="pingWebhook",
    tag="webhooks",
    summary="Send a test message",
    description="A sample of the `type` is sent soon, once, whatever the `events` of the endpoint are: of the form of "
    "a real message, with invented data, and `data.sample` `true`; without a body `webhook.ping`. It is also sent to "
    "an endpoint that is failing or disabled, but not to one that is unverified before it is verified. How that went "
    "is in `deliveries`. At most ten messages that were asked for wait.",
    access="app",
    body=webhook_schemas.PingInSchema,
    headers=("Idempotency-Key",),
    responses={
        202: ResponseSpec(
            description="It will be sent.",
            schema=webhook_schemas.AskedMessageSchema,
            headers=("Cache-Control",),
            replayable=True,
            limited=True,
        ),
    },
    problems=(*_WRITE_PROBLEMS, *BODY_PROBLEMS, "key_reused", "secret_changed", "limit_reached"),
)

REDELIVER_MESSAGE: Final = Operation(
    id="redeliverMessage",
    tag="webhooks",
    summary="Send a message again",
    description="A message of `deliveries` is sent once more, soon: with the same id, what it told, and signatures by "
    "the current secrets. It is made anew from the game: with the refs of now, and `game.round_over` with who is still "
    "to deal. It may come after later messages of the game, so a `game.turn` may be over. It is sent once, whether it "
    "was delivered before or not, and to the same endpoints as a test message. Of a game that was deleted only "
    "`game.deleted` can be sent again; a challenge cannot. The body is empty, or an empty object.",
    access="app",
    body=EmptyInSchema,
    headers=("Idempotency-Key",),
    responses={
        202: ResponseSpec(
            description="It will be sent.",
            schema=webhook_schemas.AskedMessageSchema,
            headers=("Cache-Control",),
            replayable=True,
            limited=True,
        ),
    },
    problems=(
        *_WRITE_PROBLEMS,
        *BODY_PROBLEMS,
        "forbidden",
        "gone",
        "key_reused",
        "secret_changed",
        "limit_reached",
    ),
)

LIST_DELIVERIES: Final = Operation(
    id="listDeliveries",
    tag="webhooks",
    summary="List the last deliveries",
    description="The last 100 attempts to deliver a message to the endpoint.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The attempts.", schema=webhook_schemas.DeliveryListSchema, headers=_READ_HEADERS, limited=True
        )
    },
    problems=(*APP_PROBLEMS, "not_found"),
)
