"""The schemas of records, replays and fairness reports, for the document and for the tests."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from marshmallow import Schema

from service.engine.deal import SCHEME
from service.records.bot_checks import CHEAP_DECISIONS
from service.records.report import CODES
from service.web.board.schemas import PlacedBoardSchema
from service.web.events.schemas import EventDataSchema
from service.web.fields.shown import SeatedSchema, digest, optional, required, seat_field
from service.web.fields.strict import QueryAspect, RequestSchema
from service.web.view.schemas import AbsenceRuleSchema, ClockSchema, CommitmentSchema, OptionsSchema

_CHEAP_LEVELS: Final = " and ".join([f"`{level}`" for level in sorted(CHEAP_DECISIONS.levels)])
_FINDINGS: Final = "One of " + ", ".join([f"`{code}` ({meaning})" for code, meaning in CODES.items()]) + "."


class RoundFairnessSchema(CommitmentSchema):
    """What is revealed of the deal of a round so far."""

    client_seeds = optional(
        [str], "The client seed of each seat, in seat order; empty without one. From the deal on.", example=["", "mu"]
    )
    seed = digest("The seed, when the round is over, or when the match ended before it was dealt.")
    attempt = optional(
        int,
        "The number of deals that the rules rejected before this one; when the round is over.",
        minimum=0,
        example=0,
    )
    hands = optional([[str]], "The hands as they were dealt, sorted, one list per seat; when the round is over.")
    stock = optional([str], "The stock as it was dealt, in drawing order; when the round is over.")


class FairnessSchema(Schema):
    """The data from which the deals of a game can be verified."""

    game_id = required(str, "The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1")
    version = required(int, "The version of the game.", minimum=1, example=40)
    provable = required(bool, "`false` for an arranged game, which has nothing to verify.")
    method = optional(str, "The method by which the tiles are derived from the seeds.", example=SCHEME)
    seats = required(int, "The number of seats.", minimum=2, example=4)
    set = required(int, "The highest double of the set.", minimum=6, example=6)
    without = optional([str], "The tiles of the set that are not in this game; absent if all are.", example=["0-0"])
    deals_again = optional(
        bool,
        "`true` where the rules deal again for another reason than that nobody holds a double, which the record "
        "tells; else absent.",
        example=True,
    )
    rounds = required(
        [RoundFairnessSchema],
        "Every round with a commitment, including the next one to be dealt; empty if not provable.",
    )


class RevealedTilesSchema(Schema):
    """Tiles of a deal, as far as they are revealed."""

    count = required(int, "The number of tiles.", minimum=0, example=7)
    tiles = optional([str], "The tiles if revealed: a hand sorted, the stock in drawing order.", example=["0-5"])


class RevealedHandSchema(RevealedTilesSchema, SeatedSchema):
    """A hand as it was dealt, as far as it is revealed."""


class RecordedDealSchema(Schema):
    """A deal."""

    version = required(int, "The version of the game after it.", minimum=2, example=2)
    arranged = required(bool, "Whether the deal was arranged, not shuffled.", example=False)
    hands = required([RevealedHandSchema], "One per seat.")
    stock = required(RevealedTilesSchema, "The undealt tiles.")


class RecordedEventSchema(Schema):
    """An event, as in the events of a game but without its time."""

    version = required(int, "The version of the game after it.", minimum=1, example=18)
    type = required(str, "As in the events of a game.", example="played")
    seat = seat_field("The seat that caused the event, if any.")
    data = required(EventDataSchema, "The data of the event.")


class RecordedRoundSchema(Schema):
    """A round, or the commitment to one that was not dealt."""

    round = required(int, "From 1.", minimum=1, example=1)
    commitment = digest("The commitment to the seed; absent in an arranged game.")
    client_seeds = optional([str], "The client seed of each seat; from the deal on.")
    attempt = optional(int, "The number of deals that the rules rejected before this one.", minimum=0, example=0)
    seed = digest("The seed, when the round is over.")
    deal = optional(RecordedDealSchema, "Absent in a round that was not dealt.")
    events = optional([RecordedEventSchema], "The events after the deal.")


class RecordedPlayerSchema(SeatedSchema):
    """A player of the match."""

    name = optional(str, "Absent while the seat is open.", example="Ada")
    bot = optional(str, "The level of a computer player; absent for any other.", example="greedy")
    edition = optional(int, "The edition of the computer players, with `bot`.", minimum=1, example=1)


class MatchRecordSchema(Schema):
    """The record of a match."""

    game_id = optional(str, "The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1")
    variant = required(str, "Which game was played.", example="fido")
    edition = required(int, "The edition of its rules.", minimum=1, example=1)
    options = required(OptionsSchema, "The house rules.")
    players = required([RecordedPlayerSchema], "In seat order.")
    clock = optional(ClockSchema, "The limits of time, in seconds; absent without a clock.")
    absence = optional(AbsenceRuleSchema, "What follows at a deadline; with `clock`.")
    date = optional(datetime, "When the game was created.")
    fairness = required(str, "The method by which deals can be proven, or `arranged`.", example=SCHEME)
    whole = required(bool, "`false` while a round is in progress, as not all of it is revealed.")
    seat = seat_field("The seat whose view it is, if it is not whole and not a spectator's.")
    winners = optional([int], "The seats that have won; absent until the match is finished.", example=[0])
    rounds = required([RecordedRoundSchema], "In order, from the first one.")


class FindingSchema(Schema):
    """An error in a record."""

    code = required(str, _FINDINGS, example="wrong_deal")
    text = required(str, "An explanation for people.", example="Seat 2 is to move.")
    line = optional(int, "The line of the record, from 1.", minimum=1, example=17)
    round = optional(int, "The round.", minimum=1, example=1)
    version = optional(int, "The version.", minimum=1, example=18)


class ReplayStepSchema(EventDataSchema):
    """An event of a round, with its data beside it."""

    class Meta:
        """Fields of events that a match does not have."""

        exclude = ("hand", "commitment", "client_seeds", "next_commitment", "name", "game_id")

    version = required(int, "The version of the game after it.", minimum=2, example=18)
    type = required(str, "As in the events of a game.", example="played")
    seat = seat_field("The seat that caused the event, if any.")
    tiles = required(int, "The number of tiles on the table after it.", minimum=0, example=5)
    text = required(
        str,
        "A sentence about it, at most 140 characters, in the language of the response.",
        example="Bo played four six on the right; ends one and six.",
    )


class ReplayRoundSchema(Schema):
    """A round with its last table and the steps that led to it."""

    round = required(int, "From 1.", minimum=1, example=1)
    hands = required([RevealedHandSchema], "The hands as they were dealt, one per seat.")
    stock = required(RevealedTilesSchema, "The undealt tiles.")
    board = required(
        PlacedBoardSchema,
        "The table after the last step. As no tile moves, the table after an earlier step is the first `tiles` of "
        "it; only the first tile may be turned over later (`flipped`).",
    )
    steps = required([ReplayStepSchema], "The events; the first is the deal.")


class ReplaySchema(Schema):
    """A match to be shown step by step."""

    variant = required(str, "Which game was played.", example="fido")
    edition = required(int, "The edition of its rules.", minimum=1, example=1)
    options = required(OptionsSchema, "The house rules.")
    players = required([RecordedPlayerSchema], "In seat order.")
    finished = required(bool, "Whether the match is finished.")
    winners = optional([int], "The seats that have won; absent until the match is finished.", example=[0])
    rounds = required([ReplayRoundSchema], "In order, from the first one.")
    fault = optional(FindingSchema, "Why the replay ends before the record; absent if all of it was replayed.")


class VerificationSchema(Schema):
    """What was checked in a record, and the findings."""

    verified = required(bool, "Whether there are no findings.")
    finished = required(bool, "Whether the match is finished.")
    fairness = required(str, "The method that the record claims for its deals, or `arranged`.", example=SCHEME)
    moves = required(int, "The number of moves that were checked.", minimum=0, example=40)
    deals = required(int, "The number of deals that were checked against the rules.", minimum=0, example=1)
    proven = required(int, "The number of deals that were proven to follow from their seeds.", minimum=0, example=1)
    decisions = required(
        int,
        "The number of moves of computer players that were computed again from the seeds of their rounds. Here "
        f"only those of the levels {_CHEAP_LEVELS}, and not more than {CHEAP_DECISIONS.max_choices}; the notes say "
        "what was left out.",
        minimum=0,
        example=0,
    )
    notes = required([str], "What the verification proves and what it does not, in sentences.")
    findings = required([FindingSchema], "The errors, in order of the lines.")
    more_findings = required(int, "The number of findings that are not listed.", minimum=0, example=0)


class ReplayQuerySchema(RequestSchema):
    """The requested shape of the tables of a replay."""

    aspect = QueryAspect()
