"""The level ``greedy``: the best move by one formula, the same for all games.

Owns the formula. What a move is worth, in pips, is the sum of

* twice the points it scores,
* what it takes off the value of the hand,
* how many own tiles fit after it,
* how many different numbers are left in the hand,
* twenty times the probability that the next player cannot follow; less as much, if that is the partner. After the last
  own tile: twenty, as what others do next matters no more.

A move without a tile is worth what remains as it is; if it ends the round at once by turning the lead over (rules 2.8),
also how much more the others hold on average. Does not depend on any game, or on what the others hold beyond
``knowledge``.
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
"""Pips that a point is worth: what is scored stays, and what is not shed now may be shed later."""
_HINDERING: Final = 20
"""Pips that it is worth that the next player cannot follow."""


class Parts(NamedTuple):
    """The parts of what a move is worth, in pips."""

    points: float
    sheds: float
    fits: float
    numbers: float
    hinders: float


def choose(rules: Rules, observation: Observation, random: Random) -> Move:
    """Return the move that is worth most; if there are several, one of them by luck."""
    return ranked(rules, observation, infer(rules, observation), random)[0]


def ranked(rules: Rules, observation: Observation, knowledge: Knowledge, random: Random) -> list[Move]:
    """Return all legal moves, the best first, equal ones in an order by luck."""
    order = [(-worth, random.random(), place) for place, worth in enumerate(worths_of(rules, observation, knowledge))]
    return [observation.view.legal_moves[place] for _, _, place in sorted(order)]


def worths_of(rules: Rules, observation: Observation, knowledge: Knowledge) -> list[float]:
    """Return what each legal move is worth, in pips."""
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
    """Return the parts of what each of these moves is worth; of a move without a tile, what remains as it is."""
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
    """Return how many tiles of the hand fit this layout, and how many different numbers they have."""
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
    """Return the next player who holds a tile, if anybody else does."""
    seat, players = observation.seat, observation.view.players
    clockwise = [(seat + step) % len(players) for step in range(1, len(players))]
    return next((other for other in clockwise if players[other].tiles), None)


def _hindrance(rules: Rules, observation: Observation, knowledge: Knowledge) -> Callable[[Layout], float]:
    """Return what it is worth that the next player may be unable to follow, by the layout that they find."""
    following = _following(observation)
    if following is None:
        return lambda _layout: 0
    worth = -_HINDERING if _are_partners(rules, observation.seat, following) else _HINDERING
    hidden = knowledge.candidates[following]
    return lambda layout: worth * _probability_of_none(hidden, placeable_set(rules, layout))


def _probability_of_none(hidden: tuple[int, ...], tiles: int) -> float:
    """Return the probability that a hand holds none of ``tiles``: exact unless sets of candidates overlap in part."""
    probability = 1.0
    filled: dict[int, int] = {}
    for candidates in hidden:
        before = filled.get(candidates, 0)
        filled[candidates] = before + 1
        possible = candidates.bit_count() - before
        probability *= max(0, possible - (candidates & tiles).bit_count()) / possible
    return probability


def _mean_hand(observation: Observation, knowledge: Knowledge) -> float:
    """Return the pips that another player holds on average, as the number of their tiles tells."""
    seat = observation.seat
    hand_sizes = [player.tiles for player in observation.view.players if player.in_match and player.seat != seat]
    return sum(hand_sizes) / len(hand_sizes) * pips(knowledge.unseen) / len(knowledge.unseen)
