"""The schema of the list of legal moves."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.web.fields.moves import MoveSchema
from service.web.fields.shown import TO_ACT, to_act_field
from service.web.fields.strict import doc
from service.web.view.schemas import DealSchema, TurnSchema


class MoveListSchema(Schema):
    """What the bearer's seat may do now."""

    version = fields.Integer(required=True, metadata=doc("The version of the game.", minimum=1, example=17))
    turn = fields.Nested(TurnSchema, metadata=doc("Whose turn it is; only while `playing`."))
    deal = fields.Nested(DealSchema, metadata=doc("Only in `round_over`, and while a clock runs."))
    to_act = to_act_field(TO_ACT, required=True)
    legal_moves = fields.List(
        fields.Nested(MoveSchema), required=True, metadata=doc("The legal moves, in a fixed order.")
    )
