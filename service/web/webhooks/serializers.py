"""Webhooks as JSON objects; a secret is shown only where it was just made."""

from __future__ import annotations

from collections.abc import Sequence

from service.backends.webhooks.ports import DeliveryAttempt, Webhook
from service.games.model.timestamps import format_rfc3339
from service.outgoing.signing import secret_text
from service.web.fields.values import JsonObject


def webhook_json(webhook: Webhook) -> JsonObject:
    """Return an endpoint, without its secret."""
    result: JsonObject = {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "status": webhook.status,
        "created_at": format_rfc3339(webhook.created_at),
    }
    if webhook.failing_since is not None:
        result["failing_since"] = format_rfc3339(webhook.failing_since)
    return result


def new_webhook_json(webhook: Webhook) -> JsonObject:
    """Return an endpoint with the secret that was just made."""
    return webhook_json(webhook) | {"secret": secret_text(webhook.secret)}


def deliveries_json(attempts: Sequence[DeliveryAttempt]) -> JsonObject:
    """Return the last attempts to deliver to an endpoint."""
    return {"deliveries": [_delivery(each) for each in attempts]}


def _delivery(attempt: DeliveryAttempt) -> JsonObject:
    fields = {
        "id": attempt.message,
        "type": attempt.type,
        "game_id": attempt.game,
        "version": attempt.version or None,
        "at": format_rfc3339(attempt.at),
        "milliseconds": attempt.milliseconds,
        "http_status": attempt.status,
        "error": attempt.error,
    }
    return {name: value for name, value in fields.items() if value is not None}
