"""The schemas of the data stored about a player of an application."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.web.fields.strict import RequestSchema, doc
from service.web.listing.schemas import ListedPlayerSchema, cursor_field, limit_field


class PlayerQuerySchema(RequestSchema):
    """The requested page of the data stored about a person."""

    limit = limit_field()
    cursor = cursor_field()


class PlayerSeatSchema(ListedPlayerSchema):
    """A seat of the person, with its result once the match is over."""

    class Meta:
        """Fields of the list of games only."""

        exclude = ("ref", "away")


class PlayerGameSchema(Schema):
    """A game of the person, as it was a moment ago."""

    id = fields.String(required=True, metadata=doc("The id of the game."))
    ref = fields.String(metadata=doc("What the application calls the game.", example="match-17"))
    variant = fields.String(required=True, metadata=doc("Which game is played.", example="fido"))
    status = fields.String(
        required=True, metadata=doc("`waiting`, `playing`, `round_over` or `finished`.", example="playing")
    )
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
