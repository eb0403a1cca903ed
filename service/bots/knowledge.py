"""The types for what a seat has observed and what it knows of the hidden tiles.

For each tile that another seat holds, the knowledge is the set of tiles that it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from service.bots.opening import RoundOpening
from service.engine.events import Drew, Event, Played
from service.engine.state import Hand, State
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, View, event_view, view


class Condition(NamedTuple):
    """A fact about several hidden tiles of a seat: at least one of them is in its set of ``tiles``."""

    seat: int
    tiles: tuple[int, ...]
    """For each hidden tile of the seat, a subset of its candidates."""


class KnownDeal(NamedTuple):
    """Knowledge of the dealt hands. A tile that may or may not have been dealt counts as dealt to the opener only."""

    opening: RoundOpening
    known: tuple[Hand, ...]
    """By seat: tiles that it was certainly dealt."""
    candidates: tuple[tuple[int, ...], ...]
    """By seat and hidden tile: the set of tiles that, if the seat holds them now, were dealt to it."""


class Knowledge(NamedTuple):
    """The knowledge that one seat has of the hidden tiles.

    The *candidates* of a hidden tile in another seat's hand are the set of tiles that it can be: bit i stands for the
    tile with the index i. The candidates of a seat's hidden tiles always allow its true hand.
    """

    unseen: tuple[Tile, ...]
    """The tiles of the set that are neither on the table nor in the own hand, sorted."""
    candidates: tuple[tuple[int, ...], ...]
    """By seat: the candidates of each of its tiles, first the dealt ones, then the drawn ones in the order of drawing.

    Empty for the own seat.
    """
    conditions: tuple[Condition, ...] = ()
    """Facts about several hidden tiles together."""
    dealt: KnownDeal | None = None
    """Knowledge of the dealt hands, if which seat opened can depend on several hidden tiles together."""


@lru_cache(maxsize=4096)
def tile_set(tiles: Hand) -> int:
    """Return these tiles as a set: bit i stands for the tile with the index i."""
    return sum([1 << tile.index for tile in tiles])


def next_holder(hands: Sequence[object], seat: int) -> int | None:
    """Return the next seat clockwise that holds tiles; ``None`` if no other seat does.

    ``hands``: the tiles of each seat, or their number.
    """
    seats = len(hands)
    return next((other % seats for other in range(seat + 1, seat + seats) if hands[other % seats]), None)


# The input of a computer player.


class Observation(NamedTuple):
    """What the seat to act has seen of the match."""

    seat: int
    view: View
    """The match now, redacted for this seat."""
    events: tuple[Event | DealtView | DrewView, ...]
    """The events of the running round, its deal first, redacted for this seat; empty before the first deal."""


def observe(rules: Rules, state: State, events: Iterable[Event], seat: int) -> Observation:
    """Return the observation of ``seat``.

    ``state`` is the state of the match; ``events`` are those of its running round, the deal first.
    """
    return Observation(seat, view(rules, state, seat), tuple([event_view(event, seat) for event in events]))


def dealt_sizes(observation: Observation) -> list[int]:
    """Return for each seat the number of tiles that it was dealt."""
    sizes = [player.tiles for player in observation.view.players]
    for event in observation.events:
        if isinstance(event, Played):
            sizes[event.seat] += 1
        elif isinstance(event, Drew | DrewView):
            sizes[event.seat] -= 1
    return sizes
