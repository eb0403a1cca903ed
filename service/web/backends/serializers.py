"""Applications and their keys as JSON objects; no digest of a key is shown."""

from __future__ import annotations

from collections.abc import Sequence

from service.backends.index.ports import FEED_ITEMS, Usage
from service.backends.keys import MAX_KEYS, NewKey
from service.backends.ports import MOST_REPEATS, Backend, KeyRecord
from service.backends.webhooks.endpoints import MOST_ASKED, MOST_WEBHOOKS
from service.backends.webhooks.ports import ATTEMPTS_KEPT
from service.games.model.timestamps import format_rfc3339
from service.web.fields.values import JsonObject


def application_json(
    backend: Backend,
    keys: Sequence[KeyRecord],
    usage: Usage,
    *,
    requests_per_minute: int | None,
    games_per_minute: int | None,
    bytes_per_day: int | None,
) -> JsonObject:
    """Return an application with its valid keys, what is kept for it, and its limits: ``None`` is none."""
    limits = {
        "requests_per_minute": requests_per_minute,
        "games_per_minute": games_per_minute,
        "bytes_per_day": bytes_per_day,
        "keys": MAX_KEYS,
        "webhooks": MOST_WEBHOOKS,
        "asked_messages": MOST_ASKED,
        "deliveries": ATTEMPTS_KEPT,
        "feed_items": FEED_ITEMS,
        "idempotency_keys": MOST_REPEATS,
    }
    return {
        "id": backend.id,
        "name": backend.name,
        "created_at": format_rfc3339(backend.created_at),
        "keys": [_key(each) for each in keys],
        "usage": usage._asdict(),
        "limits": {name: value for name, value in limits.items() if value is not None},
    }


def new_key_json(new: NewKey) -> JsonObject:
    """Return a key just made, which is returned only here."""
    return {"key": new.key} | _key(new.record)


def _key(record: KeyRecord) -> JsonObject:
    result: JsonObject = {"suffix": record.suffix, "created_at": format_rfc3339(record.created_at)}
    if record.expires_at is not None:
        result["expires_at"] = format_rfc3339(record.expires_at)
    return result
