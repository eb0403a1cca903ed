"""The schemas of the data stored about a player of an application."""

from __future__ import annotations

from datetime import datetime

from marshmallow import Schema

from service.web.fields.shown import optional, required
from service.web.fields.strict import RequestSchema
from service.web.listing.schemas import CURSOR, LIMIT, ListedPlayerSchema


class PlayerQuerySchema(RequestSchema):
    """The requested page of the data stored about a person."""

    limit = LIMIT
    cursor = CURSOR


class PlayerSeatSchema(ListedPlayerSchema):
    """A seat of the person, with its result once the match is over."""

    class Meta:
        """Fields of the list of games only."""

        exclude = ("ref", "away")


class PlayerGameSchema(Schema):
    """A game of the person, as it was a moment ago."""

    id = required(str, "The id of the game.")
    ref = optional(str, "What the application calls the game.", example="match-17")
    variant = required(str, "Which game is played.", example="fido")
    status = required(str, "`waiting`, `playing`, `round_over` or `finished`.", example="playing")
    version = required(int, "The number of the last event.", minimum=1, example=17)
    round = required(int, "From 1; 0 before the first deal.", minimum=0, example=1)
    seats = required([PlayerSeatSchema], "The seats of the person: mostly one.")
    winners = required([int], "The winners of the match, when it is over.")
    updated_at = required(datetime, "When the last event happened.")
    expires_at = required(datetime, "When the game is deleted, unless it is changed before then.")


class PlayerPageSchema(Schema):
    """A page of the data stored about a person."""

    ref = required(str, "What the application calls the person.", example="player-4711")
    games = required([PlayerGameSchema], "The games of the person.")
    next = optional(str, "The `cursor` of the next page; absent on the last one.")
