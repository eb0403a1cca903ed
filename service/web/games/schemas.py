"""The schemas of new games, of seats and players, and of requests about them."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields, validates_schema

from service.games.model.seats import LEVELS
from service.web.fields.moves import MAX_VERSION, client_seed_field
from service.web.fields.names import name_field, ref_field
from service.web.fields.shown import MAX_WAIT_SECONDS, SeatedSchema, optional, required, text_field
from service.web.fields.strict import (
    Length,
    OneOf,
    Range,
    RequestSchema,
    boolean,
    integer,
    invalid,
    query_integer,
    string,
)
from service.web.fields.variants import MAX_SEATS
from service.web.view.schemas import OF_VIEW, GameSchema

MAX_TEXT_CHARS: Final = 200
MAX_FILL_SECONDS: Final = 86_400


def level_field(description: str) -> fields.String:
    """Return the field of a level of computer players; ``description`` begins its description."""
    return string(
        f"{description}: one of `bots` in `GET /v1/variants`.", required=True, validate=OneOf(LEVELS), example="casual"
    )


class CreatedTokenSchema(SeatedSchema):
    """A seat with a token just made."""

    name = required(str, "The name of the player.", example="Ada")
    token = required(str, "Sent as `Authorization: Bearer`; returned only here.")


class CreatedGameSchema(Schema):
    """A game just created."""

    game = required(GameSchema, "The game as a spectator or, with a key, its application sees it.")
    seats = required([CreatedTokenSchema], "Every named seat with its token.")
    join_code = optional(str, "Takes an open seat; only with open seats.", example="7KQD4WXR")


class CreatedSeatSchema(CreatedTokenSchema):
    """A seat just taken."""

    game = required(GameSchema, "The game as the new player sees it.")


class CreatedSeekSchema(CreatedSeatSchema):
    """A seat at a table that was sought."""

    opened = required(bool, "Whether the table is new, as there was none to sit down at.", example=False)


class CreatedJoinCodeSchema(Schema):
    """A join code just made."""

    join_code = required(str, "Takes an open seat; the old code no longer does.", example="7KQD4WXR")


class JoinInSchema(RequestSchema):
    """A player who takes an open seat of the game with this join code."""

    name = name_field("The name of the player.", required=True)
    join_code = string(
        "The code that the creator of the game got; small letters, blanks and hyphens make no difference.",
        required=True,
        validate=Length(1, MAX_TEXT_CHARS),
        example="7KQD 4WXR",
    )
    client_seed = client_seed_field("Entropy that the player contributes to every deal.", example="seven green bottles")


class PlayerInSchema(RequestSchema):
    """A player who takes an open seat."""

    name = name_field("The name of the player.", required=True)
    join_code = string(
        "The code that the creator of the game got; small letters, blanks and hyphens make no difference. Required "
        "without the key of the application that owns the game; one that is given is checked in any case.",
        validate=Length(1, MAX_TEXT_CHARS),
        example="7KQD4WXR",
    )
    ref = ref_field(
        "With the key of the application that owns the game: its name for the player, which replaces that of the open "
        "seat. Visible to the application and this seat"
    )
    client_seed = client_seed_field("Entropy that the player contributes to every deal.", example="seven green bottles")


class PlayerChangeInSchema(RequestSchema):
    """The new `name` or `ref` of a player, or both."""

    name = name_field("The new name of the player.")
    ref = ref_field(
        "What the application calls the player; `null` for nothing. Visible to the application and this seat",
        allow_none=True,
    )

    @validates_schema(skip_on_field_errors=True)
    def _something(self, data: dict[str, Any], **_: Any) -> None:
        if not data:
            raise invalid("one_of_name_ref")


class PresenceInSchema(RequestSchema):
    """Whether the player of a seat is there."""

    away = boolean(
        "`true`: a computer player plays the seat from now on. `false`: its player is back.",
        required=True,
        example=True,
    )


class SeatFillInSchema(RequestSchema):
    """A computer player for an open seat."""

    bot = level_field("The level of the computer player")


class FillInSchema(RequestSchema):
    """When the open seats of a game go to computer players."""

    after = integer(
        "Seconds after the first person sat down. With nobody there, nothing happens.",
        required=True,
        validate=Range(0, MAX_FILL_SECONDS),
        example=60,
    )
    bot = level_field("The level of the computer players")


class ClaimInSchema(RequestSchema):
    """A claim of another seat, whose time is over."""

    seat = integer("The seat whose time is over.", required=True, validate=Range(0, MAX_SEATS - 1), example=1)


class GameQuerySchema(RequestSchema):
    """Whether to return a view at once, or to wait until it has changed."""

    after = query_integer(
        "The version of the client's last view; with `wait`, a later one is awaited.", 0, MAX_VERSION, load_default=0
    )
    wait = query_integer(
        "Seconds to wait at most until the version is past `after` (long poll).", 0, MAX_WAIT_SECONDS, load_default=0
    )
    text = text_field(OF_VIEW)
