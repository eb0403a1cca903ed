"""The schemas of the score card, for the document and for the tests."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.web.fields.shown import SeatedSchema, seat_field, shown_tile
from service.web.fields.strict import doc


class StandingSchema(SeatedSchema):
    """A seat's place in the match."""

    name = fields.String(metadata=doc("Absent while the seat is open.", example="Ada"))
    total = fields.Integer(required=True, metadata=doc("The match score so far.", example=625))
    team = fields.Integer(metadata=doc("The team, in team games.", minimum=0, example=0))
    rank = fields.Integer(required=True, metadata=doc("From 1; ties share a rank.", minimum=1, example=1))
    active = fields.Boolean(required=True, metadata=doc("Still in the match.", example=True))
    forfeited = fields.Boolean(
        metadata=doc("`true` after the seat has forfeited: its rank is behind all that have not.")
    )


class HandLeftSchema(SeatedSchema):
    """A hand at the end of a round."""

    tiles = fields.List(shown_tile("A tile."), required=True, metadata=doc("Sorted."))
    value = fields.Integer(required=True, metadata=doc("Its value in points.", minimum=0, example=5))


class ScoreLineSchema(SeatedSchema):
    """Points of a seat and the rule they follow from."""

    points = fields.Integer(required=True, metadata=doc("The points.", example=625))
    rule = fields.String(
        required=True,
        metadata=doc(
            "The number of the rule, as in the rule page of the variant (`rules` of `GET /v1/variants/{variant}`, in "
            "either language) and in `docs/rules.md` of the source code.",
            example="1.8",
        ),
    )
    text = fields.String(required=True, metadata=doc("The arithmetic.", example="(25 ÷ 4 − 0) × 100"))


class RoundSchema(Schema):
    """The result of a round."""

    number = fields.Integer(required=True, metadata=doc("From 1.", minimum=1, example=1))
    ended_by = fields.String(
        required=True,
        metadata=doc(
            "`out`, `blocked`, `closed`, `flip`, or `target`: a placement brought a total to the target of the match.",
            example="out",
        ),
    )
    winner = seat_field(
        "The winner of the round: the seat that laid its last tile first, unless the rules of the game say otherwise; "
        "absent without one."
    )
    loser = seat_field(
        "The loser of the round, in games that name one: what earlier rounds carried over falls to its side. In teams "
        "it is one seat of the side. Absent without one."
    )
    hands = fields.List(
        fields.Nested(HandLeftSchema), required=True, metadata=doc("The hands of all seats that were in the match.")
    )
    scores = fields.List(
        fields.Integer(),
        required=True,
        metadata=doc(
            "The points of the round, one number per seat; in teams every seat has those of its team.", example=[5, 0]
        ),
    )
    carried = fields.Integer(
        required=True, metadata=doc("The points that this round carries over to the next loser.", minimum=0, example=0)
    )
    lines = fields.List(
        fields.Nested(ScoreLineSchema),
        required=True,
        metadata=doc("The score lines that explain every point; they add up to the scores."),
    )


class AmountSchema(SeatedSchema):
    """The amount that a seat receives, or pays if negative."""

    amount = fields.Float(required=True, metadata=doc("Rounded to two decimals.", example=-8))
    exact = fields.String(required=True, metadata=doc("An integer or a fraction.", example="77/3"))


class PaymentSchema(Schema):
    """A payment from one seat to another."""

    from_ = seat_field("The seat that pays.", required=True, data_key="from")
    to = seat_field("The seat that is paid.", required=True)
    amount = fields.Float(required=True, metadata=doc("Rounded to two decimals.", example=8))
    exact = fields.String(required=True, metadata=doc("An integer or a fraction.", example="8"))


class SettlementSchema(Schema):
    """The settlement of a finished match."""

    mode = fields.String(required=True, metadata=doc("`average`, `difference` or `fixed`.", example="average"))
    amounts = fields.List(fields.Nested(AmountSchema), required=True, metadata=doc("One per seat; they add up to 0."))
    payments = fields.List(
        fields.Nested(PaymentSchema), required=True, metadata=doc("Payments that result in these amounts.")
    )


class ScoreSchema(Schema):
    """The score card."""

    game_id = fields.String(required=True, metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA_1"))
    version = fields.Integer(required=True, metadata=doc("The version of the game.", minimum=1, example=40))
    status = fields.String(required=True, metadata=doc("As in the game view.", example="finished"))
    best = fields.String(required=True, metadata=doc("`highest` or `lowest`: which total wins.", example="highest"))
    standings = fields.List(fields.Nested(StandingSchema), required=True, metadata=doc("From first to last."))
    rounds = fields.List(fields.Nested(RoundSchema), required=True, metadata=doc("The rounds that are over."))
    carry = fields.Integer(
        metadata=doc(
            "The points that are carried over to the next loser of a round; only in games that carry any.",
            minimum=0,
            example=0,
        ),
    )
    winners = fields.List(fields.Integer(), required=True, metadata=doc("The seats that have won.", example=[0]))
    settlement = fields.Nested(SettlementSchema, metadata=doc("In `dominospiel`, when finished."))
