"""The schemas of applications and their keys, of requests and of responses."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.apps.applications import DEFAULT_OVERLAP_SECONDS
from service.web.schemas.fields import RequestSchema, StrictInteger, doc
from service.web.schemas.names import name_field
from service.web.schemas.validation import Range

_MAX_OVERLAP_SECONDS: Final = 30 * 86_400


class ApplicationIn(RequestSchema):
    """An application to be registered."""

    name = name_field(
        "The name of the application, for the operator of the service.", example="Checkers Club", required=True
    )


class KeyIn(RequestSchema):
    """A new key, and what becomes of the others."""

    overlap = StrictInteger(
        load_default=DEFAULT_OVERLAP_SECONDS,
        validate=Range(0, _MAX_OVERLAP_SECONDS),
        metadata=doc(
            "Seconds for which the other keys stay valid; `0`: they are revoked at once.",
            default=DEFAULT_OVERLAP_SECONDS,
        ),
    )


def _hint(text: str) -> fields.String:
    return fields.String(required=True, metadata=doc(text, example="Zr0q8T"))


def _key() -> fields.String:
    return fields.String(
        required=True, metadata=doc("Sent as `Authorization: Bearer`; returned only here.", example="app_…")
    )


class CreatedApplication(Schema):
    """An application just registered, with its first key."""

    id = fields.String(required=True, metadata=doc("The id of the application."))
    name = fields.String(required=True, metadata=doc("Its name.", example="Checkers Club"))
    key = _key()
    created_at = fields.DateTime(required=True, metadata=doc("When it was registered."))


class Key(Schema):
    """A key, without its secret."""

    hint = _hint("The beginning of the secret part of the key, by which it is told from the others.")
    created_at = fields.DateTime(required=True, metadata=doc("When it was made."))
    expires_at = fields.DateTime(metadata=doc("When it ceases to be valid; absent without an end."))


class CreatedKey(Key):
    """A key just made."""

    key = _key()


class ApplicationInfo(Schema):
    """An application."""

    id = fields.String(required=True, metadata=doc("The id of the application."))
    name = fields.String(required=True, metadata=doc("Its name.", example="Checkers Club"))
    created_at = fields.DateTime(required=True, metadata=doc("When it was registered."))
    keys = fields.List(fields.Nested(Key), required=True, metadata=doc("Its valid keys, the oldest first."))
