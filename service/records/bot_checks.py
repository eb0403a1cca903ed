"""Checks of the moves of computer players: each is computed again and compared.

Owns which moves a computer player made, and which of them can be checked. A decision depends on what its seat could
see, and on a seed that is derived from the seed of its round (``engine.deal``), which is published when the round is
over. Does not depend on how a level chooses (``service.bots``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from service.bots.choice import EDITIONS, LEVELS, choose_move
from service.bots.knowledge import Observation, observe
from service.engine.deal import seed_of_decision
from service.engine.events import DealProof, Dealt, Event
from service.engine.moves import Move
from service.engine.presence import SUBSTITUTE, Presence
from service.engine.variant import Rules
from service.records.event_checks import is_over, is_provable, move_of
from service.records.record import Record, RecordedBot
from service.records.replay import MOVES, Step
from service.records.report import Fault, Unchecked

_EDITION_OF_SUBSTITUTES: Final = 1
"""A record does not name this edition, because there has been only one."""


class BotLimits(NamedTuple):
    """The limits for the decisions that are computed again."""

    levels: frozenset[str]
    """The levels whose decisions are computed again."""
    max_choices: int
    """The maximum number of decisions between several legal moves."""


NO_DECISIONS: Final = BotLimits(frozenset(), 0)
CHEAP_DECISIONS: Final = BotLimits(frozenset(LEVELS) - {"expert"}, 2000)
"""For a web server: decisions that take at most a few milliseconds each."""
ALL_DECISIONS: Final = BotLimits(frozenset(LEVELS), 20_000)
"""For a separate process: the maximum number of decisions of ``expert`` takes most of an hour."""


class DecisionChecker:
    """Follows the replay of a record, and computes the decisions of computer players again.

    ``checked`` counts the decisions that were compared, ``unchecked`` the others by the reason.
    """

    def __init__(self, record: Record, rules: Rules, limits: BotLimits, yield_control: Callable[[], None]) -> None:
        self.checked = 0
        self.unchecked: Counter[Unchecked] = Counter()
        self._record = record
        self._rules = rules
        self._limits = limits
        self._yield_control = yield_control
        self._choices = 0
        self._seed: bytes | None = None
        """The seed of the running round; ``None`` if it is unknown or proves nothing."""
        self._events: list[Event] = []
        """The events of the running round."""

    def add(self, step: Step) -> Fault | None:
        """Process the next step; return a fault if it is a move that the computer player would not make."""
        event, fault = step.line.event, None
        if isinstance(event, MOVES):
            bot = self._player(event.seat, step.presence)
            if bot is not None:
                fault = self._decision(bot, step)
        if isinstance(event, Dealt):
            self._begin_round(step, event)
        elif isinstance(event, Event):
            self._events.append(event)
        return fault

    def _player(self, seat: int, presence: Presence) -> RecordedBot | None:
        """Return the computer player that moves for this seat; ``None`` if a person does."""
        bot = self._record.bot_at(seat)
        if bot is not None or presence.plays(seat):
            return bot
        return RecordedBot(seat, SUBSTITUTE, _EDITION_OF_SUBSTITUTES)

    def _begin_round(self, step: Step, dealt: Dealt) -> None:
        record, index = self._record, step.place[0]
        recorded = record.rounds[index]
        self._seed, self._events = None, []
        dealt = replace(dealt, round=step.state.round)
        if not dealt.arranged and is_over(recorded) and is_provable(record, recorded):
            self._seed = recorded.seed
            following = record.rounds[index + 1].commitment if index + 1 < len(record.rounds) else None
            if recorded.attempt is not None and recorded.client_seeds is not None and following is not None:
                dealt = replace(dealt, proof=DealProof(recorded.attempt, recorded.client_seeds, following))
        self._events.append(dealt)

    def _decision(self, bot: RecordedBot, step: Step) -> Fault | None:
        reason = self._reason_unchecked(bot)
        if reason is not None:
            self.unchecked[reason] += 1
            return None
        assert self._seed is not None
        event = step.line.event
        assert isinstance(event, MOVES)
        observation = observe(self._rules, step.before, self._events, bot.seat)
        if len(observation.view.legal_moves) > 1:
            if self._choices == self._limits.max_choices:
                self.unchecked["cost"] += 1
                return None
            self._choices += 1
            self._yield_control()
        self.checked += 1
        decision_seed = seed_of_decision(self._seed, bot.seat, step.line.version - 1)
        expected = _decide(self._rules, observation, bot.level, decision_seed)
        expected = expected._replace(ends_sum=None, points=None)
        if expected == move_of(event):
            return None
        message = f"The move is legal, but the computer player {bot.level} {_description(expected)} here."
        return Fault("wrong_bot_move", step.place, message)

    def _reason_unchecked(self, bot: RecordedBot) -> Unchecked | None:
        """Return why a decision of this computer player cannot be checked now; ``None`` if it can."""
        if EDITIONS.get(bot.level) != bot.edition:
            return "edition"
        if self._seed is None:
            return "seed"
        return None if bot.level in self._limits.levels else "cost"


def _decide(rules: Rules, observation: Observation, level: str, decision_seed: bytes) -> Move:
    """Return the move of this level; if it fails, the move of ``SUBSTITUTE``; if that fails, the first legal move."""
    for chosen_level in (level, SUBSTITUTE):
        with suppress(Exception):  # as in a hosted game, an error in a level must not prevent a move
            move = choose_move(rules, observation, chosen_level, decision_seed)
            if move in observation.view.legal_moves:
                return move
    return observation.view.legal_moves[0]


def _description(move: Move) -> str:
    """Return a move as a verb phrase: *plays 3-5 at right*."""
    if move.tile is None:
        return _VERBS[move.action]
    where = "" if move.end is None else f" at {move.end}"
    where += "" if move.outer is None else f" with {move.outer} outside"
    return f"plays {move.tile}{where}{', face down,' if move.face_down else ''}"


_VERBS: Final = {"draw": "draws", "pass": "passes", "done": "ends its turn", "flip": "turns the lead over"}
