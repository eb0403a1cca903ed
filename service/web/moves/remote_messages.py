"""What is sent to a remote player, and how its answer is read.

Owns the message ``game.move``: the view in it is the one that the bearer of the seat's token gets, and its answer is
the body of a move that is posted.
"""

from __future__ import annotations

from typing import Final

import orjson

from service.games.commands.move import Expected, MoveCommand
from service.games.model.schedule import Lifetimes, RemoteTurn
from service.games.model.timestamps import format_rfc3339
from service.games.model.views import view_game
from service.texts import DEFAULT_LANGUAGE
from service.web.fields.moves import MoveSchema, posted_move
from service.web.fields.values import JsonObject
from service.web.http.body import parse_json, validate
from service.web.http.errors import RequestError
from service.web.problems.answers import Refused, refused_body
from service.web.view.serializers import game_view_json

MAX_ANSWER_BYTES: Final = 64 * 1024
MESSAGE_TYPE: Final = "game.move"

_move_in: Final = MoveSchema()


def move_message(turn: RemoteTurn, lifetimes: Lifetimes, refused: Refused | None) -> bytes:
    """Return the message that asks for a move, as JSON.

    ``refused``: why the answer before was not taken. The ``timestamp`` is that of the event that gave it the turn.
    """
    view = view_game(turn.game, turn.seat, lifetimes)
    data: JsonObject = {"game": view.id, "seat": turn.seat, "version": view.version}
    if view.deadline is not None:
        data["deadline"] = format_rfc3339(view.deadline)
    data["view"] = game_view_json(view)
    if refused is not None:
        data["problem"] = orjson.Fragment(refused_body(refused, DEFAULT_LANGUAGE))
    return orjson.dumps({"type": MESSAGE_TYPE, "timestamp": format_rfc3339(turn.due), "data": data})


def read_answer(turn: RemoteTurn, body: bytes, *, complete: bool) -> MoveCommand:
    """Return the move in an answer, whatever its content type; without a version it is meant for that of the message.

    Raises ``RequestError`` (``malformed``, ``too_large``) and ``InvalidBody``.
    """
    if not complete or len(body) > MAX_ANSWER_BYTES:
        raise RequestError("answer_too_large", max=MAX_ANSWER_BYTES)
    move, version, client_seed = posted_move(validate(_move_in, parse_json(body)))
    return MoveCommand(move, Expected(turn.game.version if version is None else version), client_seed)
