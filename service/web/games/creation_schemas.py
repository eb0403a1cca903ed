"""The request for a new game: its schema, and the ``GameRequest`` that it becomes.

Owns the validation of its fields, each by itself and together. Does not depend on the options of a variant:
``service.web.fields.variants`` has their fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from marshmallow import ValidationError, fields, validates_schema

from service.backends.values import Backend
from service.engine.deal import ArrangedDeal
from service.engine.errors import Reason
from service.engine.presence import ABSENCES
from service.engine.variants import variants
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.forks import ForkSource
from service.games.model.game import AUDIENCES
from service.games.model.seats import BOT, HUMAN, LEVELS, OPEN_SEAT, Fill, SeatKind
from service.web.fields.moves import MAX_VERSION, client_seed_field, tile_field
from service.web.fields.names import MAX_NAME_CHARS, name_field, ref_field
from service.web.fields.strict import (
    LINE_PATTERN,
    Equal,
    Length,
    OneOf,
    Range,
    RequestSchema,
    Seconds,
    SingleLine,
    TileList,
    boolean,
    bounded_list,
    described,
    integer,
    invalid,
    nested,
    reason_if_missing,
    string,
)
from service.web.fields.variants import KNOWN_VARIANT, MAX_SEATS, MIN_SEATS, option_fields
from service.web.games.schemas import MAX_TEXT_CHARS, FillInSchema
from service.web.quotas import request_network

_MAX_TILES: Final = 190
_MAX_DEALS: Final = 100


class SeatInSchema(RequestSchema):
    """The player of a seat: exactly one of `name`, `open` and `bot`."""

    error_messages: dict[str, Any] = {"type": Reason("not_a_player")}  # noqa: RUF012 # as marshmallow declares it

    name = name_field("A human player of this name; the creator gets the token.")
    open = boolean(
        "`true`: the seat can be taken with the `join_code` of the game.", validate=Equal(comparable=True), enum=[True]
    )
    bot = string(
        "A computer player of this level, one of `bots` in `GET /v1/variants`. It knows what its seat may know, "
        "and is named after its level.",
        validate=Length(1, MAX_NAME_CHARS),
        error_messages={"invalid": [Reason("not_one_of", {"allowed": list(LEVELS)})]},
    )

    client_seed = client_seed_field(
        "Entropy that the player contributes to every deal; with `name` only.", example="seven green bottles"
    )
    ref = ref_field("With the key of an application: its name for the player. Visible to the application and this seat")

    @validates_schema(skip_on_field_errors=True)
    def _one_of_three(self, data: dict[str, Any], **_: Any) -> None:
        if len(data.keys() & {"name", "open", "bot"}) != 1:
            raise invalid("one_of_name_open_bot")
        if "client_seed" in data and "name" not in data:
            raise ValidationError({"client_seed": [Reason("only_with_name")]})


class ClockInSchema(RequestSchema):
    """A clock, in seconds: `turn` for each turn, or a `bank` for the whole match with an `increment` for each turn."""

    turn = integer(
        "The time for each turn, however many tiles it has, and for the deal between two rounds.",
        validate=Range(5, 1_209_600),
    )
    bank = integer(
        "The time of each seat for all its turns; for the deal it is the bank, or 60 s if that is less.",
        validate=Range(10, 86_400),
    )
    increment = integer(
        "Seconds that a seat gets after each turn; its bank is never more than the `bank` that it began with. "
        "With `bank` only. Default: 0.",
        validate=Range(0, 3600),
    )
    remind = integer(
        "With the key of an application: it gets the message `game.deadline` this many seconds before the end of a "
        "turn, once; not for a turn that has no more time than that. Less than `turn` or `bank`.",
        validate=Range(1, 1_209_599),
    )

    @validates_schema(skip_on_field_errors=True)
    def _one_form(self, data: dict[str, Any], **_: Any) -> None:
        if ("turn" in data) == ("bank" in data):
            raise invalid("one_of_turn_bank")
        if "increment" in data and "bank" not in data:
            raise ValidationError({"increment": [Reason("only_with_bank")]})
        longest = data.get("turn", data.get("bank", 0)) - 1
        if data.get("remind", 0) > longest:
            raise ValidationError({"remind": [Reason("out_of_range", {"min": 1, "max": longest})]})


class AbsenceInSchema(RequestSchema):
    """What happens when the time of a seat is over."""

    then = string(
        "`bot`: a computer player plays the seat until its player is back. `move`: it plays this one turn. "
        "`claim`: nothing, until another seat claims it (`POST …/claims`); then as `bot`. `forfeit`: as `bot`, "
        "and the seat forfeits the match.",
        required=True,
        validate=OneOf(ABSENCES),
        example="bot",
    )


class DealInSchema(RequestSchema):
    """An arranged deal: every tile of the set exactly once."""

    hands = bounded_list(
        "One hand per seat, in seat order; empty for a player who is out of the match.",
        TileList(tile_field("A tile."), 0, _MAX_TILES),
        MIN_SEATS,
        MAX_SEATS,
        required=True,
    )
    stock = described(TileList, "The stock, in drawing order.", tile_field("A tile."), 0, _MAX_TILES, required=True)


OptionsInSchema = RequestSchema.from_dict(option_fields(in_request=True), name="OptionsInSchema")


class ContinuesInSchema(RequestSchema):
    """The position in a recorded match from which a new game continues."""

    record = string(
        "A whole record, as `GET /v1/games/{game}/record` returns it as text.", required=True, validate=Length(1)
    )
    version = integer(
        "The version of the record to continue from, which is after a move and its consequences. Default: the last "
        "one from which the match can be continued.",
        validate=Range(1, MAX_VERSION),
        example=17,
    )


class GameInSchema(RequestSchema):
    """A game to be created: of a variant, or from a record."""

    variant = string(
        "The `id` of one of `variants` in `GET /v1/variants`. Required without `continues`.",
        validate=KNOWN_VARIANT,
        example="domino",
    )
    players = bounded_list(
        "One entry per seat, in seat order, clockwise.",
        fields.Nested(SeatInSchema),
        MIN_SEATS,
        MAX_SEATS,
        required=True,
        error_messages={"invalid": [Reason("not_players")]},
    )
    options = nested("House rules; missing ones have their defaults.", OptionsInSchema)
    ref = ref_field("With the key of an application: its name for the game. Visible to the application")
    lobby = string(
        "With the key of an application: who finds the game in `GET /v1/lobby`, with the join code of its open "
        "seats; the game must have one. `all`: everybody; `app`: the application alone, with its key. Default: "
        "nobody.",
        validate=OneOf(AUDIENCES),
        example="app",
    )
    unique_names = boolean(
        "Whether all players must have different names, ignoring case; joining under a name that is taken is 422 "
        "`invalid` with the reason `name_taken`. Default: `false`."
    )
    spectators = boolean(
        "`false`: only the seats of the game, and the application that owns it, may read it; to everybody else "
        "every request is 404, as for a game that does not exist. The join code still takes an open seat, and "
        "everybody can read what the lobby shows of a game with `lobby`. Default: `true`."
    )
    auto = boolean(
        "`true`: turns without a choice play themselves. If the only legal move of a person is `pass` or `draw`, "
        "the service makes it together with the move before it, and its event has `auto`. It never makes a play, "
        "which would reveal what the hand lacks. No time is used. Default: `false`."
    )
    seed = described(
        SingleLine,
        "Fixes the deals: the same seed, variant, rules and number of players give the same tiles in every round. "
        "The game is then `arranged`.",
        validate=Length(1, MAX_TEXT_CHARS),
        pattern=LINE_PATTERN,
        example="a rainy evening",
    )
    deals = bounded_list(
        "The n-th entry is the deal of the n-th round. The game is then `arranged`.",
        fields.Nested(DealInSchema),
        1,
        _MAX_DEALS,
    )

    clock = nested("The time for turns; without it there is no limit. Exactly one of `turn` and `bank`.", ClockInSchema)
    absence = nested(
        'What happens when the time of a seat is over. Default: `{"then": "bot"}`; without a `clock`, where nobody '
        "can be late, nothing else is possible.",
        AbsenceInSchema,
    )
    pace = described(
        Seconds,
        "Seconds from an event to the move of a computer player that follows it, with millisecond precision. "
        "Default: 1 where a person plays, else 0.",
        low=0,
        high=10,
        example=1.5,
    )

    fill = nested(
        "With open seats: when computer players take them; the view has the time in `fills_at`. Default: seats "
        "stay open.",
        FillInSchema,
    )

    continues = nested(
        "Continues a recorded match, with new players for its seats: variant and rules are those of the record; "
        "`variant`, `options`, `seed` and `deals` must be missing. The game is then `arranged`.",
        ContinuesInSchema,
    )

    def handle_error(self, error: ValidationError, data: Any, **_: Any) -> None:
        """If no variant has so many players, name the numbers that the requested variant allows."""
        if "players" not in error.messages_dict:
            return
        players, variant = data.get("players"), variants().get(str(data.get("variant")))
        if isinstance(players, list) and not MIN_SEATS <= len(players) <= MAX_SEATS and variant is not None:
            error.messages_dict["players"] = [variant.wrong_number_of_players]

    @validates_schema(skip_on_field_errors=True)
    def _fields_go_together(self, data: dict[str, Any], **_: Any) -> None:
        errors: dict[str, list[Any]] = {}
        if "continues" in data:
            of_record = [name for name in ("variant", "options", "seed", "deals") if name in data]
            errors = {name: [Reason("not_with_continues")] for name in of_record}
        elif "variant" not in data:
            errors["variant"] = [reason_if_missing(self.fields["variant"])]
        if "clock" not in data and data.get("absence", {}).get("then", "bot") != "bot":
            errors["absence"] = [Reason("only_with_clock")]
        if errors:
            raise ValidationError(errors)


class SeekInSchema(RequestSchema):
    """The table that a player seeks, and the player."""

    variant = string(
        "The `id` of one of `variants` in `GET /v1/variants`.", required=True, validate=KNOWN_VARIANT, example="domino"
    )
    options = nested("House rules; missing ones have their defaults.", OptionsInSchema)
    players = integer("How many seats the table has.", required=True, validate=Range(MIN_SEATS, MAX_SEATS), example=4)
    name = name_field("The name of the player.", required=True)
    ref = ref_field("With the key of an application: its name for the player. Visible to the application and this seat")
    clock = nested("The time for turns, as at the creation of a game.", ClockInSchema)
    fill = nested("When open seats go to computer players, as at the creation of a game.", FillInSchema)


# The request for a game, from the fields of its body.


def game_request(fields: dict[str, Any], backend: Backend | None) -> GameRequest:
    """Return the game that the current request asks for; ``backend`` is the application that will own it, if any."""
    source, fill = fields.get("continues"), fields.get("fill")
    deals = [ArrangedDeal(tuple(map(tuple, deal["hands"])), tuple(deal["stock"])) for deal in fields.get("deals", ())]
    return GameRequest(
        variant=fields.get("variant", ""),
        seats=_seat_requests(fields["players"]),
        options=fields.get("options", {}),
        seed=fields.get("seed"),
        deals=tuple(deals),
        source=None if source is None else ForkSource(source["record"], source.get("version")),
        unique_names=fields.get("unique_names", False),
        spectators=fields.get("spectators", True),
        auto=fields.get("auto", False),
        clock=_clock_settings(fields) if "clock" in fields else None,
        pace=fields.get("pace"),
        app=None if backend is None else backend.id,
        network=request_network(),
        ref=fields.get("ref"),
        lobby=fields.get("lobby"),
        fill=None if fill is None else Fill(fill["after"] * 1000, fill["bot"]),
    )


def sought_game(fields: dict[str, Any], backend: Backend | None) -> GameRequest:
    """Return the table that the current request seeks, as a request for a game with only open seats."""
    seats = [{"open": True}] * fields["players"]
    # Its ``ref`` is that of the player; all other fields mean the same as for a new game.
    return game_request({**fields, "players": seats, "ref": None}, backend)


def _clock_settings(fields: dict[str, Any]) -> ClockSettings:
    """Return the clock of a request for a game, in milliseconds."""
    clock, then = fields["clock"], fields.get("absence", {}).get("then", "bot")
    remind = clock["remind"] * 1000 if "remind" in clock else None
    if "turn" in clock:
        return ClockSettings(turn=clock["turn"] * 1000, absence=then, remind=remind)
    bank, increment = clock["bank"] * 1000, clock.get("increment", 0) * 1000
    return ClockSettings(bank=bank, increment=increment, absence=then, remind=remind)


def _seat_requests(players: Sequence[dict[str, Any]]) -> tuple[SeatRequest, ...]:
    """Return the requested players."""
    requests = []
    for seat in players:
        kind: SeatKind = HUMAN if "name" in seat else OPEN_SEAT if "open" in seat else BOT
        requests.append(SeatRequest(kind, seat.get("name"), seat.get("client_seed"), seat.get("bot"), seat.get("ref")))
    return tuple(requests)
