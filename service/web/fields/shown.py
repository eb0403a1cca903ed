"""Schema fields that several resources share: tiles, seats, digests, refs, and parameters of queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from service.texts import LANGUAGES, language_names
from service.web.fields.strict import QueryBoolean, doc, query_boolean


def required(kind: type | list[Any], text: str, **more: Any) -> fields.Field[Any]:
    """Return a field that every object of a response has; ``kind``, ``text`` and ``more`` as for ``optional``."""
    return _field(kind, required=True, metadata=doc(text, **more))


def optional(kind: type | list[Any], text: str, **more: Any) -> fields.Field[Any]:
    """Return a field that not every object of a response has; ``text`` says when.

    ``kind``: the type of its value, such as ``str``; the schema of an object; a class of fields; or a list with one of
    these, or with a field.
    ``more``: other metadata for the document.
    """
    return _field(kind, metadata=doc(text, **more))


def _field(kind: type | list[Any], **arguments: Any) -> fields.Field[Any]:
    if isinstance(kind, list):
        (element,) = kind
        return fields.List(element if isinstance(element, fields.Field) else _field(element), **arguments)
    if issubclass(kind, Schema):
        return fields.Nested(kind, **arguments)
    return kind(**arguments) if issubclass(kind, fields.Field) else Schema.TYPE_MAPPING[kind](**arguments)


TILE: Final = optional(str, "A tile.", example="5-12")


def seat_field(text: str = "A seat, from 0, clockwise.", **arguments: Any) -> fields.Integer:
    """Return the field of the number of a seat."""
    return fields.Integer(metadata=doc(text, minimum=0, example=2), **arguments)


class SeatedSchema(Schema):
    """A seat."""

    seat = seat_field(required=True)


TO_ACT: Final = (
    "The seats that may move now: the one whose turn it is; between two rounds all that may deal; none while seats are "
    "open, and when the match is over."
)


def digest(text: str, **arguments: Any) -> fields.String:
    """Return the field of 256 bits in hexadecimal."""
    return fields.String(metadata=doc(text, pattern="^[0-9a-f]{64}$", example="9f" * 32), **arguments)


def rematch_of_field(prefix: str) -> fields.Field[Any]:
    """Return the field of the id of the game that a rematch follows; ``prefix`` begins its description."""
    text = f"{prefix}: the id of the finished game that it follows."
    return optional(str, text, example="5m1Gd5tIvN3vYhYkS0oJGA_1")


FILLS_AT: Final = optional(
    datetime, "When computer players take the open seats; only while there are any, and somebody has sat down."
)


# The schemas of seats in responses to applications.


class SeatRefSchema(SeatedSchema):
    """A seat, and what the application calls its player."""

    ref = optional(str, "Absent where the player has none.", example="player-4711")


class SeatResultSchema(SeatRefSchema):
    """The result of a seat in a match, and what the application calls its player."""

    total = required(int, "The match score.", example=104)
    rank = required(int, "From 1; ties share a rank.", minimum=1, example=1)


def waiting_for_field(more: str = "", **arguments: Any) -> fields.List[Any]:
    """Return the field of the seats whose players must be called, with refs; ``more`` ends its description."""
    text = (
        "The seats of `to_act` whose players must be notified, with their refs: no computer players, and no players "
        f"who are away.{more}"
    )
    return fields.List(fields.Nested(SeatRefSchema), metadata=doc(text), **arguments)


# The query parameters that several resources share.


MAX_WAIT_SECONDS: Final = 25
"""Maximum duration of a long poll."""


def text_field(where: str) -> QueryBoolean:
    """Return the parameter that requests texts for people; ``where`` says where the response has them."""
    return query_boolean(
        f"Also a sentence for people {where}, in {language_names(LANGUAGES)} by `Accept-Language`.", load_default=False
    )
