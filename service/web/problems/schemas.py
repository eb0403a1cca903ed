"""The schemas of a problem, of its reasons, and of the list of all problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from marshmallow import Schema, fields

from service.reasons import PARAMS, param_type
from service.web.fields.moves import MoveSchema
from service.web.fields.shown import TO_ACT, to_act_field
from service.web.fields.strict import doc

_PARAM_FIELDS: Final[dict[type, Callable[..., fields.Field[Any]]]] = {
    int: fields.Integer,
    str: fields.String,
    list: partial(fields.List, fields.String()),
}
ProblemParamsSchema = Schema.from_dict(
    {
        name: _PARAM_FIELDS[param_type(name)](metadata=doc(f"{text[0].upper()}{text[1:]}."))
        for name, text in PARAMS.items()
    },
    name="ProblemParamsSchema",
)


class CauseSchema(Schema):
    """The reason why one field is invalid."""

    field = fields.String(
        required=True, metadata=doc("The path of the field; empty for the whole body.", example="players.0.name")
    )
    reason = fields.String(required=True, metadata=doc("A stable word, as in a problem.", example="too_long"))
    detail = fields.String(
        required=True,
        metadata=doc("An explanation for people, in the language of the response.", example="At most 40 characters."),
    )
    params = fields.Nested(ProblemParamsSchema, metadata=doc("The values that the sentence names."))


class ReasonDescriptionSchema(Schema):
    """A reason that a problem may have."""

    reason = fields.String(required=True, metadata=doc("The stable word.", example="fits_nowhere"))
    text = fields.String(
        required=True,
        metadata=doc(
            "The sentence, where `{tile}` stands for the value `tile` of `params`.",
            example="The tile {tile} fits no open end.",
        ),
    )


class ProblemDescriptionSchema(Schema):
    """A code that a problem may have, and its reasons."""

    code = fields.String(required=True, metadata=doc("The stable code.", example="illegal_move"))
    status = fields.Integer(required=True, metadata=doc("The HTTP status.", example=409))
    title = fields.String(required=True, metadata=doc("The title of the problem.", example="Illegal move"))
    description = fields.String(required=True, metadata=doc("What it means."))
    reasons = fields.List(
        fields.Nested(ReasonDescriptionSchema), required=True, metadata=doc("Its reasons; the list may grow.")
    )


class ProblemListSchema(Schema):
    """Every problem that a response may be."""

    problems = fields.List(
        fields.Nested(ProblemDescriptionSchema), required=True, metadata=doc("By status; the list may grow.")
    )


class ProblemSchema(Schema):
    """A refusal (RFC 9457)."""

    type = fields.String(
        required=True, metadata=doc("The address of the explanation of the code.", example="/problems#illegal_move")
    )
    title = fields.String(required=True, metadata=doc("The kind of problem.", example="Illegal move"))
    status = fields.Integer(required=True, metadata=doc("The HTTP status.", example=409))
    detail = fields.String(
        required=True,
        metadata=doc(
            "An explanation for people, in the language of the response.", example="The tile 0-6 fits no open end."
        ),
    )
    code = fields.String(required=True, metadata=doc("A stable code for programs.", example="illegal_move"))
    reason = fields.String(
        required=True,
        metadata=doc(
            "A stable word that says more than `code`; `GET /problems` has the list, which may grow. With `invalid` "
            "that of the first field.",
            example="fits_nowhere",
        ),
    )
    params = fields.Nested(ProblemParamsSchema, metadata=doc("The values that the sentence names."))
    causes = fields.List(
        fields.Nested(CauseSchema),
        metadata=doc("With `invalid`: what is wrong with each field; a field may have several causes."),
    )
    version = fields.Integer(metadata=doc("With a rejected move: the version of the game.", minimum=1, example=17))
    to_act = to_act_field(f"With a rejected move. {TO_ACT}")
    legal_moves = fields.List(fields.Nested(MoveSchema), metadata=doc("With a rejected move: what you may do now."))
    retry_after = fields.Integer(metadata=doc("With 429 and 503: seconds to wait.", minimum=0, example=1))
    see = fields.String(
        metadata=doc("With some 404 and 405: the path of the document that may have been meant.", example="/")
    )
