"""``/v1/webhooks``: the endpoints of an application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from flask import Blueprint

from service.backends.ports import Application
from service.backends.webhooks.endpoints import WebhookChange
from service.engine.errors import Reason
from service.games.model.errors import NotFound
from service.outgoing.addresses import RefusedUrl
from service.web.access import operation
from service.web.openapi.webhook_operations import (
    CHANGE_WEBHOOK,
    CHANGE_WEBHOOK_SECRET,
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    GET_WEBHOOK,
    LIST_DELIVERIES,
    LIST_WEBHOOKS,
    PING_WEBHOOK,
    REDELIVER_MESSAGE,
)
from service.web.problems import InvalidBody
from service.web.request_parsing import idempotency, negotiate, read_json, read_json_or_nothing, validate
from service.web.responses import JSON, RawResponse, accepted, created_secret, no_content, ok
from service.web.schemas import webhooks as webhook_schemas
from service.web.schemas.requests import EmptyInSchema
from service.web.serializers.webhooks import deliveries_json, new_webhook_json, webhook_json
from service.web.services import Services

blueprint: Final = Blueprint("webhooks", __name__)

_webhook_in: Final = webhook_schemas.WebhookInSchema()
_change_in: Final = webhook_schemas.WebhookChangeInSchema()
_empty_in: Final = EmptyInSchema()
_ping_in: Final = webhook_schemas.PingInSchema()

_REFUSED: Final = {
    "too_long": "url_too_long",
    "malformed": "url_malformed",
    "not_https": "url_not_https",
    "credentials": "url_credentials",
    "port": "url_port",
    "not_public": "url_not_public",
    "unresolved": "url_unresolved",
}
"""The reason by why a URL is refused."""


@blueprint.post("/v1/webhooks")
@operation(CREATE_WEBHOOK)
def create_webhook(services: Services, application: Application) -> RawResponse:
    """Register an endpoint."""
    negotiate(JSON)
    body = read_json()
    wanted = validate(_webhook_in, body)
    key = idempotency(body, CREATE_WEBHOOK.min_key_length)
    with _checked_url():
        webhook, replayed = services.apps.webhooks.create(application.id, wanted["url"], wanted["events"], key)
    return created_secret(new_webhook_json(webhook), f"/v1/webhooks/{webhook.id}", replayed=replayed)


@blueprint.get("/v1/webhooks")
@operation(LIST_WEBHOOKS)
def list_webhooks(services: Services, application: Application) -> RawResponse:
    """List the endpoints."""
    negotiate(JSON)
    return ok({"webhooks": [webhook_json(each) for each in services.apps.webhooks.all(application.id)]})


@blueprint.get("/v1/webhooks/<webhook>")
@operation(GET_WEBHOOK)
def get_webhook(services: Services, application: Application, webhook: str) -> RawResponse:
    """Get an endpoint."""
    negotiate(JSON)
    return ok(webhook_json(services.apps.webhooks.get(application.id, webhook)))


@blueprint.patch("/v1/webhooks/<webhook>")
@operation(CHANGE_WEBHOOK)
def change_webhook(services: Services, application: Application, webhook: str) -> RawResponse:
    """Change an endpoint."""
    negotiate(JSON)
    wanted = validate(_change_in, read_json())
    status = wanted.get("status")
    change = WebhookChange(wanted.get("url"), wanted.get("events"), None if status is None else status == "active")
    with _checked_url():
        return ok(webhook_json(services.apps.webhooks.change(application.id, webhook, change)))


@blueprint.delete("/v1/webhooks/<webhook>")
@operation(DELETE_WEBHOOK)
def delete_webhook(services: Services, application: Application, webhook: str) -> RawResponse:
    """Delete an endpoint."""
    services.apps.webhooks.delete(application.id, webhook)
    return no_content()


@blueprint.post("/v1/webhooks/<webhook>/secret")
@operation(CHANGE_WEBHOOK_SECRET)
def change_webhook_secret(services: Services, application: Application, webhook: str) -> RawResponse:
    """Make a new secret."""
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    key = idempotency(body, CHANGE_WEBHOOK_SECRET.min_key_length)
    changed, replayed = services.apps.webhooks.change_secret(application.id, webhook, key)
    return created_secret(new_webhook_json(changed), f"/v1/webhooks/{changed.id}", replayed=replayed)


@blueprint.post("/v1/webhooks/<webhook>/pings")
@operation(PING_WEBHOOK)
def ping_webhook(services: Services, application: Application, webhook: str) -> RawResponse:
    """Send a test message."""
    negotiate(JSON)
    body = read_json_or_nothing()
    kind = validate(_ping_in, body)["type"]
    key = idempotency(body, PING_WEBHOOK.min_key_length)
    ping, replayed = services.apps.webhooks.ping(application.id, webhook, kind, key)
    return accepted({"id": ping}, replayed=replayed)


@blueprint.post("/v1/webhooks/<webhook>/deliveries/<message>/attempts")
@operation(REDELIVER_MESSAGE)
def redeliver_message(services: Services, application: Application, webhook: str, message: str) -> RawResponse:
    """Send a message again."""
    negotiate(JSON)
    body = read_json_or_nothing()
    validate(_empty_in, body)
    key = idempotency(body, REDELIVER_MESSAGE.min_key_length)

    def check_game(game: str) -> None:
        if services.games.access.of_application(game, application.id) is None:
            raise NotFound("game_expired")

    asked, replayed = services.apps.webhooks.send_again(application.id, webhook, message, check_game, key)
    return accepted({"id": asked}, replayed=replayed)


@blueprint.get("/v1/webhooks/<webhook>/deliveries")
@operation(LIST_DELIVERIES)
def list_deliveries(services: Services, application: Application, webhook: str) -> RawResponse:
    """List the last deliveries."""
    negotiate(JSON)
    return ok(deliveries_json(services.apps.webhooks.attempts(application.id, webhook)))


@contextmanager
def _checked_url() -> Iterator[None]:
    """Turn the refusal of a URL into one of its field."""
    try:
        yield
    except RefusedUrl as error:
        raise InvalidBody({"url": [Reason(_REFUSED[error.reason])]}) from None
