"""The schemas and serializers of webhooks; a response contains a secret only when it is new."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from service.backends.values import DeliveryAttempt, Webhook
from service.backends.webhooks.messages import MESSAGE_TYPES, PING
from service.games.model.views import format_rfc3339, without_none
from service.outgoing.addresses import MAX_URL_CHARACTERS
from service.outgoing.sender import secret_text
from service.web.fields.shown import optional, required
from service.web.fields.strict import BoundedList, JsonObject, Length, OneOf, RequestSchema, bounded_list, string


def _url(**more: Any) -> fields.String:
    return string(
        "Where messages are posted: `https`, port 443, a host whose addresses are all public.",
        validate=Length(1, MAX_URL_CHARACTERS),
        **more,
        example="https://club.example/hooks/domino",
    )


def _events(text: str = "", **more: Any) -> BoundedList:
    return bounded_list(
        f"The types of messages that are sent there.{text}",
        fields.String(validate=OneOf(MESSAGE_TYPES)),
        1,
        len(MESSAGE_TYPES),
        **more,
        example=["game.turn", "game.finished"],
    )


class WebhookInSchema(RequestSchema):
    """An endpoint to be registered."""

    url = _url(required=True)
    events = _events(" Default: all that there are then.", load_default=lambda: list(MESSAGE_TYPES))


class WebhookChangeInSchema(RequestSchema):
    """The changes of an endpoint."""

    url = _url()
    events = _events()
    status = string(
        "`active`: messages are sent at once, also deferred ones, for each game after the last one that was "
        "delivered; an endpoint that has not answered its challenge gets another one. `disabled`: none are sent.",
        validate=OneOf(("active", "disabled")),
    )


class PingInSchema(RequestSchema):
    """The message to send as a test."""

    type = string(
        "The type of the message: one of `webhook.ping` or any other that `events` may name.",
        load_default=PING,
        validate=OneOf(MESSAGE_TYPES),
        example="game.finished",
    )


class WebhookSchema(Schema):
    """An endpoint of an application."""

    id = required(str, "The id of the endpoint.", example="mfrggzdfmztwq2lk")
    url = required(str, "Where messages are posted.")
    events = required([str], "The types of messages that are sent there.")
    status = required(
        str,
        "`unverified`: it has not answered its challenge yet; `active`; `failing`: after five failures in a row, "
        "one message is tried at least once a minute; `disabled`: by the application, with 410, or after failing "
        "for three days.",
    )
    failing_since = optional(datetime, "When the first of the last failures in a row was.")
    created_at = required(datetime, "When it was registered.")


class CreatedWebhookSchema(WebhookSchema):
    """An endpoint with its secret, which is returned only here."""

    secret = required(str, "Signs the messages (Standard Webhooks); returned only here.", example="whsec_…")


class WebhookListSchema(Schema):
    """The endpoints of an application."""

    webhooks = required([WebhookSchema], "The oldest first.")


class AskedMessageSchema(Schema):
    """A requested message, which will be sent soon."""

    id = required(str, "The id of the message.", example="msg_…")


class DeliverySchema(Schema):
    """One attempt to deliver a message."""

    id = required(str, "The id of the message, the same for all attempts.")
    type = required(str, "The type of the message.", example="game.turn")
    game_id = optional(str, "The id of the game, if it is about one; absent for a sample.")
    version = optional(int, "The version of the game that it reports.", example=17)
    at = required(datetime, "When the attempt began.")
    milliseconds = required(int, "How long it took.")
    http_status = optional(int, "The status of the answer, if there was one.", example=204)
    error = optional(
        str,
        "What was wrong; absent after a success. `status`: not 2xx; `challenge`: not answered with the challenge; "
        "`given_up`: it failed for three days, and is not sent again; `gone`: it was requested again, but its game "
        "was deleted or had expired by then, so nothing was sent. Without an answer: `refused_address`, "
        "`lookup`, `connection`, `tls`, `timeout`, `too_large`, `not_http`.",
        example="timeout",
    )


class DeliveryListSchema(Schema):
    """The last attempts to deliver to an endpoint."""

    deliveries = required([DeliverySchema], "The last 100 attempts, the newest first.")


def webhook_json(webhook: Webhook) -> JsonObject:
    """Return an endpoint, without its secret."""
    shown = {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "status": webhook.status,
        "created_at": format_rfc3339(webhook.created_at),
        "failing_since": None if webhook.failing_since is None else format_rfc3339(webhook.failing_since),
    }
    return without_none(shown)


def new_webhook_json(webhook: Webhook) -> JsonObject:
    """Return an endpoint with its new secret."""
    return webhook_json(webhook) | {"secret": secret_text(webhook.secret)}


def delivery_json(attempt: DeliveryAttempt) -> JsonObject:
    """Return an attempt to deliver to an endpoint."""
    shown = {
        "id": attempt.message,
        "type": attempt.type,
        "game_id": attempt.game,
        "version": attempt.version or None,
        "at": format_rfc3339(attempt.at),
        "milliseconds": attempt.milliseconds,
        "http_status": attempt.status,
        "error": attempt.error,
    }
    return without_none(shown)
