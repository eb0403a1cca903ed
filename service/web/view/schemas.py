"""The schemas of a game as its viewer may know it, of its legal moves and its score; ``serializers`` builds them.

Events, variants and records have packages of their own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from service.web.fields.moves import MoveSchema
from service.web.fields.shown import (
    FILLS_AT,
    TILE,
    TO_ACT,
    SeatedSchema,
    digest,
    optional,
    rematch_of_field,
    required,
    seat_field,
    text_field,
)
from service.web.fields.strict import RequestSchema
from service.web.fields.variants import option_fields

WINNER: Final = seat_field(
    "The winner of the round: the seat that laid its last tile first, unless the rules of the game say otherwise; "
    "absent without one."
)
LOSER: Final = seat_field(
    "The loser of the round, in games that name one: what earlier rounds carried over falls to its side. In teams "
    "it is one seat of the side. Absent without one."
)
_UNIT: Final = optional(str, "`wins` where totals are rounds won; absent where they are points.", example="wins")
_CARRY: Final = optional(
    int,
    "Only in games that carry anything: points that the next loser of a round gets, or where totals are wins, "
    "the draws since the last win.",
    minimum=0,
    example=0,
)


def _deadline(text: str) -> fields.Field[Any]:
    """Return the field of a deadline: a time, not the seconds until then, so that a view stays true as time passes."""
    return optional(
        datetime,
        f"{text} Nothing happens before it, and at most 2 s after it while the service is well; an outage may "
        "postpone it without a new version. Compare it with `Date`, not with a clock of the client. Absent while "
        "no clock runs.",
        example="2026-01-06T19:31:00.000Z",
    )


class TurnSchema(SeatedSchema):
    """Whose turn it is."""

    deadline = _deadline("When the time for this turn is over.")


class DealSchema(Schema):
    """The deal between two rounds that is due."""

    deadline = _deadline("When the service deals if nobody has.")


class ClockSchema(Schema):
    """The clock of a game, in seconds: `turn`, or `bank` and `increment`."""

    turn = optional(int, "For each turn.", minimum=5, example=60)
    bank = optional(int, "For all turns of a seat, and the maximum of its bank.", minimum=10)
    increment = optional(int, "Seconds that a seat gets after each turn, up to `bank`.", minimum=0)
    remind = optional(
        int,
        "Seconds before the end of a turn at which the application gets a message; only if it requested that.",
        minimum=1,
    )


class AbsenceRuleSchema(Schema):
    """What happens when the time of a seat is over."""

    then = required(str, "`bot`, `move`, `claim` or `forfeit`.", example="bot")


class YouSchema(SeatedSchema):
    """The bearer's own seat."""

    hand = required([TILE], "Your tiles, sorted.")
    rows = optional([int], "The row (rules 3.10) of each tile of `hand`, in the same order; in `fido` only.")


class PlayerSchema(SeatedSchema):
    """What all viewers know about a player."""

    name = optional(str, "Absent while the seat is open.", example="Ada")
    kind = required(
        str,
        "`human` (a person, or a program that plays with a token), `bot` (a computer player of the service) or "
        "`open`. More may come.",
        example="human",
    )
    tiles = required(int, "How many tiles are in the hand.", minimum=0, example=5)
    total = required(
        int,
        "The match score so far, in teams the team's; with the points of the current round where plays score.",
        example=9,
    )
    active = required(bool, "Whether the player is still in the match.", example=True)
    team = optional(int, "The team, in team games.", minimum=0, example=0)
    ref = optional(
        str, "What the application calls the player; only for the application, and this seat.", example="ada"
    )
    bot = optional(str, "The level of a computer player, one of `bots` in `GET /v1/variants`.", example="greedy")
    bank = optional(
        float,
        "Where there are banks: the seconds that the seat had left when the running turn began.",
        minimum=0,
        example=84.25,
    )
    away = optional(bool, "`true` while a computer player plays for the player, who has left or was timed out.")
    forfeited = optional(bool, "`true` after the seat has forfeited: it is ranked behind all that have not.")


class StockSchema(Schema):
    """The undealt tiles."""

    tiles = required(int, "How many there are.", minimum=0, example=19)
    drawable = required(int, "How many can be drawn.", minimum=0, example=19)


class AttachedToSchema(Schema):
    """Where a tile was attached."""

    tile = required(str, "The host tile.", example="5-12")
    side = required(str, "`end` (the outer half of a non-double), `long` or `short` (of a double).", example="long")


class LaidTileSchema(SeatedSchema):
    """A tile on the table."""

    tile = required(str, "The tile.", example="5-12")
    face_down = required(bool, "Whether it lies face down; its pips were shown.", example=False)
    on = optional(AttachedToSchema, "Where it was attached; absent for the first tile.")
    end = optional(str, "The id of the end that it covered, as in its event; absent for the first tile.", example="e7")
    number = optional(
        int, "The number with which it touches its host; absent for the first tile.", minimum=0, example=12
    )
    outer = optional(
        int,
        "The half that stayed outside, where listed moves have `outer`; absent for the first tile.",
        minimum=0,
        example=6,
    )


class BoardEndSchema(Schema):
    """A place that is, was or may become playable."""

    id = required(str, "Identifies the end as long as it exists.", example="e7")
    number = required(int, "The number to match.", minimum=0, example=12)
    tile = required(str, "The tile it belongs to.", example="5-12")
    side = required(str, "`end`, `long` or `short`.", example="short")
    state = required(
        str,
        "`open`; `gated`: opens later, a short side after one or both of the long sides of its double, any other "
        "end after every side of the first tile; or `closed`: by a face-down double.",
        example="open",
    )
    counts = required(int, "Its contribution to `ends_sum`.", minimum=0, example=12)


class BoardSchema(Schema):
    """The table."""

    tiles = required([LaidTileSchema], "In the order of play.")
    ends = required([BoardEndSchema], "Empty on an empty table.")
    ends_sum = optional(int, "The sum of the ends, where ends are counted.", minimum=0, example=34)


OptionsSchema = Schema.from_dict(
    option_fields(in_request=False)
    | {"divisor": optional(int, "The divisor of the sum of the ends; in `fido`.", example=7)},
    name="OptionsSchema",
)


class CommitmentSchema(Schema):
    """The commitment of the server to the seed of a round, published before the seed; see `GET …/fairness`."""

    round = required(int, "The round it is for.", minimum=1, example=1)
    commitment = digest("SHA-256 over a label and the seed, in hexadecimal.", required=True)


class RematchSchema(Schema):
    """The game that follows a finished one."""

    game_id = required(str, "The id of the new game.", example="qN0hV2kXw3mZ8sT1uYc5bgLd")


class MancheSchema(Schema):
    """A part of a match that is won by stars."""

    number = required(int, "From 1.", minimum=1, example=1)
    stars = required([int], "How many each seat has, in seat order.", example=[2, 1, 0])
    ended = optional(
        str,
        "How the round ended it: `won` by a third star, or `chiree`, as everybody had a star. `stars` then has its "
        "last stars. Absent while it goes on.",
        example="won",
    )


class GameSchema(Schema):
    """A game as the bearer of the token may know it; without a token, as a spectator."""

    id = required(str, "The id of the game, an opaque string.", example="5m1Gd5tIvN3vYhYkS0oJGA_1")
    ref = optional(str, "What the application that owns the game calls it; only for that.", example="match-17")
    join_code = optional(
        str,
        "Takes an open seat; while there is one, and only for the application that owns the game.",
        example="7KQD4WXR",
    )
    variant = required(str, "Which game is played.", example="fido")
    options = required(OptionsSchema, "The house rules in force.")
    arranged = required(bool, "Whether the deals were fixed when the game was created.", example=False)
    unique_names = optional(bool, "`true` where no two players may have the same name.", example=True)
    spectators = optional(bool, "`false` where nobody but its players and its owner may read the game.", example=False)
    auto = optional(bool, "`true` where turns without a choice play themselves.", example=True)
    status = required(
        str,
        "`waiting` (open seats, or the first deal is to come), `playing`, `round_over` (the next round must be "
        "dealt) or `finished`.",
        example="playing",
    )
    version = required(int, "The number of the last event.", minimum=1, example=17)
    round = required(int, "From 1; 0 before the first deal.", minimum=0, example=1)
    text = optional(
        str,
        "With `text=true`: how the game stands for the bearer, at most 140 characters, in the language of the "
        "response.",
        example="Your turn. Three tiles fit.",
    )
    turn = optional(TurnSchema, "Whose turn it is; only while `playing`.")
    deal = optional(DealSchema, "Only in `round_over`, and while a clock runs.")
    to_act = required([int], TO_ACT, example=[2])
    clock = optional(ClockSchema, "Absent in a game without a clock.")
    absence = optional(AbsenceRuleSchema, "Only with a `clock`.")
    you = optional(YouSchema, "Absent for a spectator.")
    legal_moves = required([MoveSchema], "What you may do now; empty when it is not your turn.")
    players = required([PlayerSchema], "In seat order.")
    stock = required(StockSchema, "The undealt tiles.")
    board = required(BoardSchema, "The table; after a round it stays until the next deal.")
    manche = optional(MancheSchema, "The running manche; only in games with manches.")
    unit = _UNIT
    carry = _CARRY
    dealer = seat_field(
        "The seat that deals, in games that have a dealer; between two rounds it is the one that deals next. Whoever "
        "asks for the deal (`to_act`) does not change it. Absent in the first round."
    )
    commitments = optional(
        [CommitmentSchema],
        "The commitments to the seeds of the last dealt round, if any, and of the next one; absent in an arranged "
        "game.",
    )
    winners = required([int], "The seats that have won.", example=[])
    fills_at = FILLS_AT
    rematch = optional(
        RematchSchema, "The game that follows, once a player of this finished one has asked for a rematch."
    )
    rematch_of = rematch_of_field("Of a rematch")
    created_at = required(datetime, "When the game was created.")
    updated_at = required(datetime, "When the last event happened.")
    expires_at = required(datetime, "When the game is deleted, unless it continues.")


class MoveListSchema(Schema):
    """What the bearer's seat may do now."""

    version = required(int, "The version of the game.", minimum=1, example=17)
    turn = optional(TurnSchema, "Whose turn it is; only while `playing`.")
    deal = optional(DealSchema, "Only in `round_over`, and while a clock runs.")
    to_act = required([int], TO_ACT, example=[2])
    legal_moves = required([MoveSchema], "The legal moves, in a fixed order.")


class StandingSchema(SeatedSchema):
    """A seat's place in the match."""

    name = optional(str, "Absent while the seat is open.", example="Ada")
    total = required(int, "The match score so far.", example=625)
    team = optional(int, "The team, in team games.", minimum=0, example=0)
    rank = required(int, "From 1; ties share a rank.", minimum=1, example=1)
    active = required(bool, "Still in the match.", example=True)
    forfeited = optional(bool, "`true` after the seat has forfeited: its rank is behind all that have not.")


class HandLeftSchema(SeatedSchema):
    """A hand at the end of a round."""

    tiles = required([TILE], "Sorted.")
    value = required(int, "Its value in points.", minimum=0, example=5)


class ScoreLineSchema(SeatedSchema):
    """Points of a seat and the rule they follow from."""

    points = required(int, "The points.", example=625)
    rule = required(
        str,
        "The number of the rule, as in the rule page of the variant (`rules` of `GET /v1/variants/{variant}`, in "
        "either language) and in `docs/rules.md` of the source code.",
        example="1.8",
    )
    text = required(str, "The arithmetic.", example="(25 ÷ 4 − 0) × 100")


class RoundSchema(Schema):
    """The result of a round."""

    number = required(int, "From 1.", minimum=1, example=1)
    ended_by = required(
        str,
        "`out`, `blocked`, `closed`, `flip`, or `target`: a placement brought a total to the target of the match.",
        example="out",
    )
    winner = WINNER
    loser = LOSER
    manche = optional(MancheSchema, "The stars after the round; only in games with manches.")
    hands = required([HandLeftSchema], "The hands of all seats that were in the match.")
    scores = required(
        [int],
        "The points of the round, one number per seat; in teams every seat has those of its team.",
        example=[5, 0],
    )
    carried = required(int, "What this round adds to `carry`.", minimum=0, example=0)
    lines = required([ScoreLineSchema], "The score lines that explain every point; they add up to the scores.")


class AmountSchema(SeatedSchema):
    """The amount that a seat receives, or pays if negative."""

    amount = required(float, "Rounded to two decimals.", example=-8)
    exact = required(str, "An integer or a fraction.", example="77/3")


class PaymentSchema(Schema):
    """A payment from one seat to another."""

    from_ = seat_field("The seat that pays.", required=True, data_key="from")
    to = seat_field("The seat that is paid.", required=True)
    amount = required(float, "Rounded to two decimals.", example=8)
    exact = required(str, "An integer or a fraction.", example="8")


class SettlementSchema(Schema):
    """The settlement of a finished match."""

    mode = required(str, "`average`, `difference` or `fixed`.", example="average")
    amounts = required([AmountSchema], "One per seat; they add up to 0.")
    payments = required([PaymentSchema], "Payments that result in these amounts.")


class ScoreSchema(Schema):
    """The score card."""

    game_id = required(str, "The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1")
    version = required(int, "The version of the game.", minimum=1, example=40)
    status = required(str, "As in the game view.", example="finished")
    best = required(str, "`highest` or `lowest`: which total wins.", example="highest")
    standings = required([StandingSchema], "From first to last.")
    rounds = required([RoundSchema], "The rounds that are over.")
    manche = optional(MancheSchema, "The running manche; only in games with manches.")
    unit = _UNIT
    carry = _CARRY
    winners = required([int], "The seats that have won.", example=[0])
    settlement = optional(SettlementSchema, "In `dominospiel`, when finished.")


OF_VIEW: Final = "that tells how the game stands, as `text` of the view"
"""The place and content of the sentence of a view, for ``text_field``."""


class ViewQuerySchema(RequestSchema):
    """Whether the view in the response has a sentence."""

    text = text_field(OF_VIEW)


view_query_in: Final = ViewQuerySchema()
