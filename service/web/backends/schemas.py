"""The schemas and serializers of applications and their keys; no response contains the digest of a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from service.backends.keys import DEFAULT_OVERLAP_SECONDS, MAX_KEYS, NewKey
from service.backends.values import ATTEMPTS_KEPT, FEED_ITEMS, MAX_REPEATS, Backend, KeyRecord, Usage
from service.backends.webhooks.endpoints import MAX_REQUESTED, MAX_WEBHOOKS
from service.games.model.views import format_rfc3339, without_none
from service.web.fields.shown import optional, required
from service.web.fields.strict import JsonObject, Range, RequestSchema, integer

_MAX_OVERLAP_SECONDS: Final = 30 * 86_400


class KeyInSchema(RequestSchema):
    """A new key, and how long the others stay valid."""

    overlap = integer(
        "Seconds for which the other keys stay valid; `0`: they are revoked at once.",
        load_default=DEFAULT_OVERLAP_SECONDS,
        validate=Range(0, _MAX_OVERLAP_SECONDS),
    )


class KeySchema(Schema):
    """A key, without its secret."""

    suffix = required(str, "The last characters of the key, which distinguish it from the others.", example="Zr0q8T")
    created_at = required(datetime, "When it was made.")
    expires_at = optional(datetime, "When it ceases to be valid; absent without an end.")


class CreatedKeySchema(KeySchema):
    """A new key."""

    key = required(str, "Sent as `Authorization: Bearer`; returned only here.", example="app_…")


def _count(text: str, example: int) -> fields.Field[Any]:
    return required(int, text, minimum=0, example=example)


class ApplicationUsageSchema(Schema):
    """The data stored for an application, as far as its list of games is up to date."""

    games = _count("Games that have neither expired nor been deleted, finished ones included.", 120)
    bytes = _count(
        "Bytes of memory that the store used for the states and events of these games when the list of games was last "
        "updated for each. A game that has expired may count for a while.",
        1_480_000,
    )
    messages = _count("Waiting messages: for each endpoint, the number of games with messages still to be sent.", 3)


class ApplicationLimitsSchema(Schema):
    """The limits of an application."""

    requests_per_minute = optional(int, "Requests in a minute; absent without a limit.", minimum=1, example=60_000)
    games_per_minute = optional(
        int, "Requests to create or join a game in a minute; absent without a limit.", minimum=1, example=6_000
    )
    bytes_per_day = optional(
        int, "Bytes that it may store in a day of UTC; absent without a limit.", minimum=1, example=100_000_000
    )
    keys = _count("Keys that are valid at a time.", 10)
    webhooks = _count("Endpoints.", 5)
    asked_messages = _count("Of an endpoint, samples and repeated messages that wait.", 20)
    deliveries = _count("Of an endpoint, the last attempts that are shown.", 100)
    feed_items = _count("The last items that the feed keeps.", 100_000)
    idempotency_keys = _count(
        "Requests below `/v1/app` and `/v1/webhooks` in 24 hours that have an `Idempotency-Key`.", 500
    )


class ApplicationInfoSchema(Schema):
    """An application."""

    id = required(str, "The id of the application.")
    name = required(str, "Its name.", example="Checkers Club")
    created_at = required(datetime, "When it was made.")
    keys = required([KeySchema], "Its valid keys, the oldest first.")
    usage = required(ApplicationUsageSchema, "The data stored for it.")
    limits = required(ApplicationLimitsSchema, "Its limits.")


def application_json(
    backend: Backend, keys: Sequence[KeyRecord], usage: Usage, limits: dict[str, int | None]
) -> JsonObject:
    """Return an application with its valid keys, its usage, and its own ``limits``, of which ``None`` is no limit."""
    same_for_all = {
        "keys": MAX_KEYS,
        "webhooks": MAX_WEBHOOKS,
        "asked_messages": MAX_REQUESTED,
        "deliveries": ATTEMPTS_KEPT,
        "feed_items": FEED_ITEMS,
        "idempotency_keys": MAX_REPEATS,
    }
    return {
        "id": backend.id,
        "name": backend.name,
        "created_at": format_rfc3339(backend.created_at),
        "keys": [_key(key) for key in keys],
        "usage": usage._asdict(),
        "limits": without_none(limits) | same_for_all,
    }


def new_key_json(new: NewKey) -> JsonObject:
    """Return a new key with its secret, which no other response contains."""
    return {"key": new.key} | _key(new.record)


def _key(record: KeyRecord) -> JsonObject:
    result: JsonObject = {"suffix": record.suffix, "created_at": format_rfc3339(record.created_at)}
    if record.expires_at is not None:
        result["expires_at"] = format_rfc3339(record.expires_at)
    return result
