"""What a seat asks for.

Owns the one form of a move and the words for its actions. Must not know whether a move is legal.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.tiles import Tile

Action = Literal["play", "draw", "pass", "done", "flip", "deal"]

PLAY: Final = "play"
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


class Move(NamedTuple):
    """One move. ``tile``, ``end`` and ``face_down`` go with ``play`` only; the lead has no ``end``.

    In a list of legal moves a play also tells the sum of the ends and the points after it, where ends
    are counted (rules 3.5, 3.6); in a move that is asked for they are ignored.
    """

    action: Action
    tile: Tile | None = None
    end: str | None = None
    face_down: bool = False
    ends_sum: int | None = None
    points: int | None = None


@cache
def play(tile: Tile, end: str | None, *, face_down: bool = False) -> Move:
    """The move that lays this tile there, where ends are not counted: made once, as lists name the same few."""
    return Move(PLAY, tile, end, face_down)


DRAW: Final = Move("draw")
PASS: Final = Move("pass")
DONE: Final = Move("done")
FLIP: Final = Move("flip")
DEAL: Final = Move("deal")
