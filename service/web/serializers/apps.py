"""Applications and their keys as JSON objects; no digest of a key is shown."""

from __future__ import annotations

from collections.abc import Sequence

from service.apps.applications import NewKey
from service.apps.ports import Application, KeyRecord
from service.games.timestamps import format_rfc3339
from service.web.serializers.values import JsonObject


def registered_application_json(new: NewKey) -> JsonObject:
    """An application just registered, with its first key, which is returned only here."""
    application = new.application
    return {
        "id": application.id,
        "name": application.name,
        "key": new.key,
        "created_at": format_rfc3339(application.created_at),
    }


def application_json(application: Application, keys: Sequence[KeyRecord]) -> JsonObject:
    """An application with its valid keys."""
    return {
        "id": application.id,
        "name": application.name,
        "created_at": format_rfc3339(application.created_at),
        "keys": [_key(each) for each in keys],
    }


def new_key_json(new: NewKey) -> JsonObject:
    """A key just made, which is returned only here."""
    return {"key": new.key} | _key(new.record)


def _key(record: KeyRecord) -> JsonObject:
    result: JsonObject = {"hint": record.hint, "created_at": format_rfc3339(record.created_at)}
    if record.expires_at is not None:
        result["expires_at"] = format_rfc3339(record.expires_at)
    return result
