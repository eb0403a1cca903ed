"""``/v1/webhooks``: the endpoints of an application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from flask import Blueprint

from service.backends.facade import ENDPOINT_BYTES, REQUEST_BYTES
from service.backends.values import Backend
from service.backends.webhooks.endpoints import ASK_PING, CHANGE_SECRET, CREATE, SEND_AGAIN, WebhookChange
from service.engine.errors import Reason
from service.games.model.errors import NotFound
from service.outgoing.addresses import RefusedUrl
from service.web.fields.strict import EmptyInSchema
from service.web.http.body import read_json, read_json_or_nothing, read_nothing, validate
from service.web.http.errors import InvalidBody
from service.web.http.headers import idempotency, negotiate
from service.web.http.responses import JSON, RawResponse, accepted, created_secret, no_content, ok
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services
from service.web.webhooks.schemas import (
    AskedMessageSchema,
    CreatedWebhookSchema,
    DeliveryListSchema,
    PingInSchema,
    WebhookChangeInSchema,
    WebhookInSchema,
    WebhookListSchema,
    WebhookSchema,
    delivery_json,
    new_webhook_json,
    webhook_json,
)

blueprint: Final = Blueprint("webhooks", __name__)

_webhook_in: Final = WebhookInSchema()
_change_in: Final = WebhookChangeInSchema()
_ping_in: Final = PingInSchema()


@blueprint.post("/v1/webhooks")
@Operation(
    id="createWebhook",
    tag="webhooks",
    access="app",
    headers=("Idempotency-Key",),
    body=WebhookInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The endpoint, with its secret.", schema=CreatedWebhookSchema)},
    own_problems=("limit_reached", "lookup_unavailable"),
    stores=True,
)
def create_webhook(services: Services, backend: Backend) -> RawResponse:
    """Register an endpoint.

    Messages about the games of the application are posted there, once it has answered a challenge: it gets
    `webhook.challenge`, and must answer with the challenge, as text or as `{"challenge": …}`. The secret by which it
    recognises messages is returned only here. An application has at most five endpoints.
    """
    negotiate(JSON)
    body = read_json()
    requested = validate(_webhook_in, body)
    key = idempotency(body)
    webhooks, size = services.backends.webhooks, ENDPOINT_BYTES + 2 * len(requested["url"])
    create = partial(webhooks.create, backend.id, requested["url"], requested["events"], key)
    is_repeated = partial(webhooks.is_repeated, backend.id, key, CREATE)
    with _checked_url():
        webhook, replayed = services.backends.store(backend.id, size, create, is_repeated)
    return created_secret(new_webhook_json(webhook), f"/v1/webhooks/{webhook.id}", replayed=replayed)


@blueprint.get("/v1/webhooks")
@Operation(
    id="listWebhooks",
    tag="webhooks",
    access="app",
    responses={200: ResponseSpec(description="The endpoints.", schema=WebhookListSchema)},
)
def list_webhooks(services: Services, backend: Backend) -> RawResponse:
    """List the endpoints.

    The endpoints of the application.
    """
    negotiate(JSON)
    return ok({"webhooks": [webhook_json(webhook) for webhook in services.backends.webhooks.all(backend.id)]})


@blueprint.get("/v1/webhooks/<webhook>")
@Operation(
    id="getWebhook",
    tag="webhooks",
    access="app",
    responses={200: ResponseSpec(description="The endpoint.", schema=WebhookSchema)},
    own_problems=("not_found",),
)
def get_webhook(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """Get an endpoint.

    An endpoint and its status.
    """
    negotiate(JSON)
    return ok(webhook_json(services.backends.webhooks.get(backend.id, webhook)))


@blueprint.patch("/v1/webhooks/<webhook>")
@Operation(
    id="changeWebhook",
    tag="webhooks",
    access="app",
    body=WebhookChangeInSchema,
    needs_body=True,
    responses={200: ResponseSpec(description="The endpoint.", schema=WebhookSchema)},
    own_problems=("not_found", "limit_reached", "outcome_unknown", "lookup_unavailable"),
)
def change_webhook(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """Change an endpoint.

    Another `url` has to answer a challenge before it gets messages. `status` `active` opens an endpoint at once,
    whether it is failing, disabled, or has asked for a pause: call it when your backend starts. The messages about each
    game continue after the last one that was delivered, whatever has happened since, but only with turns that are still
    running. The body may also be sent as `application/merge-patch+json`.
    """
    negotiate(JSON)
    requested = validate(_change_in, read_json())
    status = requested.get("status")
    change = WebhookChange(
        requested.get("url"), requested.get("events"), None if status is None else status == "active"
    )
    with _checked_url():
        return ok(webhook_json(services.backends.webhooks.change(backend.id, webhook, change)))


@blueprint.delete("/v1/webhooks/<webhook>")
@Operation(
    id="deleteWebhook",
    tag="webhooks",
    access="app",
    responses={204: ResponseSpec(description="It is deleted.", media_type=None)},
    own_problems=("not_found", "outcome_unknown"),
)
def delete_webhook(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """Delete an endpoint.

    No more messages are sent to it, except those that are being sent already.
    """
    services.backends.webhooks.delete(backend.id, webhook)
    return no_content()


@blueprint.post("/v1/webhooks/<webhook>/secret")
@Operation(
    id="changeWebhookSecret",
    tag="webhooks",
    access="app",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The endpoint, with its new secret.", schema=CreatedWebhookSchema)},
    own_problems=("not_found", "limit_reached"),
    stores=True,
)
def change_webhook_secret(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """Make a new secret.

    Returned only here. For 24 hours messages are signed with the old secret, too: `webhook-signature` has two
    signatures. The body is empty, or an empty object.
    """
    negotiate(JSON)
    key = idempotency(read_nothing())
    webhooks = services.backends.webhooks
    change = partial(webhooks.change_secret, backend.id, webhook, key)
    is_repeated = partial(webhooks.is_repeated, backend.id, key, CHANGE_SECRET, webhook)
    changed, replayed = services.backends.store(backend.id, REQUEST_BYTES, change, is_repeated)
    return created_secret(new_webhook_json(changed), f"/v1/webhooks/{changed.id}", replayed=replayed)


@blueprint.post("/v1/webhooks/<webhook>/pings")
@Operation(
    id="pingWebhook",
    tag="webhooks",
    access="app",
    headers=("Idempotency-Key",),
    body=PingInSchema,
    responses={202: ResponseSpec(description="It will be sent.", schema=AskedMessageSchema)},
    own_problems=("not_found", "limit_reached"),
    stores=True,
)
def ping_webhook(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """Send a test message.

    Sends a sample message of this `type` soon, once, whatever the `events` of the endpoint are: in the form of a real
    message, with invented data, and `data.sample` `true`; without a body `webhook.ping`. It is also sent to an endpoint
    that is failing or disabled; to an unverified one only after it is verified. The result is in `deliveries`. At most
    twenty requested messages can wait.
    """
    negotiate(JSON)
    body = read_json_or_nothing()
    kind = validate(_ping_in, body)["type"]
    key = idempotency(body)
    webhooks = services.backends.webhooks
    ask = partial(webhooks.ping, backend.id, webhook, kind, key)
    is_repeated = partial(webhooks.is_repeated, backend.id, key, ASK_PING, webhook)
    ping, replayed = services.backends.store(backend.id, REQUEST_BYTES, ask, is_repeated)
    return accepted({"id": ping}, replayed=replayed)


@blueprint.post("/v1/webhooks/<webhook>/deliveries/<message>/attempts")
@Operation(
    id="redeliverMessage",
    tag="webhooks",
    access="app",
    headers=("Idempotency-Key",),
    body=EmptyInSchema,
    responses={202: ResponseSpec(description="It will be sent.", schema=AskedMessageSchema)},
    own_problems=("not_found", "forbidden", "gone", "limit_reached"),
    stores=True,
)
def redeliver_message(services: Services, backend: Backend, webhook: str, message: str) -> RawResponse:
    """Send a message again.

    Sends a message of `deliveries` once more, soon: with the same id, the same content, and signatures by the current
    secrets. It is made anew from the game: with the current refs, and `game.round_over` with the seats that still have
    to deal. It may arrive after later messages of the game, so the turn of a `game.turn` may be over. It is sent once,
    whether it was delivered before or not; an endpoint gets it under the same conditions as a test message. Of a game
    that was deleted only `game.deleted` can be sent again; a challenge cannot. The body is empty, or an empty object.
    """
    negotiate(JSON)
    key = idempotency(read_nothing())

    def check_game(game: str) -> None:
        if services.games.access.authenticate_application(game, backend.id) is None:
            raise NotFound("game_expired")

    webhooks = services.backends.webhooks
    send = partial(webhooks.send_again, backend.id, webhook, message, check_game, key=key)
    is_repeated = partial(webhooks.is_repeated, backend.id, key, SEND_AGAIN, webhook, message)
    message_id, replayed = services.backends.store(backend.id, REQUEST_BYTES, send, is_repeated)
    return accepted({"id": message_id}, replayed=replayed)


@blueprint.get("/v1/webhooks/<webhook>/deliveries")
@Operation(
    id="listDeliveries",
    tag="webhooks",
    access="app",
    responses={200: ResponseSpec(description="The attempts.", schema=DeliveryListSchema)},
    own_problems=("not_found",),
)
def list_deliveries(services: Services, backend: Backend, webhook: str) -> RawResponse:
    """List the last deliveries.

    The last 100 attempts to deliver a message to the endpoint.
    """
    negotiate(JSON)
    attempts = services.backends.webhooks.attempts(backend.id, webhook)
    return ok({"deliveries": [delivery_json(attempt) for attempt in attempts]})


@contextmanager
def _checked_url() -> Iterator[None]:
    """Turn ``RefusedUrl`` into ``InvalidBody`` for the field ``url``."""
    try:
        yield
    except RefusedUrl as error:
        raise InvalidBody({"url": [Reason(f"url_{error.reason}")]}) from None
