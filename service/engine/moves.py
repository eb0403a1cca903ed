"""The moves that a seat may ask for.

Owns the form of a move and the names of its actions. Does not depend on the rules: a move may be illegal.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.tiles import Tile

Action = Literal["play", "draw", "pass", "done", "flip", "deal"]

PLAY: Final = "play"
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


class Move(NamedTuple):
    """One move. ``tile``, ``end``, ``face_down`` and ``outer`` go with ``play`` only; the lead has no ``end``.

    ``outer``: the half that stays outside, in a game in which that does not follow from the end; the lead has none.
    A play in a list of legal moves also has the points that it scores where plays score, and the sum of the ends after
    it where ends are counted (rules 3.5, 3.6); in a requested move both are ignored.
    """

    action: Action
    tile: Tile | None = None
    end: str | None = None
    face_down: bool = False
    ends_sum: int | None = None
    points: int | None = None
    outer: int | None = None


@cache
def play(tile: Tile, end: str | None, *, face_down: bool = False, outer: int | None = None) -> Move:
    """Return the move that lays this tile there, where plays do not score.

    Cached, as lists of moves repeat the same few.
    """
    return Move(PLAY, tile, end, face_down, outer=outer)


DRAW: Final = Move("draw")
PASS: Final = Move("pass")
DONE: Final = Move("done")
FLIP: Final = Move("flip")
DEAL: Final = Move("deal")
