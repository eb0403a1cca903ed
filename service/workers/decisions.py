"""What a computer player is shown of a hosted game, and what it chooses.

Owns the way from a game to a move: the game itself, with its hands and seeds, goes no further than here. A level gets
only what its seat may know, as ``service.engine.view`` decides it, and a decision seed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container
from time import perf_counter
from typing import Final

from service.bots.knowledge import Observation, observe
from service.engine.deal import round_seed, seed_of_decision
from service.engine.moves import DEAL, Move
from service.engine.presence import SUBSTITUTE
from service.engine.variant import Rules
from service.games.model.game import Game
from service.games.model.schedule import BotTurn
from service.games.store.transactions import Committed
from service.workers.metrics import WorkerMetrics
from service.workers.round_events import RoundEvents

MOST_FAILURES: Final = 2
"""After so many failures in a row of one level in a game, another one chooses."""

Choose = Callable[[Rules, Observation, str, bytes], Move]

_log = logging.getLogger(__name__)


class Decisions:
    """Chooses moves; ``choose`` is the entrance to the levels."""

    def __init__(self, events: RoundEvents, metrics: WorkerMetrics, choose: Choose) -> None:
        self._events = events
        self._metrics = metrics
        self._choose = choose

    def move(self, turn: BotTurn, failures: int) -> Move:
        """Return the move of this turn, whose decision has failed so often before.

        Raises whatever the level raises; after ``MOST_FAILURES`` a greedy player chooses instead, and if that fails
        too, it is the first legal move. Raises ``StorageUnavailable`` and ``NotFound``.
        """
        if turn.action == "deal":
            return DEAL
        game = turn.game
        observation = observe(game.rules, game.state, self._events.of(game), turn.seat)
        decision_seed = decision_seed_of(game, turn.seat)
        if failures < MOST_FAILURES:
            began = perf_counter()
            move = self._choose(game.rules, observation, turn.level, decision_seed)
            self._metrics.count_decision(turn.level, perf_counter() - began)
            return move
        try:
            move = self._choose(game.rules, observation, SUBSTITUTE, decision_seed)
        except Exception:
            _log.exception("the substitute of a computer player failed", extra=log_fields(turn))
        else:
            if move in observation.view.legal_moves:
                self._metrics.count_fallback(SUBSTITUTE)
                return move
        self._metrics.count_fallback("first")
        return observation.view.legal_moves[0]

    def made(self, turn: BotTurn, committed: Committed) -> None:
        """Remember the events of this turn for the next decision in its game."""
        self._events.add(turn.game, committed)

    def forget(self, games: Container[str]) -> None:
        """Drop what is remembered of these games."""
        self._events.forget(games)


def decision_seed_of(game: Game, seat: int) -> bytes:
    """Return the decision seed of this seat for this version of the game; told with the seed, after the round."""
    deck = game.deck
    seed = deck.seed if deck.game is None else round_seed(deck.seed, game.state.round)
    return seed_of_decision(seed, seat, game.version)


def log_fields(turn: BotTurn) -> dict[str, object]:
    """Return what the log says of a turn: nothing that is hidden, and not which game it is."""
    game = turn.game
    fields = {"variant": game.variant.key, "version": game.version, "seat": turn.seat, "bot": turn.level}
    return {"fields": fields}
