"""The shapes of what comes in: every body and query is loaded through one of these schemas."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from service.engine.deal import MAX_CLIENT_SEED_CHARS
from service.engine.moves import ACTIONS
from service.engine.variants import variants
from service.web.schemas.fields import QueryInteger, SingleLine, StrictBoolean, StrictInteger, TileField, doc
from service.web.schemas.option_fields import option_fields

_TILE_PATTERN: Final = r"^(0|[1-9][0-9]?)[-/:|](0|[1-9][0-9]?)$"
HIGHEST_VERSION: Final = 2**31 - 1
_MOST_SEATS: Final = max(variant.players.high for variant in variants().values())
_FEWEST_SEATS: Final = min(variant.players.low for variant in variants().values())
_MOST_TILES: Final = 190
_MOST_DEALS: Final = 100
_LONGEST_NAME: Final = 60
_LONGEST_TEXT: Final = 200
_NO_CONTROLS: Final = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
_LINE_PATTERN: Final = rf"^[^{_NO_CONTROLS}]*[^\s{_NO_CONTROLS}][^{_NO_CONTROLS}]*$"


def _tile(text: str, **arguments: Any) -> TileField:
    return TileField(metadata=doc(text, pattern=_TILE_PATTERN, example="5-12"), **arguments)


def _name() -> SingleLine:
    return SingleLine(
        required=True,
        validate=validate.Length(1, _LONGEST_NAME),
        metadata=doc("What the player is called; any text of one line.", pattern=_LINE_PATTERN, example="Ada"),
    )


def _client_seed(text: str) -> SingleLine:
    return SingleLine(
        validate=validate.Length(1, MAX_CLIENT_SEED_CHARS),
        metadata=doc(
            f"{text} Everybody may read it once the round is dealt. Not in an arranged game.",
            pattern=_LINE_PATTERN,
            example="seven green bottles",
        ),
    )


class SeatIn(Schema):
    """Who is to sit at a seat: exactly one of `name`, `open` and `bot`."""

    name = SingleLine(
        validate=validate.Length(1, _LONGEST_NAME),
        metadata=doc(
            "A person of this name; the creator gets the token to hand on.", pattern=_LINE_PATTERN, example="Ada"
        ),
    )
    open = StrictBoolean(
        validate=validate.Equal(comparable=True),
        metadata=doc("`true`: whoever has the game's `join_code` can take the seat.", enum=[True]),
    )
    bot = fields.String(
        validate=validate.Length(1, _LONGEST_NAME),
        metadata=doc("A computer player of this level, one of `bots` in `GET /v1/variants`; none are offered yet."),
    )

    client_seed = _client_seed("What the person adds to the luck of every deal; with `name` only.")

    @validates_schema(skip_on_field_errors=True)
    def _one_of_three(self, data: dict[str, Any], **_: Any) -> None:
        if len(data.keys() - {"client_seed"}) != 1:
            raise ValidationError("Give exactly one of name, open and bot.")
        if "client_seed" in data and "name" not in data:
            raise ValidationError({"client_seed": ["Goes with a name only."]})


class DealIn(Schema):
    """A deal somebody has set: every tile of the set exactly once."""

    hands = fields.List(
        fields.List(_tile("A tile."), validate=validate.Length(0, _MOST_TILES)),
        required=True,
        validate=validate.Length(_FEWEST_SEATS, _MOST_SEATS),
        metadata=doc("A hand a seat, in seat order; empty for a player who is out by then."),
    )
    stock = fields.List(
        _tile("A tile."),
        required=True,
        validate=validate.Length(0, _MOST_TILES),
        metadata=doc("The stock, in the order in which it is drawn."),
    )


RulesIn = Schema.from_dict(option_fields(sent=True), name="RulesIn")


def _record(text: str) -> fields.String:
    return fields.String(
        required=True,
        validate=validate.Length(1),
        metadata=doc(f"{text}, as `GET /v1/games/{{game}}/record` gives it as text.", example='[Record "1"]\n…'),
    )


class FromIn(Schema):
    """A place in a recorded match, to be played on from."""

    record = _record("A whole record")
    version = StrictInteger(
        validate=validate.Range(1, HIGHEST_VERSION),
        metadata=doc(
            "The version of the record to go on from, after a move and all that follows from it. Left out: the last "
            "one from which the match can be played on.",
            example=17,
        ),
    )


class VerificationIn(Schema):
    """A record to be checked."""

    record = _record("The record")


class GameIn(Schema):
    """A game to be created: of a variant, or from a record."""

    variant = fields.String(
        validate=validate.OneOf(list(variants())),
        metadata=doc("Which game; `GET /v1/variants` lists them. Required, unless `from` is given.", example="domino"),
    )
    players = fields.List(
        fields.Nested(SeatIn),
        required=True,
        validate=validate.Length(_FEWEST_SEATS, _MOST_SEATS),
        metadata=doc("One entry a seat, in seat order, clockwise."),
    )
    rules = fields.Nested(RulesIn, metadata=doc("House rules; what is left out has its default."))
    seed = SingleLine(
        validate=validate.Length(1, _LONGEST_TEXT),
        metadata=doc(
            "Fixes the chance: the same seed, variant, rules and number of players deal the same tiles in every round, "
            "on every machine. The game is then `arranged` for ever.",
            pattern=_LINE_PATTERN,
            example="a rainy evening",
        ),
    )
    deals = fields.List(
        fields.Nested(DealIn),
        validate=validate.Length(1, _MOST_DEALS),
        metadata=doc("The n-th entry is the n-th round's deal. The game is then `arranged` for ever."),
    )

    from_ = fields.Nested(
        FromIn,
        data_key="from",
        metadata=doc(
            "Plays a recorded match on, with new players for its seats: variant and rules are those of the record, and "
            "`variant`, `rules`, `seed` and `deals` are left out. The game is then `arranged` for ever."
        ),
    )

    @validates_schema(skip_on_field_errors=True)
    def _a_variant_or_a_record(self, data: dict[str, Any], **_: Any) -> None:
        if "from_" not in data:
            if "variant" not in data:
                raise ValidationError({"variant": ["Missing data for required field."]})
            return
        errors = {name: ["The record says it."] for name in ("variant", "rules", "seed", "deals") if name in data}
        if errors:
            raise ValidationError(errors)


class PlayerIn(Schema):
    """Somebody who takes an open seat."""

    name = _name()
    join_code = fields.String(
        required=True,
        validate=validate.Length(1, _LONGEST_TEXT),
        metadata=doc("The code that the creator of the game was given.", example="KJ2W3ZQ7P6XA5BCD"),
    )
    client_seed = _client_seed("What you add to the luck of every deal.")


class TokenIn(Schema):
    """Nothing: what is asked for is in the address."""


class MoveIn(Schema):
    """A move; any entry of `legal_moves` as it stands, or one written by hand."""

    action = fields.String(
        required=True,
        validate=validate.OneOf(ACTIONS),
        metadata=doc("What to do; `tile`, `end` and `face_down` go with `play` only.", example="play"),
    )
    tile = _tile("The tile to play.")
    end = fields.String(
        metadata=doc(
            "The end where it joins, one of `board.ends`; may be left out when there is one legal place.", example="e7"
        ),
    )
    face_down = StrictBoolean(metadata=doc("Lay a double face down, which closes its end. Left out: `false`."))
    version = StrictInteger(
        validate=validate.Range(1, HIGHEST_VERSION),
        metadata=doc("The version the move is meant for; refused with 412 when the game has moved on.", example=17),
    )
    ends_sum = StrictInteger(metadata=doc("As listed in `legal_moves`; ignored.", example=28))
    points = StrictInteger(metadata=doc("As listed in `legal_moves`; ignored.", example=4))
    client_seed = _client_seed("With `deal` only: what you add from now on to the luck of this and every later deal.")

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


class EventsQuery(Schema):
    """Which events are asked for."""

    after = QueryInteger(
        load_default=0,
        validate=validate.Range(0, HIGHEST_VERSION),
        metadata=doc("The version after which they are asked for; the cursor of the last page.", example=17),
    )
    limit = QueryInteger(
        load_default=100, validate=validate.Range(1, 1000), metadata=doc("The most events of a page.", example=100)
    )
    wait = QueryInteger(
        load_default=0,
        validate=validate.Range(0, 25),
        metadata=doc("Seconds that a page waits until there is something; streams wait anyway.", example=25),
    )
