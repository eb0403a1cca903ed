"""The schemas of a problem, of its reasons, and of the list of all problems."""

from __future__ import annotations

from marshmallow import Schema

from service.reasons import PARAMS, param_type
from service.web.fields.moves import MoveSchema
from service.web.fields.shown import TO_ACT, optional, required

ProblemParamsSchema = Schema.from_dict(
    {
        name: optional([str] if param_type(name) is list else param_type(name), f"{text[0].upper()}{text[1:]}.")
        for name, text in PARAMS.items()
    },
    name="ProblemParamsSchema",
)


class CauseSchema(Schema):
    """The reason why one field is invalid."""

    field = required(str, "The path of the field; empty for the whole body.", example="players.0.name")
    reason = required(str, "A stable word, as in a problem.", example="too_long")
    detail = required(
        str, "An explanation for people, in the language of the response.", example="At most 40 characters."
    )
    params = optional(ProblemParamsSchema, "The values that the sentence names.")


class ReasonDescriptionSchema(Schema):
    """A reason that a problem may have."""

    reason = required(str, "The stable word.", example="fits_nowhere")
    text = required(
        str,
        "The sentence, where `{tile}` stands for the value `tile` of `params`.",
        example="The tile {tile} fits no open end.",
    )


class ProblemDescriptionSchema(Schema):
    """A code that a problem may have, and its reasons."""

    code = required(str, "The stable code.", example="illegal_move")
    status = required(int, "The HTTP status.", example=409)
    title = required(str, "The title of the problem.", example="Illegal move")
    description = required(str, "What it means.")
    reasons = required([ReasonDescriptionSchema], "Its reasons; the list may grow.")


class ProblemListSchema(Schema):
    """Every problem that a response may be."""

    problems = required([ProblemDescriptionSchema], "By status; the list may grow.")


class ProblemSchema(Schema):
    """A refusal (RFC 9457)."""

    type = required(str, "The address of the explanation of the code.", example="/problems#illegal_move")
    title = required(str, "The kind of problem.", example="Illegal move")
    status = required(int, "The HTTP status.", example=409)
    detail = required(
        str, "An explanation for people, in the language of the response.", example="The tile 0-6 fits no open end."
    )
    code = required(str, "A stable code for programs.", example="illegal_move")
    reason = required(
        str,
        "A stable word that says more than `code`; `GET /problems` has the list, which may grow. With `invalid` "
        "that of the first field.",
        example="fits_nowhere",
    )
    params = optional(ProblemParamsSchema, "The values that the sentence names.")
    causes = optional([CauseSchema], "With `invalid`: what is wrong with each field; a field may have several causes.")
    version = optional(int, "With a rejected move: the version of the game.", minimum=1, example=17)
    to_act = optional([int], f"With a rejected move. {TO_ACT}", example=[2])
    legal_moves = optional([MoveSchema], "With a rejected move: what you may do now.")
    retry_after = optional(int, "With 429 and 503: seconds to wait.", minimum=0, example=1)
    see = optional(str, "With some 404 and 405: the path of the document that may have been meant.", example="/")
