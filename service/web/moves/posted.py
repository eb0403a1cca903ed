"""A move as it is posted: by a client, or by a remote player as its answer.

Owns the way from JSON to a move. Does not depend on who sent it, or how.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from service.engine.moves import Move
from service.web.fields.moves import MoveSchema
from service.web.http.body import validate

_move_in: Final = MoveSchema()


class PostedMove(NamedTuple):
    """A move, the version that it is meant for, and with a deal the new client seed of the seat."""

    move: Move
    version: int | None
    client_seed: str | None


def read_move(body: Any) -> PostedMove:
    """The move in a body. Raises ``InvalidBody``."""
    fields = validate(_move_in, body)
    move = Move(
        fields["action"],
        fields.get("tile"),
        fields.get("end"),
        fields.get("face_down", False),
        outer=fields.get("outer"),
    )
    return PostedMove(move, fields.get("version"), fields.get("client_seed"))
