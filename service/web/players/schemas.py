"""The schemas of the data stored about a player of an application."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.web.fields.shown import seat_field
from service.web.fields.strict import Length, QueryInteger, Range, RequestSchema, doc
from service.web.listing.schemas import MAX_CURSOR_CHARS, MAX_LISTED

_STATUSES: Final = "`waiting`, `playing`, `round_over` or `finished`."


class PlayerQuerySchema(RequestSchema):
    """The requested page of the data stored about a person."""

    limit = QueryInteger(
        load_default=50,
        validate=Range(1, MAX_LISTED),
        metadata=doc("The maximum number of games in a page. A page may have fewer, or none, and yet a `next`."),
    )
    cursor = fields.String(
        validate=Length(1, MAX_CURSOR_CHARS), metadata=doc("`next` of the page before, with the same other parameters.")
    )


class PlayerSeatSchema(Schema):
    """A seat of the person, with its result once the match is over."""

    seat = seat_field(required=True)
    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))
    kind = fields.String(required=True, metadata=doc("`human`, `bot` or `open`.", example="human"))
    total = fields.Integer(required=True, metadata=doc("The match score so far.", example=9))
    rank = fields.Integer(
        metadata=doc("The place in the match; absent until it is over.", minimum=1, example=1),
    )
    active = fields.Boolean(required=True, metadata=doc("Whether the player is still in the match.", example=True))


class PlayerGameSchema(Schema):
    """A game of the person, as it was a moment ago."""

    id = fields.String(required=True, metadata=doc("The id of the game."))
    ref = fields.String(metadata=doc("What the application calls the game.", example="match-17"))
    variant = fields.String(required=True, metadata=doc("Which game is played.", example="fido"))
    status = fields.String(required=True, metadata=doc(_STATUSES, example="playing"))
    version = fields.Integer(required=True, metadata=doc("The number of the last event.", minimum=1, example=17))
    round = fields.Integer(required=True, metadata=doc("From 1; 0 before the first deal.", minimum=0, example=1))
    seats = fields.List(
        fields.Nested(PlayerSeatSchema), required=True, metadata=doc("The seats of the person: mostly one.")
    )
    winners = fields.List(fields.Integer(), required=True, metadata=doc("The winners of the match, when it is over."))
    updated_at = fields.DateTime(required=True, metadata=doc("When the last event happened."))
    expires_at = fields.DateTime(
        required=True, metadata=doc("When the game is deleted, unless it is changed before then.")
    )


class PlayerPageSchema(Schema):
    """A page of the data stored about a person."""

    ref = fields.String(required=True, metadata=doc("What the application calls the person.", example="player-4711"))
    games = fields.List(fields.Nested(PlayerGameSchema), required=True, metadata=doc("The games of the person."))
    next = fields.String(metadata=doc("The `cursor` of the next page; absent on the last one."))
