"""The shapes of records and of the luck of a game, for the document and for the tests."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields

from service.engine.deal import SCHEME
from service.records.report import CODES
from service.web.schemas.events import EventData
from service.web.schemas.fields import doc
from service.web.schemas.game import Commitment, RulesOut, SeatOut, digest, seat_field

_FINDINGS: Final = "One of " + ", ".join([f"`{code}` ({meaning})" for code, meaning in CODES.items()]) + "."


class RoundFairness(Commitment):
    """The luck of a round, as far as it is told by now."""

    client_seeds = fields.List(
        fields.String(),
        metadata=doc(
            "What each seat has added, in seat order; empty for nothing. From the deal on.", example=["", "mu"]
        ),
    )
    seed = digest("The seed, when the round is over, or the match before it was dealt.")
    attempt = fields.Integer(
        metadata=doc("How many deals the rules have dealt again; when the round is over.", minimum=0, example=0)
    )
    hands = fields.List(
        fields.List(fields.String()),
        metadata=doc("The hands as they were dealt, sorted, a list a seat; when the round is over."),
    )
    stock = fields.List(
        fields.String(), metadata=doc("The stock as it was dealt, in the order of drawing; when the round is over.")
    )


class Fairness(Schema):
    """What anybody needs to check the deals of a game."""

    game = fields.String(required=True, metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA"))
    version = fields.Integer(required=True, metadata=doc("The version of the game.", minimum=1, example=40))
    provable = fields.Boolean(
        required=True, metadata=doc("`false` where somebody has fixed the chance: there is nothing to check.")
    )
    method = fields.String(metadata=doc("How tiles follow from the seeds.", example=SCHEME))
    seats = fields.Integer(required=True, metadata=doc("How many seats there are.", minimum=2, example=4))
    set = fields.Integer(required=True, metadata=doc("The highest double of the set.", minimum=6, example=6))
    rounds = fields.List(
        fields.Nested(RoundFairness),
        required=True,
        metadata=doc("Every round committed to so far, the one to be dealt next among them; none if not provable."),
    )


class Told(Schema):
    """Tiles of a deal, as far as they are told."""

    count = fields.Integer(required=True, metadata=doc("How many there are.", minimum=0, example=7))
    tiles = fields.List(
        fields.String(), metadata=doc("Which: a hand sorted, the stock in the order of drawing.", example=["0-5"])
    )


class ToldHand(Told, SeatOut):
    """A hand as it was dealt, as far as it is told."""


class RecordedDeal(Schema):
    """A deal."""

    version = fields.Integer(required=True, metadata=doc("The version it led to.", minimum=2, example=2))
    arranged = fields.Boolean(required=True, metadata=doc("Whether somebody had set it.", example=False))
    hands = fields.List(fields.Nested(ToldHand), required=True, metadata=doc("One a seat."))
    stock = fields.Nested(Told, required=True, metadata=doc("The undealt tiles."))


class RecordedEvent(Schema):
    """Something that has happened, as the events of a game tell it, but for when it was."""

    version = fields.Integer(required=True, metadata=doc("The version it led to.", minimum=1, example=18))
    type = fields.String(required=True, metadata=doc("As in the events of a game.", example="played"))
    seat = seat_field("Whose doing it was, if anybody's.")
    data = fields.Nested(EventData, required=True, metadata=doc("What there is to say of it."))


class RecordedRound(Schema):
    """A round, or the commitment to the seed of one that was not dealt."""

    round = fields.Integer(required=True, metadata=doc("From 1.", minimum=1, example=1))
    commitment = digest("What binds the seed; absent in an arranged game.")
    client_seeds = fields.List(fields.String(), metadata=doc("What each seat has added; from the deal on."))
    attempt = fields.Integer(metadata=doc("How many deals the rules have dealt again.", minimum=0, example=0))
    seed = digest("The seed, when the round is over.")
    deal = fields.Nested(RecordedDeal, metadata=doc("Absent in a round that was not dealt."))
    events = fields.List(fields.Nested(RecordedEvent), metadata=doc("What happened after the deal."))


class RecordedPlayer(SeatOut):
    """Who played."""

    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))


class Record(Schema):
    """A match that can be kept."""

    game = fields.String(metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA"))
    variant = fields.String(required=True, metadata=doc("Which game was played.", example="fido"))
    edition = fields.Integer(required=True, metadata=doc("Of its rules.", minimum=1, example=1))
    rules = fields.Nested(RulesOut, required=True, metadata=doc("The house rules."))
    players = fields.List(fields.Nested(RecordedPlayer), required=True, metadata=doc("In seat order."))
    date = fields.DateTime(metadata=doc("When the game was created."))
    fairness = fields.String(
        required=True,
        metadata=doc("The method by which deals can be proven, or `arranged`.", example=SCHEME),
    )
    whole = fields.Boolean(required=True, metadata=doc("`false`: a round still runs, and not all of it is told."))
    seat = seat_field("Whose view it is, if it is not whole and not a spectator's.")
    winners = fields.List(fields.Integer(), metadata=doc("Who has won; absent while it goes on.", example=[0]))
    rounds = fields.List(fields.Nested(RecordedRound), required=True, metadata=doc("From the first one on."))


class Finding(Schema):
    """Something that cannot be so."""

    code = fields.String(required=True, metadata=doc(_FINDINGS, example="wrong_deal"))
    text = fields.String(required=True, metadata=doc("The same for people.", example="Seat 2 is to move."))
    line = fields.Integer(metadata=doc("The line of the record, from 1.", minimum=1, example=17))
    round = fields.Integer(metadata=doc("The round.", minimum=1, example=1))
    version = fields.Integer(metadata=doc("The version.", minimum=1, example=18))


class Verification(Schema):
    """What was checked of a record, and what was found."""

    verified = fields.Boolean(required=True, metadata=doc("Whether nothing was found to be wrong."))
    whole = fields.Boolean(required=True, metadata=doc("`false`: the record leaves out what its reader could not see."))
    finished = fields.Boolean(required=True, metadata=doc("Whether the match came to its end."))
    fairness = fields.String(required=True, metadata=doc("What is claimed of the deals.", example=SCHEME))
    moves = fields.Integer(required=True, metadata=doc("Moves checked.", minimum=0, example=40))
    deals = fields.Integer(required=True, metadata=doc("Deals checked against the rules.", minimum=0, example=1))
    proven = fields.Integer(
        required=True,
        metadata=doc("Deals found to be those of their seeds.", minimum=0, example=1),
    )
    notes = fields.List(fields.String(), required=True, metadata=doc("What this proves, and what not, in sentences."))
    findings = fields.List(fields.Nested(Finding), required=True, metadata=doc("What is wrong, line by line."))
    more = fields.Integer(required=True, metadata=doc("How many findings are not listed.", minimum=0, example=0))
