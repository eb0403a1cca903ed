"""An exact solver for the end of a round in which no tile is hidden any more.

A seat knows all tiles if the unseen ones are the hand of one other seat, or the last tile of the stock while no other
seat holds any. Then an alpha-beta search with a table of visited positions tries every continuation; each side
maximises its own result. This is exact only if two sides are in the match (two teams are two sides), or if no other
seat holds tiles: with more sides, the best move for one is not the worst for the others. In all other cases, and if
the end has more tiles than the limits below, the level ``expert`` compares moves in sampled worlds.

Owns the search, its limits, and the test whether all tiles are known. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from service.bots.knowledge import Knowledge, Observation
from service.bots.playout import value_of_end
from service.engine.deal import NO_DECK
from service.engine.layout import END, Layout
from service.engine.moves import Move
from service.engine.referee import advance, legal_moves
from service.engine.state import State
from service.engine.variant import Rules, one_tile
from service.engine.view import imagined

_MAX_TILES: Final = 17
"""The maximum number of tiles in all hands and the stock.

With 17 tiles, the search visits about ten thousand positions; each tile less halves that.
"""
_MAX_TILES_IF_PLAYS_SCORE: Final = 15
"""The maximum in games that score placements: there, positions also differ by the points so far."""
_MAX_TILES_OF_LONG_TURNS: Final = 14
"""The maximum in games with several tiles in one turn, which have more continuations."""
_MAX_POSITIONS: Final = 20_000
"""The maximum number of positions of one decision, about half a second, or less in compiled code.

Few ends within the limits above need more.
"""


class _TooLong(Exception):
    """The search has reached ``_MAX_POSITIONS``."""


def solve(rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]) -> Move | None:
    """Return the best of these moves; of equal ones, the first.

    ``None`` if a tile is hidden, or the search would take too long.
    """
    values = values_of(rules, observation, knowledge, moves, only_best=True)
    return None if values is None else moves[values.index(max(values))]


def values_of(
    rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move], *, only_best: bool = False
) -> list[float] | None:
    """Return the value of the round after each of these moves, in points.

    With ``only_best``, the value of a move that is no better than an earlier one is only an upper bound. ``None`` if a
    tile is hidden, or the search would take too long.
    """
    state = known_state(rules, observation, knowledge)
    if state is None or _is_too_long(rules, state):
        return None
    search = _Search(rules, state, observation.seat)
    values: list[float] = []
    try:
        for move in moves:
            best = max(values, default=-inf) if only_best else -inf
            values.append(search.value(state, move, best, inf))
    except _TooLong:
        return None
    return values


def is_all_known(observation: Observation) -> bool:
    """Return whether all unseen tiles are in one hand, or are the last tile of the stock: then the seat knows them."""
    return len(_other_holders(observation)) + observation.view.stock <= 1


def _other_holders(observation: Observation) -> list[int]:
    return [player.seat for player in observation.view.players if player.seat != observation.seat and player.tiles]


def known_state(rules: Rules, observation: Observation, knowledge: Knowledge) -> State | None:
    """Return the true state; ``None`` if the seat cannot know it, or if it cannot be solved exactly.

    It can be solved if two sides are in the match, or no other seat holds tiles.
    """
    seat, view, events = observation
    assert view.you is not None
    holders = _other_holders(observation)
    sides = {rules.side(player.seat) for player in view.players if player.in_match}
    if not is_all_known(observation) or (holders and len(sides) != 2):
        return None
    hands = tuple(
        [
            view.you.hand if owner == seat else knowledge.unseen if owner in holders else ()
            for owner in range(len(view.players))
        ]
    )
    return imagined(rules, view, events, hands, stock=knowledge.unseen if view.stock else ())


def _is_too_long(rules: Rules, state: State) -> bool:
    limit = _MAX_TILES_IF_PLAYS_SCORE if rules.scores_plays else _MAX_TILES
    if rules.may_follow is not one_tile:
        limit = _MAX_TILES_OF_LONG_TURNS
    return sum(map(len, state.hands)) + len(state.stock) > limit


class _Search:
    """The search for one decision of ``seat``."""

    def __init__(self, rules: Rules, state: State, seat: int) -> None:
        self._rules = rules
        self._active = state.active_seats()
        self._seat = seat
        self._side = rules.side(seat)
        self._positions_left = _MAX_POSITIONS
        self._bounds: dict[object, tuple[float, float]] = {}
        """By ``position_key``: the lower and the upper bound of the value of the round."""

    def value(self, state: State, move: Move, alpha: float, beta: float) -> float:
        """Return the value of the round for the seat after this move. Raises ``_TooLong``.

        If the value is not between ``alpha`` and ``beta``, the result is only a bound of it.
        """
        self._positions_left -= 1
        if self._positions_left < 0:
            raise _TooLong
        assert state.turn is not None
        events, after = advance(self._rules, NO_DECK, state, state.turn, move=move)
        if len(events) > 1:
            return value_of_end(self._rules, self._active, events[1], after, seat=self._seat)
        key = position_key(self._rules, after)
        known_min, known_max = self._bounds.get(key, (-inf, inf))
        if known_min >= beta or known_min == known_max:
            return known_min
        if known_max <= alpha:
            return known_max
        low, high = max(alpha, known_min), min(beta, known_max)
        best = self._best(after, low, high)
        self._bounds[key] = (known_min if best <= low else best, known_max if best >= high else best)
        return best

    def _best(self, state: State, alpha: float, beta: float) -> float:
        """Return the value of the round if the side to move chooses its best move; bounds as in ``value``."""
        assert state.turn is not None
        own = self._rules.side(state.turn) == self._side
        best = -inf if own else inf
        for move in legal_moves(self._rules, state, state.turn):
            value = self.value(state, move, alpha, beta)
            best = max(best, value) if own else min(best, value)
            alpha, beta = (max(alpha, best), beta) if own else (alpha, min(beta, best))
            if alpha >= beta:
                break
        return best


def position_key(rules: Rules, state: State) -> object:
    """Return a key of everything that the rest of the round depends on.

    States in which the same tiles were laid in another order have the same key.
    """
    turn = state.turn
    assert turn is not None
    scored: dict[int, int] = {}
    for score in state.placements_scored:
        scored[score.seat] = scored.get(score.seat, 0) + score.points
    followers = rules.may_follow(state.layout, state.hands[turn]) if state.tiles_laid else None
    ends, points = tuple(sorted(_ends(state.layout))), tuple(sorted(scored.items()))
    return (state.hands, state.stock, turn, state.drew, state.went_out_first, followers, ends, points)


def _ends(layout: Layout) -> list[tuple[object, ...]]:
    """Return the relevant facts of each end: without its name, and with its host only if it is a side of a double."""
    placements = layout.placements
    return [
        (number, side, gate, counts, wants, host == 0, -1 if side == END else placements[host].tile.index)
        for _, number, host, side, gate, counts, wants in layout.ends
    ]
