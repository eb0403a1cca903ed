"""The schemas of the reasons of refusals, and of the list of all problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from marshmallow import Schema, fields

from service.reasons import PARAMS, param_type
from service.web.schemas.fields import doc

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

    field = fields.String(required=True, metadata=doc("The path of the field.", example="players.0.name"))
    reason = fields.String(required=True, metadata=doc("A stable word, as in a problem.", example="too_long"))
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
