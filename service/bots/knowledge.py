"""The observation of a seat, and its knowledge of the hidden tiles, as values.

Owns the form of both: for each tile that another seat holds, the set of tiles that it may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from service.engine.events import Event
from service.engine.state import Hand, State
from service.engine.tiles import Tile
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, View, event_view, view


class Condition(NamedTuple):
    """A fact about several hidden tiles of a seat: at least one of them is in its set of ``tiles``."""

    seat: int
    tiles: tuple[int, ...]
    """By hidden tile: some of its candidates."""


class KnownDeal(NamedTuple):
    """Knowledge of the hands that were dealt. A tile in doubt counts as dealt to the opener, not to the others."""

    opener: int
    lead: Tile | None
    """What the opener led; ``None`` before the lead."""
    known: tuple[Hand, ...]
    """By seat: tiles that it was dealt."""
    candidates: tuple[tuple[int, ...], ...]
    """By seat and hidden tile: the tiles that were dealt to the seat if it holds them, as a set."""


class Knowledge(NamedTuple):
    """The knowledge of one seat of the hidden tiles.

    The *candidates* of a hidden tile, which another seat holds, are the set of tiles that it may be: bit i stands for
    the tile with the index i. Among the candidates of the hidden tiles of a seat its true hand is always possible.
    """

    unseen: tuple[Tile, ...]
    """The tiles of the set that are neither on the table nor in the own hand, sorted."""
    candidates: tuple[tuple[int, ...], ...]
    """By seat: the candidates of each of its tiles, drawn ones last, as they were drawn; none for the own seat."""
    conditions: tuple[Condition, ...] = ()
    """What is known of several hidden tiles together."""
    dealt: KnownDeal | None = None
    """Knowledge of the dealt hands, where the opener may depend on several hidden tiles together."""


@lru_cache(maxsize=4096)
def tile_set(tiles: Hand) -> int:
    """Return these tiles as a set: bit i stands for the tile with the index i."""
    return sum([1 << tile.index for tile in tiles])


# What a seat has seen: all that a computer player is given.


class Observation(NamedTuple):
    """The view of a seat that is asked for a move: all that it has seen of the match."""

    seat: int
    view: View
    """The match as this seat may know it now."""
    events: tuple[Event | DealtView | DrewView, ...]
    """The events of the running round from its deal on, as this seat may know them; none before the first deal."""


def observe(rules: Rules, state: State, events: Iterable[Event], seat: int) -> Observation:
    """Return what ``seat`` has seen, from the match's state and the events of its running round, the deal first."""
    return Observation(seat, view(rules, state, seat), tuple([event_view(event, seat) for event in events]))
