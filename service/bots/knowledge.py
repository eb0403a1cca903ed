"""What follows from an observation about the tiles that a seat cannot see.

Written against the engine alone: what a draw, a pass or the end of a turn tells follows from the questions that the
rules answer. Does not depend on how a move is chosen.
"""

from __future__ import annotations

from typing import NamedTuple

from service.bots.observation import Observation
from service.engine.tiles import Tile
from service.engine.variant import Rules


class Knowledge(NamedTuple):
    """What one seat knows of the hidden tiles.

    A *slot* is a tile that another seat holds, as the set of tiles that it may be: bit i stands for the tile with the
    index i. The true hand of a seat always fits its slots, one tile each.
    """

    unseen: tuple[Tile, ...]
    """The tiles of the set that are neither on the table nor in the own hand, sorted."""
    slots: tuple[tuple[int, ...], ...]
    """By seat: the slots of its hand; none for the own seat."""


def infer(rules: Rules, observation: Observation) -> Knowledge:
    """What the seat of this observation knows of the hidden tiles."""
    view = observation.view
    own = set(() if view.you is None else view.you.hand)
    seen = own.union([placement.tile for placement in view.layout.placements])
    unseen = tuple([tile for tile in rules.tiles if tile not in seen])
    anything = sum([1 << tile.index for tile in unseen])
    return Knowledge(
        unseen,
        tuple([() if player.seat == observation.seat else (anything,) * player.tiles for player in view.players]),
    )
