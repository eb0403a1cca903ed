"""The level ``greedy``: the best move by one formula, the same for all games.

Owns the formula. The worth of a move, in pips, is the sum of

* twice the points that it scores,
* the value by which it reduces the hand,
* the number of own tiles that fit after it,
* the number of different numbers that are left in the hand,
* twenty times the probability that the next player cannot follow; subtracted if that player is the partner. After the
  last own tile it is twenty, because the moves of the others no longer matter.

For a move without a tile, the sum is computed for the unchanged hand and layout. If it turns the lead over and so ends
the round (rules 2.8), the difference between the average hand of the others and the own hand is added. Does not depend
on any game, or on more about the hands of the others than ``knowledge`` has.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from service.bots.inference import infer
from service.bots.knowledge import Knowledge, Observation, next_holder, tile_set
from service.engine.layout import End
from service.engine.moves import FLIP, Move
from service.engine.tiles import pips, tiles_with
from service.engine.variant import Rules

PIPS_PER_POINT: Final = 2
"""Pips that a point is worth: a point is kept, but a tile that is not laid now can still be laid later."""
HINDERING_PIPS: Final = 20
"""Pips that a move is worth if the next player certainly cannot follow it."""


class Parts(NamedTuple):
    """The terms of the worth of a move, in pips, in the order of the formula."""

    points: float
    sheds: float
    fits: float
    numbers: float
    hinders: float


def choose(rules: Rules, observation: Observation, random: Random) -> Move:
    """Return the move with the highest worth; of several, a random one."""
    return ranked(rules, observation, infer(rules, observation), random)[0]


def ranked(rules: Rules, observation: Observation, knowledge: Knowledge, random: Random) -> list[Move]:
    """Return all legal moves, the best first, equal ones in random order."""
    order = [(-worth, random.random(), index) for index, worth in enumerate(worths_of(rules, observation, knowledge))]
    return [observation.view.legal_moves[index] for _, _, index in sorted(order)]


def worths_of(rules: Rules, observation: Observation, knowledge: Knowledge) -> list[float]:
    """Return the worth of each legal move, in pips."""
    moves = observation.view.legal_moves
    worths = []
    for move, weighed in zip(moves, parts(rules, observation, knowledge, moves), strict=True):
        gain = weighed.points + weighed.sheds
        if move == FLIP:
            gain += _excess_of_others(rules, observation, knowledge)
        worths.append(gain + (weighed.fits + weighed.numbers + weighed.hinders))
    return worths


def parts(rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]) -> list[Parts]:
    """Return the terms of the worth of each of these moves; for a move without a tile, of the unchanged hand."""
    view = observation.view
    assert view.you is not None
    hand, layout = view.you.hand, view.layout
    value = rules.hand_value(hand)
    next_seat = next_holder([player.tiles for player in view.players], observation.seat)
    hidden = () if next_seat is None else knowledge.candidates[next_seat]
    hindering = 0 if next_seat is None else HINDERING_PIPS
    if next_seat in rules.side(observation.seat):
        hindering = -HINDERING_PIPS
    ends: dict[str | None, End] = {end.name: end for end in layout.ends}
    parts = []
    for move in moves:
        after, rest, laid = layout, hand, move.tile
        if laid is not None:
            end = ends.get(move.end)
            after = rules.lay_tile(layout, end, laid, observation.seat, face_down=move.face_down, outer=move.outer)
            rest = tuple([tile for tile in hand if tile is not laid])
        fitting = tiles_with(after.open_mask)
        numbers = 0
        for tile in rest:
            numbers |= tile.mask
        parts.append(
            Parts(
                points=float(PIPS_PER_POINT * (move.points or 0)),
                sheds=float(value - rules.hand_value(rest)),
                fits=float((tile_set(rest) & fitting).bit_count()),
                numbers=float(numbers.bit_count()),
                hinders=hindering * _probability_of_none(hidden, fitting) if rest else float(HINDERING_PIPS),
            )
        )
    return parts


def is_partner_next(rules: Rules, observation: Observation) -> bool:
    """Return whether the next player who holds a tile is of the same team as the seat to act."""
    seat, view, _ = observation
    return next_holder([player.tiles for player in view.players], seat) in rules.side(seat)


def _probability_of_none(hidden: tuple[int, ...], tiles: int) -> float:
    """Return the probability that a hand holds none of ``tiles``.

    ``hidden`` has the candidates of each tile in the hand. The result is exact unless these sets overlap in part.
    """
    probability = 1.0
    filled: dict[int, int] = {}
    for candidates in hidden:
        before = filled.get(candidates, 0)
        filled[candidates] = before + 1
        possible = candidates.bit_count() - before
        probability *= max(0, possible - (candidates & tiles).bit_count()) / possible
    return probability


def _excess_of_others(rules: Rules, observation: Observation, knowledge: Knowledge) -> float:
    """Return the average pips of another player's hand, estimated from the numbers of tiles, less those of the own."""
    view = observation.view
    assert view.you is not None
    hand_sizes = [player.tiles for player in view.players if player.in_match and player.seat != observation.seat]
    mean = sum(hand_sizes) / len(hand_sizes) * pips(knowledge.unseen) / len(knowledge.unseen)
    return mean - rules.hand_value(view.you.hand)
