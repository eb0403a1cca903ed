"""The end of a round in which nothing is hidden any more, solved exactly.

When the stock is empty and the unseen tiles are those of one hand, a seat knows them all; so it does when nobody else
holds tiles and the stock has at most one. Then every way to go on is tried, each side playing for its own best count
(alpha-beta search with a table of the positions that were met). Two sides must count, or the seat must be the only one
that still plays. Where more sides play, moves are compared in sampled worlds as anywhere else (``expert``): there, what
is best for one is not what is worst for another. Two teams are two sides.

An end with more tiles than the bounds below is left to the worlds, too, at once. Owns when nothing is hidden, the
bounds, and the search. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from service.bots.knowledge import Knowledge, Observation
from service.bots.playout import prize, worth
from service.engine.deal import Deck
from service.engine.events import RoundEnded
from service.engine.layout import END, Layout
from service.engine.moves import Move
from service.engine.referee import advance, legal_moves
from service.engine.rules.ending import one_tile
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import imagined

_MAX_TILES: Final = 17
"""In all hands and the stock: then some ten thousand positions are tried; each tile less halves that."""
_MAX_TILES_IF_PLAYS_SCORE: Final = 15
"""The same where more positions differ, by what has been scored."""
_MAX_TILES_OF_LONG_TURNS: Final = 14
"""The same where a turn may be several tiles, which can be chosen and ordered in more ways."""
_MAX_POSITIONS: Final = 20_000
"""Of a decision, to bound its time: half a second, or less if it is compiled. Few ends within the bounds above need
more."""
_NO_DECK: Final = Deck(b"")
"""No round is dealt here."""


class _TooLong(Exception):
    """More positions would have to be tried."""


def solve(rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]) -> Move | None:
    """Return the best of these moves, of equal ones the first.

    ``None`` if anything is hidden, or the end is too long.
    """
    state = known_state(rules, observation, knowledge)
    if state is None or _is_too_long(rules, state):
        return None
    search = _Search(rules, state, observation.seat)
    best, best_value = moves[0], -inf
    try:
        for move in moves:
            value = search.value(state, move, best_value, inf)
            if value > best_value:
                best, best_value = move, value
    except _TooLong:
        return None
    return best


def values_of(
    rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]
) -> list[float] | None:
    """Return what the round is worth after each of these moves.

    ``None`` if anything is hidden, or the end is too long.
    """
    state = known_state(rules, observation, knowledge)
    if state is None or _is_too_long(rules, state):
        return None
    search = _Search(rules, state, observation.seat)
    try:
        return [search.value(state, move, -inf, inf) for move in moves]
    except _TooLong:
        return None


def is_all_known(observation: Observation) -> bool:
    """Return whether the unseen tiles are of one hand, or the only one of the stock, so that the seat knows them."""
    return len(_holding(observation)) + observation.view.stock <= 1


def _holding(observation: Observation) -> list[int]:
    """Return the other seats that hold tiles."""
    return [player.seat for player in observation.view.players if player.seat != observation.seat and player.tiles]


def known_state(rules: Rules, observation: Observation, knowledge: Knowledge) -> State | None:
    """Return the true state, if the seat can tell it, and two sides count or nobody else holds tiles; else ``None``."""
    seat, view, events = observation
    assert view.you is not None
    holding = _holding(observation)
    sides = {rules.side(player.seat) for player in view.players if player.in_match}
    if not is_all_known(observation) or (holding and len(sides) != 2):
        return None
    hands = tuple(
        [
            view.you.hand if owner == seat else knowledge.unseen if owner in holding else ()
            for owner in range(len(view.players))
        ]
    )
    return imagined(rules, view, events, hands, stock=knowledge.unseen if view.stock else ())


def _is_too_long(rules: Rules, state: State) -> bool:
    """Return whether an end has too many tiles for the search to come to its end."""
    most = _MAX_TILES_IF_PLAYS_SCORE if rules.scores_plays else _MAX_TILES
    if rules.may_follow is not one_tile:
        most = _MAX_TILES_OF_LONG_TURNS
    return sum(map(len, state.hands)) + len(state.stock) > most


class _Search:
    """The search for one decision of this seat."""

    def __init__(self, rules: Rules, state: State, seat: int) -> None:
        self._rules = rules
        self._active = state.active_seats()
        self._seat = seat
        self._side = rules.side(seat)
        self._left = _MAX_POSITIONS
        self._bounds: dict[object, tuple[float, float]] = {}
        """By what a position depends on: the least and the most that the round can be worth there."""

    def value(self, state: State, move: Move, alpha: float, beta: float) -> float:
        """Return what the round is worth to the seat after this move; only a bound outside of ``alpha`` to ``beta``.

        Raises ``_TooLong``.
        """
        self._left -= 1
        if self._left < 0:
            raise _TooLong
        assert state.turn is not None
        events, after = advance(self._rules, _NO_DECK, state, state.turn, move=move)
        if len(events) > 1:
            ended = events[1]
            assert isinstance(ended, RoundEnded)
            won = prize(self._rules, self._active, after, self._seat)
            return worth(self._rules, self._active, ended.round.scores, self._seat) + won
        key = position_key(self._rules, after)
        least, most = self._bounds.get(key, (-inf, inf))
        if least >= beta or least == most:
            return least
        if most <= alpha:
            return most
        low, high = max(alpha, least), min(beta, most)
        best = self._best(after, low, high)
        self._bounds[key] = (least if best <= low else best, most if best >= high else best)
        return best

    def _best(self, state: State, alpha: float, beta: float) -> float:
        """Return what the round is worth if the side to move plays for its own best, likewise."""
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
    """Return what the rest of a round depends on, so that tiles laid in another order come to the same position."""
    turn = state.turn
    assert turn is not None
    scored: dict[int, int] = {}
    for score in state.placements_scored:
        scored[score.seat] = scored.get(score.seat, 0) + score.points
    following = rules.may_follow(state.layout, state.hands[turn]) if state.tiles_laid else None
    ends = tuple(sorted(_ends(state.layout)))
    return (
        state.hands,
        state.stock,
        turn,
        state.drew,
        state.went_out_first,
        following,
        ends,
        tuple(sorted(scored.items())),
    )


def _ends(layout: Layout) -> list[tuple[object, ...]]:
    """Return what counts of each end: no name, and the host only where the sides of a double depend on each other."""
    placements = layout.placements
    return [
        (number, side, gate, counts, wants, host == 0, -1 if side == END else placements[host].tile.index)
        for _, number, host, side, gate, counts, wants in layout.ends
    ]
