"""The schema of the message that asks a remote player for a move."""

from __future__ import annotations

from marshmallow import Schema, fields

from service.web.schemas.fields import doc
from service.web.schemas.game import Game, Problem


class MoveMessageData(Schema):
    """For which turn a move is asked for."""

    game = fields.String(required=True, metadata=doc("The id of the game.", example="5m1Gd5tIvN3vYhYkS0oJGA"))
    seat = fields.Integer(required=True, metadata=doc("The seat of the remote player.", minimum=0, example=0))
    version = fields.Integer(required=True, metadata=doc("The version of the game.", minimum=1, example=17))
    deadline = fields.DateTime(metadata=doc("When the time of the turn is over; absent without a clock."))
    view = fields.Nested(
        Game, required=True, metadata=doc("What `GET /v1/games/{game}` answers with the token of the seat.")
    )
    problem = fields.Nested(
        Problem,
        metadata=doc("Why the answer before was no legal move: the problem of the same body in `POST …/moves`."),
    )


class MoveMessage(Schema):
    """The service asks a remote player for a move."""

    type = fields.String(required=True, metadata=doc("`game.move`.", example="game.move"))
    timestamp = fields.DateTime(required=True, metadata=doc("When the match last went on."))
    data = fields.Nested(MoveMessageData, required=True, metadata=doc("What is asked."))
