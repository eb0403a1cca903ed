"""The end of a round in which nothing is hidden any more, solved exactly.

When the stock is empty and the unseen tiles are those of one hand, a seat knows them all: then every way to go on is
tried, each side playing for its own best count (alpha-beta search). The same holds for the last tile of the stock
when nobody else holds tiles. Where more than two sides count, it is left to the search in worlds: there, what is best
for one is not what is worst for another. Owns when nothing is hidden, and the search. Does not depend on any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from service.bots.knowledge import Knowledge
from service.bots.observation import Observation
from service.bots.playout import worth
from service.engine.deal import Deck
from service.engine.events import RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance, legal_moves
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import imagined

_MOST_POSITIONS: Final = 4000
"""That are tried for a decision, before it is left to the search in worlds; so long an end is rarely decided yet."""
_NO_DECK: Final = Deck(b"")
"""No round is dealt here."""


def solve(rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]) -> Move | None:
    """The best of these moves, of equal ones the first; ``None`` if anything is hidden, or the end is too long."""
    state = known_state(rules, observation, knowledge)
    if state is None:
        return None
    search = _Search(rules, state, observation.seat)
    best, best_value = moves[0], -inf
    for move in moves:
        value = search.value(state, move, best_value, inf)
        if search.left < 0:
            return None
        if value > best_value:
            best, best_value = move, value
    return best


def values_of(
    rules: Rules, observation: Observation, knowledge: Knowledge, moves: Sequence[Move]
) -> list[float] | None:
    """What the round is worth after each of these moves; ``None`` if anything is hidden, or the end is too long."""
    state = known_state(rules, observation, knowledge)
    if state is None:
        return None
    search = _Search(rules, state, observation.seat)
    values = [search.value(state, move, -inf, inf) for move in moves]
    return None if search.left < 0 else values


def known_state(rules: Rules, observation: Observation, knowledge: Knowledge) -> State | None:
    """The true state, if the seat can tell it and two sides count; else ``None``."""
    seat, view, events = observation
    assert view.you is not None
    holding = [player.seat for player in view.players if player.seat != seat and player.tiles]
    sides = {rules.side(player.seat) for player in view.players if player.in_match}
    if len(sides) != 2 or len(holding) + view.stock > 1:
        return None
    hands = tuple(
        [
            view.you.hand if each == seat else knowledge.unseen if each in holding else ()
            for each in range(len(view.players))
        ]
    )
    return imagined(rules, view, events, hands, knowledge.unseen if view.stock else ())


class _Search:
    """The search for one decision of this seat; ``left``: how many more positions may be tried, negative at the end."""

    def __init__(self, rules: Rules, state: State, seat: int) -> None:
        self._rules = rules
        self._active = state.active_seats()
        self._seat = seat
        self._side = rules.side(seat)
        self.left = _MOST_POSITIONS

    def value(self, state: State, move: Move, alpha: float, beta: float) -> float:
        """What the round is worth to the seat after this move, as far as it is between ``alpha`` and ``beta``."""
        self.left -= 1
        assert state.turn is not None
        events, after = advance(self._rules, _NO_DECK, state, state.turn, move)
        if len(events) > 1:
            ended = events[1]
            assert isinstance(ended, RoundEnded)
            return worth(self._rules, self._active, ended.round.scores, self._seat)
        assert after.turn is not None
        own = self._rules.side(after.turn) == self._side
        best = -inf if own else inf
        for each in legal_moves(self._rules, after, after.turn):
            if self.left < 0:
                break
            value = self.value(after, each, alpha, beta)
            best = max(best, value) if own else min(best, value)
            alpha, beta = (max(alpha, best), beta) if own else (alpha, min(beta, best))
            if alpha >= beta:
                break
        return best
