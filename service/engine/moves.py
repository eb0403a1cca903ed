"""The moves that a seat can request.

Owns the fields of a move and the names of the actions. Does not depend on the rules: a ``Move`` can be illegal.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.tiles import Tile

Action = Literal["play", "draw", "pass", "done", "flip", "deal"]

PLAY: Final = "play"
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


class Move(NamedTuple):
    """One move. All fields but ``action`` belong to the action ``play``.

    Only legal moves that the engine lists have ``ends_sum`` and ``points``; in a requested move both are ignored.
    """

    action: Action
    tile: Tile | None = None
    end: str | None = None
    """The name of the end; ``None`` for the lead."""
    face_down: bool = False
    ends_sum: int | None = None
    """The sum of the ends after the play, in games that count ends (rules 3.5)."""
    points: int | None = None
    """The points of the play, in games in which plays score (rules 3.6)."""
    outer: int | None = None
    """The half that does not touch the host, if the end does not decide that; ``None`` for the lead."""


@cache
def play(tile: Tile, end: str | None, *, face_down: bool = False, outer: int | None = None) -> Move:
    """Return the move that plays this tile at this end, for games in which plays do not score.

    Cached, because the same moves are in many lists of legal moves.
    """
    return Move(PLAY, tile, end, face_down, outer=outer)


DRAW: Final = Move("draw")
PASS: Final = Move("pass")
DONE: Final = Move("done")
FLIP: Final = Move("flip")
DEAL: Final = Move("deal")
