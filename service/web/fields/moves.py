"""The schema of a move, shared by lists of legal moves and by requests, so that clients can post a listed move back."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import ValidationError, validates_schema

from service.engine.deal import MAX_CLIENT_SEED_CHARS
from service.engine.errors import Reason
from service.engine.moves import ACTIONS
from service.engine.tiles import MAX_PIPS
from service.web.fields.strict import (
    LINE_PATTERN,
    Known,
    Length,
    Range,
    RequestSchema,
    SingleLine,
    TileField,
    boolean,
    described,
    integer,
    string,
)

MAX_VERSION: Final = 2**31 - 1
_TILE_PATTERN: Final = r"^(0|[1-9][0-9]?)-(0|[1-9][0-9]?)$"
_MAX_END_CHARS: Final = 20


def tile_field(text: str, **arguments: Any) -> TileField:
    """Return the field of a tile."""
    return described(TileField, text, **arguments, pattern=_TILE_PATTERN, example="5-12")


def client_seed_field(text: str, **more: Any) -> SingleLine:
    """Return the field of a client seed; ``more`` is additional metadata."""
    return described(
        SingleLine,
        f"{text} It is public once the round is dealt. Not in an arranged game.",
        validate=Length(1, MAX_CLIENT_SEED_CHARS),
        pattern=LINE_PATTERN,
        **more,
    )


class MoveSchema(RequestSchema):
    """A move. It can be one of the listed legal moves, posted back unchanged, or composed by the client."""

    action = string(
        f"One of {', '.join(f'`{action}`' for action in ACTIONS)}; `tile`, `end`, `face_down` and `outer` go with "
        "`play` only.",
        required=True,
        validate=Known(ACTIONS),
        example="play",
    )
    tile = tile_field("The tile, for `play`.")
    end = string(
        "The end where it joins, one of `board.ends`; absent on an empty table, and optional if there is only one "
        "legal end.",
        validate=Length(max=_MAX_END_CHARS),
        example="e7",
    )
    face_down = boolean("Whether the double is laid face down, which closes its end; for `play`. Default: `false`.")
    outer = integer(
        "The half that stays outside: needed if the numbers that touch do not say which way the tile lies, as in "
        "`matador`. Listed there for every play but the first of a round, and optional if there is only one way at "
        "that end.",
        validate=Range(0, MAX_PIPS),
        example=6,
    )
    version = integer(
        "The version the move is for, in every listed move; rejected with 412 if the match has gone on since. A "
        "changed token, or a player who left or returned, does not count.",
        validate=Range(1, MAX_VERSION),
        example=17,
    )
    ends_sum = integer("Listed where ends are counted: their sum after the move. Ignored in a request.", example=28)
    points = integer("Listed where plays score: the points the move scores, 0 too. Ignored in a request.", example=4)
    client_seed = client_seed_field(
        "With `deal` only, never listed: entropy that the player contributes to this and every later deal."
    )

    @validates_schema(skip_on_field_errors=True)
    def _tile_goes_with_play(self, data: dict[str, Any], **_: Any) -> None:
        action = data["action"]
        if "client_seed" in data and action != "deal":
            raise ValidationError({"client_seed": [Reason("only_with_deal")]})
        if action == "play":
            if "tile" not in data:
                raise ValidationError({"tile": [Reason("play_needs_tile")]})
            return
        play_fields = data.keys() - {"action", "version", "client_seed"}
        errors = {name: [Reason("only_with_play")] for name in data if name in play_fields}
        if errors:
            raise ValidationError(errors)
