"""The schemas of seats as an application is told of them.

Owns how a seat is told with what the application calls its player.
"""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from service.web.fields.shown import seat_field
from service.web.fields.strict import doc


class SeatRefSchema(Schema):
    """A seat, and what the application calls its player."""

    seat = seat_field(required=True)
    ref = fields.String(metadata=doc("Absent where the player has none.", example="player-4711"))


class SeatResultSchema(SeatRefSchema):
    """What a match has come to for a seat, and what the application calls its player."""

    total = fields.Integer(required=True, metadata=doc("The match score.", example=104))
    rank = fields.Integer(required=True, metadata=doc("From 1; ties share a rank.", minimum=1, example=1))


def waiting_for_field(more: str = "", **arguments: Any) -> fields.List[Any]:
    """Return the seats whose players have to be called, with refs; ``more`` says more of them."""
    text = (
        "Those of `to_act` whose player has to be called, with what the application calls the player: no computer "
        f"player, and nobody who is away.{more}"
    )
    return fields.List(fields.Nested(SeatRefSchema), metadata=doc(text), **arguments)


def winners_field(text: str) -> fields.List[Any]:
    """Return the seats that have won."""
    return fields.List(fields.Integer(), metadata=doc(text, example=[1]))


def results_field(text: str) -> fields.List[Any]:
    """Return the results of all seats."""
    return fields.List(fields.Nested(SeatResultSchema), metadata=doc(text))
