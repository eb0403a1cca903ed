"""The fields of answers that several resources share: a tile, a seat, who is to act, a digest.

Owns the form of each.
"""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields

from service.web.fields.strict import doc


def shown_tile(text: str, **arguments: Any) -> fields.String:
    """Return the name of a tile."""
    return fields.String(metadata=doc(text, example="5-12"), **arguments)


def seat_field(text: str = "A seat, from 0, clockwise.", **arguments: Any) -> fields.Integer:
    """Return the number of a seat."""
    return fields.Integer(metadata=doc(text, minimum=0, example=2), **arguments)


class SeatedSchema(Schema):
    """A seat."""

    seat = seat_field(required=True)


def to_act_field(text: str, **arguments: Any) -> fields.List[Any]:
    """Return the seats that may move."""
    return fields.List(fields.Integer(), metadata=doc(text, example=[2]), **arguments)


TO_ACT: Final = (
    "The seats that may move now: the one whose turn it is; between two rounds all that may deal; none while seats are "
    "open, and when the match is over."
)


def digest(text: str, **arguments: Any) -> fields.String:
    """256 bits in hexadecimal."""
    return fields.String(metadata=doc(text, pattern="^[0-9a-f]{64}$", example="9f" * 32), **arguments)


def rematch_of_field(of: str) -> fields.String:
    """Return the id of the game that a rematch follows; ``of`` says where it is told."""
    text = f"{of}: the id of the finished game that it follows."
    return fields.String(metadata=doc(text, example="5m1Gd5tIvN3vYhYkS0oJGA_1"))
