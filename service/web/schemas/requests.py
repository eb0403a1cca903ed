"""The schemas of requests: every body and query is loaded through one of these."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import ValidationError, fields, validate, validates_schema

from service.engine.deal import MAX_CLIENT_SEED_CHARS
from service.engine.moves import ACTIONS
from service.engine.variants import variants
from service.web.schemas.fields import (
    BoundedList,
    QueryInteger,
    RequestSchema,
    SingleLine,
    StrictBoolean,
    StrictInteger,
    TileField,
    TileList,
    doc,
)
from service.web.schemas.names import MAX_MARKS, PlayerName
from service.web.schemas.option_fields import option_fields

_TILE_PATTERN: Final = r"^(0|[1-9][0-9]?)[-/:|](0|[1-9][0-9]?)$"
MAX_VERSION: Final = 2**31 - 1
_MAX_SEATS: Final = max(variant.players.high for variant in variants().values())
_MIN_SEATS: Final = min(variant.players.low for variant in variants().values())
_MAX_TILES: Final = 190
_MAX_DEALS: Final = 100
_MAX_NAME_CHARS: Final = 60
_MAX_END_CHARS: Final = 20
_MAX_TEXT_CHARS: Final = 200
_NO_CONTROLS: Final = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
_LINE_PATTERN: Final = rf"^[^{_NO_CONTROLS}]*[^\s{_NO_CONTROLS}][^{_NO_CONTROLS}]*$"


def _tile(text: str, **arguments: Any) -> TileField:
    return TileField(metadata=doc(text, pattern=_TILE_PATTERN, example="5-12"), **arguments)


def _name(text: str, **arguments: Any) -> PlayerName:
    return PlayerName(
        validate=validate.Length(1, _MAX_NAME_CHARS),
        metadata=doc(
            f"{text} One line with something to see in it, without invisible characters (joiners, as in emoji, "
            f"excepted) and with at most {MAX_MARKS} combining marks on a character. It is shown as it is given.",
            pattern=_LINE_PATTERN,
            example="Ada",
        ),
        **arguments,
    )


def _client_seed(text: str) -> SingleLine:
    return SingleLine(
        validate=validate.Length(1, MAX_CLIENT_SEED_CHARS),
        metadata=doc(
            f"{text} It is public once the round is dealt. Not in an arranged game.",
            pattern=_LINE_PATTERN,
            example="seven green bottles",
        ),
    )


class SeatIn(RequestSchema):
    """The player of a seat: exactly one of `name`, `open` and `bot`."""

    name = _name("A human player of this name; the creator gets the token.")
    open = StrictBoolean(
        validate=validate.Equal(comparable=True),
        metadata=doc("`true`: the seat can be taken with the `join_code` of the game.", enum=[True]),
    )
    bot = fields.String(
        validate=validate.Length(1, _MAX_NAME_CHARS),
        metadata=doc("A computer player of this level, one of `bots` in `GET /v1/variants`; none are offered yet."),
    )

    client_seed = _client_seed("Entropy that the player contributes to every deal; with `name` only.")

    @validates_schema(skip_on_field_errors=True)
    def _one_of_three(self, data: dict[str, Any], **_: Any) -> None:
        if len(data.keys() - {"client_seed"}) != 1:
            raise ValidationError("Give exactly one of name, open and bot.")
        if "client_seed" in data and "name" not in data:
            raise ValidationError({"client_seed": ["Goes with a name only."]})


class DealIn(RequestSchema):
    """An arranged deal: every tile of the set exactly once."""

    hands = BoundedList(
        TileList(_tile("A tile."), 0, _MAX_TILES),
        _MIN_SEATS,
        _MAX_SEATS,
        required=True,
        metadata=doc("One hand per seat, in seat order; empty for a player who is out of the match."),
    )
    stock = TileList(
        _tile("A tile."),
        0,
        _MAX_TILES,
        required=True,
        metadata=doc("The stock, in drawing order."),
    )


RulesIn = RequestSchema.from_dict(option_fields(in_request=True), name="RulesIn")


def _record(text: str) -> fields.String:
    return fields.String(
        required=True,
        validate=validate.Length(1),
        metadata=doc(f"{text}, as `GET /v1/games/{{game}}/record` returns it as text.", example='[Record "1"]\n…'),
    )


class FromIn(RequestSchema):
    """The position in a recorded match from which a new game continues."""

    record = _record("A whole record")
    version = StrictInteger(
        validate=validate.Range(1, MAX_VERSION),
        metadata=doc(
            "The version of the record to continue from, which is after a move and its consequences. Default: the last "
            "one from which the match can be continued.",
            example=17,
        ),
    )


class VerificationIn(RequestSchema):
    """A record to be verified."""

    record = _record("The record")


class GameIn(RequestSchema):
    """A game to be created: of a variant, or from a record."""

    variant = fields.String(
        validate=validate.OneOf(list(variants())),
        metadata=doc("The variant; see `GET /v1/variants`. Required without `from`.", example="domino"),
    )
    players = BoundedList(
        fields.Nested(SeatIn),
        _MIN_SEATS,
        _MAX_SEATS,
        required=True,
        metadata=doc("One entry per seat, in seat order, clockwise."),
    )
    rules = fields.Nested(RulesIn, metadata=doc("House rules; missing ones have their defaults."))
    seed = SingleLine(
        validate=validate.Length(1, _MAX_TEXT_CHARS),
        metadata=doc(
            "Fixes the deals: the same seed, variant, rules and number of players give the same tiles in every round. "
            "The game is then `arranged`.",
            pattern=_LINE_PATTERN,
            example="a rainy evening",
        ),
    )
    deals = BoundedList(
        fields.Nested(DealIn),
        1,
        _MAX_DEALS,
        metadata=doc("The n-th entry is the deal of the n-th round. The game is then `arranged`."),
    )

    from_ = fields.Nested(
        FromIn,
        data_key="from",
        metadata=doc(
            "Continues a recorded match, with new players for its seats: variant and rules are those of the record; "
            "`variant`, `rules`, `seed` and `deals` must be missing. The game is then `arranged`."
        ),
    )

    @validates_schema(skip_on_field_errors=True)
    def _a_variant_or_a_record(self, data: dict[str, Any], **_: Any) -> None:
        if "from_" not in data:
            if "variant" not in data:
                raise ValidationError({"variant": ["Missing data for required field."]})
            return
        errors = {
            name: ["Not allowed together with from."] for name in ("variant", "rules", "seed", "deals") if name in data
        }
        if errors:
            raise ValidationError(errors)


class PlayerIn(RequestSchema):
    """A player who takes an open seat."""

    name = _name("The name of the player.", required=True)
    join_code = fields.String(
        required=True,
        validate=validate.Length(1, _MAX_TEXT_CHARS),
        metadata=doc("The code that the creator of the game got.", example="KJ2W3ZQ7P6XA5BCD"),
    )
    client_seed = _client_seed("Entropy that the player contributes to every deal.")


class TokenIn(RequestSchema):
    """An empty object."""


class MoveIn(RequestSchema):
    """A move: an entry of `legal_moves`, or one composed by the client."""

    action = fields.String(
        required=True,
        validate=validate.OneOf(ACTIONS),
        metadata=doc("The action; `tile`, `end` and `face_down` go with `play` only.", example="play"),
    )
    tile = _tile("The tile to play.")
    end = fields.String(
        validate=validate.Length(max=_MAX_END_CHARS),
        metadata=doc(
            "The end where it joins, one of `board.ends`; optional if there is only one legal end.", example="e7"
        ),
    )
    face_down = StrictBoolean(metadata=doc("Lay a double face down, which closes its end. Default: `false`."))
    version = StrictInteger(
        validate=validate.Range(1, MAX_VERSION),
        metadata=doc(
            "The version the move is meant for; rejected with 412 if anything but a token has changed since.",
            example=17,
        ),
    )
    ends_sum = StrictInteger(metadata=doc("As listed in `legal_moves`; ignored.", example=28))
    points = StrictInteger(metadata=doc("As listed in `legal_moves`; ignored.", example=4))
    client_seed = _client_seed("With `deal` only: entropy that the player contributes to this and every later deal.")

    @validates_schema(skip_on_field_errors=True)
    def _tile_goes_with_play(self, data: dict[str, Any], **_: Any) -> None:
        action = data["action"]
        if "client_seed" in data and action != "deal":
            raise ValidationError({"client_seed": ["Goes with the action deal only."]})
        if action == "play":
            if "tile" not in data:
                raise ValidationError({"tile": ["A play needs a tile."]})
            return
        others = data.keys() - {"action", "version", "client_seed"}
        errors = {name: ["Goes with the action play only."] for name in data if name in others}
        if errors:
            raise ValidationError(errors)


class EventsQuery(RequestSchema):
    """The requested events."""

    after = QueryInteger(
        load_default=0,
        validate=validate.Range(0, MAX_VERSION),
        metadata=doc("The version after which events are requested; the cursor of the last page.", example=17),
    )
    limit = QueryInteger(
        load_default=100,
        validate=validate.Range(1, 1000),
        metadata=doc("The maximum number of events in a page.", example=100),
    )
    wait = QueryInteger(
        load_default=0,
        validate=validate.Range(0, 25),
        metadata=doc("Seconds that a page waits for an event (long poll); ignored for streams.", example=25),
    )
