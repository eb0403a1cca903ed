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

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, NamedTuple

from service.bots.inference import infer
from service.bots.knowledge import Knowledge, Observation, tile_set
from service.engine.layout import Layout
from service.engine.moves import FLIP, Move
from service.engine.referee import placeable_set
from service.engine.state import Hand
from service.engine.tiles import pips
from service.engine.variant import Rules

_POINTS: Final = 2
"""Pips that a point is worth: a point is kept, but a tile that is not laid now can still be laid later."""
_HINDERING: Final = 20
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
    order = [(-worth, random.random(), place) for place, worth in enumerate(worths_of(rules, observation, knowledge))]
    return [observation.view.legal_moves[place] for _, _, place in sorted(order)]


def worths_of(rules: Rules, observation: Observation, knowledge: Knowledge) -> list[float]:
    """Return the worth of each legal move, in pips."""
    view = observation.view
    assert view.you is not None
    hand, layout, seat = view.you.hand, view.layout, observation.seat
    value = rules.hand_value(hand)
    hindrance = _hindrance(rules, observation, knowledge)
    worths: list[float] = []
    gain: float
    for move in view.legal_moves:
        tile = move.tile
        if tile is not None:
            end = None if move.end is None else layout.end(move.end)
            after = rules.lay_tile(layout, end, tile, seat, face_down=move.face_down, outer=move.outer)
            rest = tuple([other for other in hand if other is not tile])
            gain = float(_POINTS * (move.points or 0) + value - rules.hand_value(rest))
        else:
            after, rest = layout, hand
            gain = _mean_hand(observation, knowledge) - value if move == FLIP else 0.0
        worths.append(gain + (_prospects(rules, after, rest) + hindrance(after) if rest else _HINDERING))
    return worths


def parts(rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]) -> list[Parts]:
    """Return the terms of the worth of each of these moves; for a move without a tile, of the unchanged hand."""
    view = observation.view
    assert view.you is not None
    hand, layout = view.you.hand, view.layout
    hindrance = _hindrance(rules, observation, knowledge)
    parts = []
    for move in moves:
        after, rest = layout, hand
        if move.tile is not None:
            end = None if move.end is None else layout.end(move.end)
            after = rules.lay_tile(layout, end, move.tile, observation.seat, face_down=move.face_down, outer=move.outer)
            rest = tuple([other for other in hand if other is not move.tile])
        shed = rules.hand_value(hand) - rules.hand_value(rest)
        hinders = hindrance(after) if rest else _HINDERING
        fits = (tile_set(rest) & placeable_set(rules, after)).bit_count()
        numbers = _prospects(rules, after, rest) - fits
        parts.append(Parts(_POINTS * (move.points or 0), shed, fits, numbers, hinders))
    return parts


def _prospects(rules: Rules, layout: Layout, hand: Hand) -> int:
    """Return the number of tiles in the hand that fit this layout, plus the number of different numbers in the hand."""
    numbers = 0
    for tile in hand:
        numbers |= tile.mask
    return (tile_set(hand) & placeable_set(rules, layout)).bit_count() + numbers.bit_count()


def is_partner_next(rules: Rules, observation: Observation) -> bool:
    """Return whether the next player who holds a tile is of the same team as the seat to act."""
    following = _following(observation)
    return following is not None and _are_partners(rules, observation.seat, following)


def _are_partners(rules: Rules, seat: int, other: int) -> bool:
    return bool(rules.teams) and rules.team(seat) == rules.team(other)


def _following(observation: Observation) -> int | None:
    """Return the next seat clockwise that holds a tile; ``None`` if no other seat does."""
    seat, players = observation.seat, observation.view.players
    clockwise = [(seat + step) % len(players) for step in range(1, len(players))]
    return next((other for other in clockwise if players[other].tiles), None)


def _hindrance(rules: Rules, observation: Observation, knowledge: Knowledge) -> Callable[[Layout], float]:
    """Return a function that computes by how many pips a layout hinders the next player; negative for a partner.

    Its result is the probability that the next player cannot follow, times ``_HINDERING``.
    """
    following = _following(observation)
    if following is None:
        return lambda _layout: 0
    worth = -_HINDERING if _are_partners(rules, observation.seat, following) else _HINDERING
    hidden = knowledge.candidates[following]
    return lambda layout: worth * _probability_of_none(hidden, placeable_set(rules, layout))


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


def _mean_hand(observation: Observation, knowledge: Knowledge) -> float:
    """Return the average pips of another player's hand, estimated from the numbers of tiles."""
    seat = observation.seat
    hand_sizes = [player.tiles for player in observation.view.players if player.in_match and player.seat != seat]
    return sum(hand_sizes) / len(hand_sizes) * pips(knowledge.unseen) / len(knowledge.unseen)
