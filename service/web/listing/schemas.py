"""The schemas of the lists of games: those of an application, and the lobbies."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validates_schema

from service.engine.errors import Reason
from service.web.fields.names import Reference
from service.web.fields.shown import FILLS_AT, rematch_of_field, seat_field, to_act_field, waiting_for_field
from service.web.fields.strict import (
    Length,
    QueryBoolean,
    QueryInteger,
    QueryTime,
    QueryWords,
    Range,
    RequestSchema,
    doc,
)
from service.web.fields.variants import KNOWN_VARIANT
from service.web.view.schemas import OptionsSchema

STATUSES: Final = ("waiting", "playing", "round_over", "finished")
_MAX_LISTED: Final = 200
"""Maximum number of games in a page."""
_MAX_CURSOR_CHARS: Final = 200
"""Maximum length of a cursor."""


def _variant(text: str) -> fields.String:
    return fields.String(validate=KNOWN_VARIANT, metadata=doc(text, example="domino"))


def limit_field() -> QueryInteger:
    """Return the parameter of the length of a page of games."""
    text = "The maximum number of games in a page. A page may have fewer, or none, and yet a `next`."
    return QueryInteger(load_default=50, validate=Range(1, _MAX_LISTED), metadata=doc(text))


def cursor_field() -> fields.String:
    """Return the parameter of the place where a page of games begins."""
    text = "`next` of the page before, with the same other parameters."
    return fields.String(validate=Length(1, _MAX_CURSOR_CHARS), metadata=doc(text))


class ListQuerySchema(RequestSchema):
    """Which games of an application are listed."""

    ref = Reference(metadata=doc("Only games with this `ref`."))
    player_ref = Reference(metadata=doc("Only games of the player with this `ref`."))
    to_act = QueryBoolean(
        load_default=False,
        metadata=doc(
            "With `player_ref`: only games that have this player in `waiting_for`, the most urgent first: by deadline, "
            "then the games without a deadline, the longest waiting first."
        ),
    )
    statuses = QueryWords(
        STATUSES, data_key="status", metadata=doc("Only games with one of these statuses, such as `waiting,playing`.")
    )
    variant = _variant("Only games of this variant.")
    updated_after = QueryTime(
        metadata=doc(
            "Only games that were changed after this time. The list follows a change after a moment, so use a time "
            "some seconds before the last response."
        )
    )
    limit = limit_field()
    cursor = cursor_field()

    @validates_schema
    def check_player(self, data: dict[str, Any], **_: Any) -> None:
        """Check that ``to_act`` is sent only together with ``player_ref``."""
        if data.get("to_act") and "player_ref" not in data:
            raise ValidationError({"to_act": [Reason("needs_player_ref")]})


class LobbyQuerySchema(RequestSchema):
    """Which public games are listed."""

    variant = _variant("Only games of this variant.")
    limit = limit_field()
    cursor = cursor_field()


class ListedPlayerSchema(Schema):
    """A player of a listed game."""

    seat = seat_field(required=True)
    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))
    ref = fields.String(metadata=doc("What the application calls the player.", example="player-4711"))
    kind = fields.String(required=True, metadata=doc("`human`, `bot` or `open`.", example="human"))
    total = fields.Integer(required=True, metadata=doc("The match score so far.", example=9))
    rank = fields.Integer(metadata=doc("The place in the match; absent until it is over.", minimum=1, example=1))
    active = fields.Boolean(required=True, metadata=doc("Whether the player is still in the match.", example=True))
    away = fields.Boolean(
        metadata=doc("`true` while a computer player plays for the player, who has left or was timed out.")
    )


class ListedGameSchema(Schema):
    """A game of the application, as it was a moment ago."""

    id = fields.String(required=True, metadata=doc("The id of the game."))
    ref = fields.String(metadata=doc("What the application calls the game.", example="match-17"))
    join_code = fields.String(metadata=doc("Takes an open seat; while there is one.", example="7KQD4WXR"))
    variant = fields.String(required=True, metadata=doc("Which game is played.", example="fido"))
    status = fields.String(
        required=True, metadata=doc("`waiting`, `playing`, `round_over` or `finished`.", example="playing")
    )
    version = fields.Integer(required=True, metadata=doc("The number of the last event.", minimum=1, example=17))
    round = fields.Integer(required=True, metadata=doc("From 1; 0 before the first deal.", minimum=0, example=1))
    to_act = to_act_field("The seats that may move.", required=True)
    waiting_for = waiting_for_field(required=True)
    fills_at = FILLS_AT
    deadline = fields.DateTime(metadata=doc("When the time for this turn or deal is over; absent while no clock runs."))
    players = fields.List(fields.Nested(ListedPlayerSchema), required=True, metadata=doc("In seat order."))
    winners = fields.List(fields.Integer(), required=True, metadata=doc("The winners of the match, when it is over."))
    rematch_of = rematch_of_field("Of a rematch")
    created_at = fields.DateTime(required=True, metadata=doc("When the game was created."))
    updated_at = fields.DateTime(required=True, metadata=doc("When the last event happened."))
    expires_at = fields.DateTime(
        required=True, metadata=doc("When the game is deleted, unless it is changed before then.")
    )


class GamePageSchema(Schema):
    """A page of the games of an application."""

    games = fields.List(fields.Nested(ListedGameSchema), required=True, metadata=doc("The games."))
    next = fields.String(metadata=doc("The `cursor` of the next page; absent on the last one."))


class PublicPlayerSchema(Schema):
    """A seat of a public game."""

    seat = seat_field(required=True)
    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))
    kind = fields.String(required=True, metadata=doc("`human`, `bot` or `open`.", example="open"))
    bot = fields.String(metadata=doc("The level of a computer player.", example="greedy"))


class PublicGameSchema(Schema):
    """A public game with open seats, as it was a moment ago."""

    id = fields.String(required=True, metadata=doc("The id of the game."))
    variant = fields.String(required=True, metadata=doc("Which game is played.", example="fido"))
    join_code = fields.String(required=True, metadata=doc("The code by which an open seat can be taken."))
    options = fields.Nested(OptionsSchema, required=True, metadata=doc("The house rules in force."))
    players = fields.List(fields.Nested(PublicPlayerSchema), required=True, metadata=doc("In seat order."))
    open_seats = fields.Integer(required=True, metadata=doc("How many seats are open.", minimum=1, example=1))
    fills_at = FILLS_AT
    created_at = fields.DateTime(required=True, metadata=doc("When the game was created."))


class LobbyPageSchema(Schema):
    """A page of public games with open seats."""

    games = fields.List(fields.Nested(PublicGameSchema), required=True, metadata=doc("The newest first."))
    next = fields.String(metadata=doc("The `cursor` of the next page; absent on the last one."))
