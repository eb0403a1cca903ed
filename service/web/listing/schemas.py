"""The schemas of the lists of games: those of an application, and the lobbies."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, ValidationError, validates_schema

from service.engine.errors import Reason
from service.web.fields.names import Reference
from service.web.fields.shown import FILLS_AT, SeatedSchema, optional, rematch_of_field, required, waiting_for_field
from service.web.fields.strict import (
    Length,
    QueryTime,
    QueryWords,
    RequestSchema,
    described,
    query_boolean,
    query_integer,
    string,
)
from service.web.fields.variants import KNOWN_VARIANT
from service.web.view.schemas import OptionsSchema

STATUSES: Final = ("waiting", "playing", "round_over", "finished")
_VARIANT: Final = string("Only games of this variant.", validate=KNOWN_VARIANT, example="domino")
LIMIT: Final = query_integer(
    "The maximum number of games in a page. A page may have fewer, or none, and yet a `next`.", 1, 200, load_default=50
)
CURSOR: Final = string("`next` of the page before, with the same other parameters.", validate=Length(1, 200))


class ListQuerySchema(RequestSchema):
    """Which games of an application are listed."""

    ref = described(Reference, "Only games with this `ref`.")
    player_ref = described(Reference, "Only games of the player with this `ref`.")
    to_act = query_boolean(
        "With `player_ref`: only games that have this player in `waiting_for`, the most urgent first: by deadline, "
        "then the games without a deadline, the longest waiting first.",
        load_default=False,
    )
    statuses = described(
        QueryWords, "Only games with one of these statuses, such as `waiting,playing`.", STATUSES, data_key="status"
    )
    variant = _VARIANT
    updated_after = described(
        QueryTime,
        "Only games that were changed after this time. The list follows a change after a moment, so use a time "
        "some seconds before the last response.",
    )
    limit = LIMIT
    cursor = CURSOR

    @validates_schema
    def check_player(self, data: dict[str, Any], **_: Any) -> None:
        """Check that ``to_act`` is sent only together with ``player_ref``."""
        if data.get("to_act") and "player_ref" not in data:
            raise ValidationError({"to_act": [Reason("needs_player_ref")]})


class LobbyQuerySchema(RequestSchema):
    """Which public games are listed."""

    variant = _VARIANT
    limit = LIMIT
    cursor = CURSOR


class ListedPlayerSchema(SeatedSchema):
    """A player of a listed game."""

    name = optional(str, "Absent while the seat is open.", example="Ada")
    ref = optional(str, "What the application calls the player.", example="player-4711")
    kind = required(str, "`human`, `bot` or `open`.", example="human")
    total = required(int, "The match score so far.", example=9)
    rank = optional(int, "The place in the match; absent until it is over.", minimum=1, example=1)
    active = required(bool, "Whether the player is still in the match.", example=True)
    away = optional(bool, "`true` while a computer player plays for the player, who has left or was timed out.")


class ListedGameSchema(Schema):
    """A game of the application, as it was a moment ago."""

    id = required(str, "The id of the game.")
    ref = optional(str, "What the application calls the game.", example="match-17")
    join_code = optional(str, "Takes an open seat; while there is one.", example="7KQD4WXR")
    variant = required(str, "Which game is played.", example="fido")
    status = required(str, "`waiting`, `playing`, `round_over` or `finished`.", example="playing")
    version = required(int, "The number of the last event.", minimum=1, example=17)
    round = required(int, "From 1; 0 before the first deal.", minimum=0, example=1)
    to_act = required([int], "The seats that may move.", example=[2])
    waiting_for = waiting_for_field(required=True)
    fills_at = FILLS_AT
    deadline = optional(datetime, "When the time for this turn or deal is over; absent while no clock runs.")
    players = required([ListedPlayerSchema], "In seat order.")
    winners = required([int], "The winners of the match, when it is over.")
    rematch_of = rematch_of_field("Of a rematch")
    created_at = required(datetime, "When the game was created.")
    updated_at = required(datetime, "When the last event happened.")
    expires_at = required(datetime, "When the game is deleted, unless it is changed before then.")


class GamePageSchema(Schema):
    """A page of the games of an application."""

    games = required([ListedGameSchema], "The games.")
    next = optional(str, "The `cursor` of the next page; absent on the last one.")


class PublicPlayerSchema(SeatedSchema):
    """A seat of a public game."""

    name = optional(str, "Absent while the seat is open.", example="Ada")
    kind = required(str, "`human`, `bot` or `open`.", example="open")
    bot = optional(str, "The level of a computer player.", example="greedy")


class PublicGameSchema(Schema):
    """A public game with open seats, as it was a moment ago."""

    id = required(str, "The id of the game.")
    variant = required(str, "Which game is played.", example="fido")
    join_code = required(str, "The code by which an open seat can be taken.")
    options = required(OptionsSchema, "The house rules in force.")
    players = required([PublicPlayerSchema], "In seat order.")
    open_seats = required(int, "How many seats are open.", minimum=1, example=1)
    fills_at = FILLS_AT
    created_at = required(datetime, "When the game was created.")


class LobbyPageSchema(Schema):
    """A page of public games with open seats."""

    games = required([PublicGameSchema], "The newest first.")
    next = optional(str, "The `cursor` of the next page; absent on the last one.")
