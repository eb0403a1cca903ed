"""The schemas of records, replays and fairness reports, for the document and for the tests."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.engine.deal import SCHEME
from service.records.bot_checks import CHEAP_DECISIONS
from service.records.report import CODES
from service.web.board.schemas import PlacedBoardSchema
from service.web.events.schemas import EventDataSchema
from service.web.fields.shown import SeatedSchema, digest, seat_field
from service.web.fields.strict import QueryAspect, RequestSchema, doc
from service.web.view.schemas import AbsenceRuleSchema, ClockSchema, CommitmentSchema, OptionsSchema

_CHEAP_LEVELS: Final = " and ".join([f"`{level}`" for level in sorted(CHEAP_DECISIONS.levels)])
_FINDINGS: Final = "One of " + ", ".join([f"`{code}` ({meaning})" for code, meaning in CODES.items()]) + "."


class RoundFairnessSchema(CommitmentSchema):
    """What is revealed of the deal of a round so far."""

    client_seeds = fields.List(
        fields.String(),
        metadata=doc(
            "The client seed of each seat, in seat order; empty without one. From the deal on.", example=["", "mu"]
        ),
    )
    seed = digest("The seed, when the round is over, or when the match ended before it was dealt.")
    attempt = fields.Integer(
        metadata=doc(
            "The number of deals that the rules rejected before this one; when the round is over.", minimum=0, example=0
        )
    )
    hands = fields.List(
        fields.List(fields.String()),
        metadata=doc("The hands as they were dealt, sorted, one list per seat; when the round is over."),
    )
    stock = fields.List(
        fields.String(), metadata=doc("The stock as it was dealt, in drawing order; when the round is over.")
    )


class FairnessSchema(Schema):
    """The data from which the deals of a game can be verified."""

    game_id = fields.String(required=True, metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1"))
    version = fields.Integer(required=True, metadata=doc("The version of the game.", minimum=1, example=40))
    provable = fields.Boolean(required=True, metadata=doc("`false` for an arranged game, which has nothing to verify."))
    method = fields.String(metadata=doc("The method by which the tiles are derived from the seeds.", example=SCHEME))
    seats = fields.Integer(required=True, metadata=doc("The number of seats.", minimum=2, example=4))
    set = fields.Integer(required=True, metadata=doc("The highest double of the set.", minimum=6, example=6))
    without = fields.List(
        fields.String(),
        metadata=doc("The tiles of the set that are not in this game; absent if all are.", example=["0-0"]),
    )
    deals_again = fields.Boolean(
        metadata=doc(
            "`true` where the rules deal again for another reason than that nobody holds a double, which the record "
            "tells; else absent.",
            example=True,
        )
    )
    rounds = fields.List(
        fields.Nested(RoundFairnessSchema),
        required=True,
        metadata=doc("Every round with a commitment, including the next one to be dealt; empty if not provable."),
    )


class RevealedTilesSchema(Schema):
    """Tiles of a deal, as far as they are revealed."""

    count = fields.Integer(required=True, metadata=doc("The number of tiles.", minimum=0, example=7))
    tiles = fields.List(
        fields.String(),
        metadata=doc("The tiles if revealed: a hand sorted, the stock in drawing order.", example=["0-5"]),
    )


class RevealedHandSchema(RevealedTilesSchema, SeatedSchema):
    """A hand as it was dealt, as far as it is revealed."""


class RecordedDealSchema(Schema):
    """A deal."""

    version = fields.Integer(required=True, metadata=doc("The version of the game after it.", minimum=2, example=2))
    arranged = fields.Boolean(
        required=True, metadata=doc("Whether the deal was arranged, not shuffled.", example=False)
    )
    hands = fields.List(fields.Nested(RevealedHandSchema), required=True, metadata=doc("One per seat."))
    stock = fields.Nested(RevealedTilesSchema, required=True, metadata=doc("The undealt tiles."))


class RecordedEventSchema(Schema):
    """An event, as in the events of a game but without its time."""

    version = fields.Integer(required=True, metadata=doc("The version of the game after it.", minimum=1, example=18))
    type = fields.String(required=True, metadata=doc("As in the events of a game.", example="played"))
    seat = seat_field("The seat that caused the event, if any.")
    data = fields.Nested(EventDataSchema, required=True, metadata=doc("The data of the event."))


class RecordedRoundSchema(Schema):
    """A round, or the commitment to one that was not dealt."""

    round = fields.Integer(required=True, metadata=doc("From 1.", minimum=1, example=1))
    commitment = digest("The commitment to the seed; absent in an arranged game.")
    client_seeds = fields.List(fields.String(), metadata=doc("The client seed of each seat; from the deal on."))
    attempt = fields.Integer(
        metadata=doc("The number of deals that the rules rejected before this one.", minimum=0, example=0)
    )
    seed = digest("The seed, when the round is over.")
    deal = fields.Nested(RecordedDealSchema, metadata=doc("Absent in a round that was not dealt."))
    events = fields.List(fields.Nested(RecordedEventSchema), metadata=doc("The events after the deal."))


class RecordedPlayerSchema(SeatedSchema):
    """A player of the match."""

    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))
    bot = fields.String(metadata=doc("The level of a computer player; absent for any other.", example="greedy"))
    edition = fields.Integer(metadata=doc("The edition of the computer players, with `bot`.", minimum=1, example=1))


class MatchRecordSchema(Schema):
    """The record of a match."""

    game_id = fields.String(metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1"))
    variant = fields.String(required=True, metadata=doc("Which game was played.", example="fido"))
    edition = fields.Integer(required=True, metadata=doc("The edition of its rules.", minimum=1, example=1))
    options = fields.Nested(OptionsSchema, required=True, metadata=doc("The house rules."))
    players = fields.List(fields.Nested(RecordedPlayerSchema), required=True, metadata=doc("In seat order."))
    clock = fields.Nested(ClockSchema, metadata=doc("The limits of time, in seconds; absent without a clock."))
    absence = fields.Nested(AbsenceRuleSchema, metadata=doc("What follows at a deadline; with `clock`."))
    date = fields.DateTime(metadata=doc("When the game was created."))
    fairness = fields.String(
        required=True, metadata=doc("The method by which deals can be proven, or `arranged`.", example=SCHEME)
    )
    whole = fields.Boolean(
        required=True, metadata=doc("`false` while a round is in progress, as not all of it is revealed.")
    )
    seat = seat_field("The seat whose view it is, if it is not whole and not a spectator's.")
    winners = fields.List(
        fields.Integer(), metadata=doc("The seats that have won; absent until the match is finished.", example=[0])
    )
    rounds = fields.List(
        fields.Nested(RecordedRoundSchema), required=True, metadata=doc("In order, from the first one.")
    )


class FindingSchema(Schema):
    """An error in a record."""

    code = fields.String(required=True, metadata=doc(_FINDINGS, example="wrong_deal"))
    text = fields.String(required=True, metadata=doc("An explanation for people.", example="Seat 2 is to move."))
    line = fields.Integer(metadata=doc("The line of the record, from 1.", minimum=1, example=17))
    round = fields.Integer(metadata=doc("The round.", minimum=1, example=1))
    version = fields.Integer(metadata=doc("The version.", minimum=1, example=18))


class ReplayStepSchema(EventDataSchema):
    """An event of a round, with its data beside it."""

    class Meta:
        """Fields of events that a match does not have."""

        exclude = ("hand", "commitment", "client_seeds", "next_commitment", "name", "game_id")

    version = fields.Integer(required=True, metadata=doc("The version of the game after it.", minimum=2, example=18))
    type = fields.String(required=True, metadata=doc("As in the events of a game.", example="played"))
    seat = seat_field("The seat that caused the event, if any.")
    tiles = fields.Integer(
        required=True, metadata=doc("The number of tiles on the table after it.", minimum=0, example=5)
    )
    text = fields.String(
        required=True,
        metadata=doc(
            "A sentence about it, at most 140 characters, in the language of the response.",
            example="Bo played four six on the right; ends one and six.",
        ),
    )


class ReplayRoundSchema(Schema):
    """A round with its last table and the steps that led to it."""

    round = fields.Integer(required=True, metadata=doc("From 1.", minimum=1, example=1))
    hands = fields.List(
        fields.Nested(RevealedHandSchema), required=True, metadata=doc("The hands as they were dealt, one per seat.")
    )
    stock = fields.Nested(RevealedTilesSchema, required=True, metadata=doc("The undealt tiles."))
    board = fields.Nested(
        PlacedBoardSchema,
        required=True,
        metadata=doc(
            "The table after the last step. As no tile moves, the table after an earlier step is the first `tiles` of "
            "it; only the first tile may be turned over later (`flipped`)."
        ),
    )
    steps = fields.List(
        fields.Nested(ReplayStepSchema), required=True, metadata=doc("The events; the first is the deal.")
    )


class ReplaySchema(Schema):
    """A match to be shown step by step."""

    variant = fields.String(required=True, metadata=doc("Which game was played.", example="fido"))
    edition = fields.Integer(required=True, metadata=doc("The edition of its rules.", minimum=1, example=1))
    options = fields.Nested(OptionsSchema, required=True, metadata=doc("The house rules."))
    players = fields.List(fields.Nested(RecordedPlayerSchema), required=True, metadata=doc("In seat order."))
    finished = fields.Boolean(required=True, metadata=doc("Whether the match is finished."))
    winners = fields.List(
        fields.Integer(), metadata=doc("The seats that have won; absent until the match is finished.", example=[0])
    )
    rounds = fields.List(fields.Nested(ReplayRoundSchema), required=True, metadata=doc("In order, from the first one."))
    fault = fields.Nested(
        FindingSchema, metadata=doc("Why the replay ends before the record; absent if all of it was replayed.")
    )


class VerificationSchema(Schema):
    """What was checked in a record, and the findings."""

    verified = fields.Boolean(required=True, metadata=doc("Whether there are no findings."))
    finished = fields.Boolean(required=True, metadata=doc("Whether the match is finished."))
    fairness = fields.String(
        required=True, metadata=doc("The method that the record claims for its deals, or `arranged`.", example=SCHEME)
    )
    moves = fields.Integer(required=True, metadata=doc("The number of moves that were checked.", minimum=0, example=40))
    deals = fields.Integer(
        required=True, metadata=doc("The number of deals that were checked against the rules.", minimum=0, example=1)
    )
    proven = fields.Integer(
        required=True,
        metadata=doc("The number of deals that were proven to follow from their seeds.", minimum=0, example=1),
    )
    decisions = fields.Integer(
        required=True,
        metadata=doc(
            "The number of moves of computer players that were computed again from the seeds of their rounds. Here "
            f"only those of the levels {_CHEAP_LEVELS}, and not more than {CHEAP_DECISIONS.max_choices}; the notes say "
            "what was left out.",
            minimum=0,
            example=0,
        ),
    )
    notes = fields.List(
        fields.String(), required=True, metadata=doc("What the verification proves and what it does not, in sentences.")
    )
    findings = fields.List(
        fields.Nested(FindingSchema), required=True, metadata=doc("The errors, in order of the lines.")
    )
    more_findings = fields.Integer(
        required=True, metadata=doc("The number of findings that are not listed.", minimum=0, example=0)
    )


class ReplayQuerySchema(RequestSchema):
    """The requested shape of the tables of a replay."""

    aspect = QueryAspect()
