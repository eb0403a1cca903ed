"""A review of a match: the points that each decision gave away, and the luck of the deals in the results.

Owns which moves are decisions (those with an alternative), and the sums of a seat. ``analysis`` compares a decision
with the best move, using only what the seat had seen, so hidden tiles are nobody's mistake. The luck is that of the
deals of completed rounds. Does not depend on the source of the record.

The points given away are never negative, so the errors of the estimates make even perfect play appear to give away a
little. This bias is the same for all players, so they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import fsum, sqrt
from typing import Final, NamedTuple

from service.bots.knowledge import Observation, observe
from service.engine.events import Dealt, Event, RoundEnded
from service.engine.moves import DEAL, Move
from service.engine.state import State
from service.engine.variant import Rules
from service.learning.analysis import Advantage, Estimate, estimates, is_clear, luck_of, results
from service.records.event_checks import move_of
from service.records.record import Record
from service.records.replay import MOVES, Step, replay_record
from service.records.report import Fault
from service.texts import DEFAULT_LANGUAGE, Language, text

_MIN_MISTAKE: Final = 0.5
"""The minimum number of points that a mistake gives away; people would not call less a mistake."""
_WITHOUT_REASON: Final[frozenset[Advantage]] = frozenset({"worlds", "exact"})
"""Advantages that say that a move is better, but not why. They are left out if another move is about as good."""


class Decision(NamedTuple):
    """A move that had an alternative."""

    version: int
    """The version of its event."""
    seat: int
    move: Move
    best: Move
    given_away: float
    """The points by which ``best`` was better than ``move``."""
    error: float
    """The standard error of ``given_away``."""
    advantages: tuple[Advantage, ...]
    """The advantages of ``best`` over ``move``."""

    @property
    def is_mistake(self) -> bool:
        """Return whether the points given away are clearly more than their error, and at least half a point."""
        return self.best != self.move and self.given_away >= _MIN_MISTAKE and is_clear(self.given_away, self.error)

    @property
    def shown_best(self) -> Move:
        """The move to show as the best one: the chosen move, unless it was a mistake."""
        return self.best if self.is_mistake else self.move


class RoundLuck(NamedTuple):
    """The result of a round and the luck of its deal, by seat. Seats that were not in the match have 0."""

    version: int
    """The version of the event that ended the round."""
    results: tuple[float, ...]
    """The points by which the side of each seat scored better than the others on average; the sum is 0."""
    luck: tuple[float, ...]
    """The average results of equal players with the same deal; the sum is 0."""
    spreads: tuple[float, ...]
    """The standard deviations of the results of one replay."""
    replays: int
    """The number of replays in ``luck``."""


class Review(NamedTuple):
    """The decisions of a match, and the luck of its rounds."""

    decisions: Sequence[Decision]
    rounds: Sequence[RoundLuck]


class LuckSummary(NamedTuple):
    """The result of a seat in all completed rounds, which is the sum of luck and skill.

    All values are points by which the side of the seat was better than the others on average.
    """

    result: float
    luck: float
    luck_error: float
    """The standard error of ``luck``."""
    skill_error: float
    """The standard deviation of ``skill`` among equal players, whose average skill is 0."""

    @property
    def skill(self) -> float:
        """The result without the luck of the deals."""
        return self.result - self.luck


class SeatSummary(NamedTuple):
    """The sums of one seat in a review."""

    seat: int
    decisions: int
    """The number of its decisions."""
    given_away: float
    """The points given away by a decision, on average."""
    error: float
    """The standard error of ``given_away``."""
    luck: LuckSummary


class Hint(NamedTuple):
    """The estimates of the legal moves of a seat, the best first."""

    estimates: tuple[Estimate, ...]


class Unreviewable(ValueError):
    """The record is partial, or its events break the rules."""


class NoSuchMove(LookupError):
    """No move of the record has this version."""


def review(
    record: Record, rules: Rules, *, playouts: int | None = None, after: int = 0
) -> Iterator[Decision | RoundLuck]:
    """Yield every decision and the luck of every round after version ``after``, in the order of the match.

    All take about the same time. ``playouts`` as in ``analysis.estimates``. Moves of a substitute are not decisions. A
    round that ended by forfeit has no result and no luck. Raises ``Unreviewable`` at the first event that breaks the
    rules.
    """
    dealt: tuple[Dealt, State] | None = None
    for events, step in _replayed(record, rules):
        event, version = step.line.event, step.line.version
        if version > after and isinstance(event, MOVES) and step.presence.plays(event.seat):
            observation = observe(rules, step.before, events, event.seat)
            decision = judge(rules, observation, version, move_of(event), playouts=playouts)
            if decision is not None:
                yield decision
        elif version > after and isinstance(event, RoundEnded) and dealt is not None:
            result = results(rules, step.before.active_seats(), event.round.scores)
            yield RoundLuck(version, result, *luck_of(rules, *dealt))
        if isinstance(event, Dealt):
            dealt = event, step.state


def hint_before(record: Record, rules: Rules, version: int) -> tuple[int, Hint]:
    """Return the seat that made the move with this version, and the hint that it could have had before.

    Raises ``Unreviewable`` and ``NoSuchMove``.
    """
    for events, step in _replayed(record, rules):
        event = step.line.event
        if step.line.version == version and isinstance(event, MOVES):
            observation = observe(rules, step.before, events, event.seat)
            chosen = _chosen(observation, move_of(event))
            return event.seat, Hint(tuple(estimates(rules, observation, extra=chosen)))
    raise NoSuchMove(f"No move has the version {version}.")


def _replayed(record: Record, rules: Rules) -> Iterator[tuple[Sequence[Event], Step]]:
    """Yield every step of a complete record, each with the events of its round before it.

    Raises ``Unreviewable`` as ``review`` does.
    """
    if record.viewer is not None:
        raise Unreviewable("The record shows only what one viewer has seen.")
    events: list[Event] = []
    for step in replay_record(record, rules):
        if isinstance(step, Fault):
            raise Unreviewable(step.message)
        yield events, step
        event = step.line.event
        if isinstance(event, Dealt):
            events = [event]
        elif isinstance(event, Event):
            events.append(event)


def collect(found: Iterable[Decision | RoundLuck]) -> Review:
    """Return the results of ``review`` as one value."""
    parts = list(found)
    decisions = [part for part in parts if isinstance(part, Decision)]
    return Review(decisions, [part for part in parts if isinstance(part, RoundLuck)])


def judge(
    rules: Rules, observation: Observation, version: int, requested: Move, *, playouts: int | None = None
) -> Decision | None:
    """Return the decision of the seat to act for the move ``requested``; ``None`` if it had no alternative.

    ``version`` is that of the event of the move; ``playouts`` as in ``analysis.estimates``.
    """
    moves = observation.view.legal_moves
    chosen = _chosen(observation, requested)
    if len(moves) < 2 or chosen is None or chosen == DEAL:
        return None
    ranked = estimates(rules, observation, extra=chosen, playouts=playouts)
    own = next(estimate for estimate in ranked if estimate.move == chosen)
    advantages = () if own is ranked[0] else own.advantages
    return Decision(version, observation.seat, chosen, ranked[0].move, own.behind, own.behind_error, advantages)


def _chosen(observation: Observation, requested: Move) -> Move | None:
    """Return the legal move that was requested, with its points and sum of ends; ``None`` if it is not legal."""
    moves = observation.view.legal_moves
    return next((other for other in moves if other._replace(ends_sum=None, points=None) == requested), None)


def summaries(seats: int, reviewed: Review) -> list[SeatSummary]:
    """Return a summary for each seat."""
    result = []
    for seat in range(seats):
        own = [decision for decision in reviewed.decisions if decision.seat == seat]
        count = max(1, len(own))
        error = sqrt(fsum([decision.error**2 for decision in own])) / count
        luck = _luck_of_seat(seat, reviewed.rounds)
        result.append(SeatSummary(seat, len(own), fsum([decision.given_away for decision in own]) / count, error, luck))
    return result


def _luck_of_seat(seat: int, rounds: Sequence[RoundLuck]) -> LuckSummary:
    squares = [(dealt.spreads[seat] ** 2, dealt.replays) for dealt in rounds]
    return LuckSummary(
        fsum([dealt.results[seat] for dealt in rounds]),
        fsum([dealt.luck[seat] for dealt in rounds]),
        sqrt(fsum([square / replays for square, replays in squares])),
        sqrt(fsum([square + square / replays for square, replays in squares])),
    )


def sentence(decision: Decision, language: Language = DEFAULT_LANGUAGE) -> str:
    """Return a sentence about a decision: why the best move is better if it was a mistake, else that it was none."""
    if not decision.is_mistake:
        return text("learning.fine", language)
    return text("learning.mistake", language, reasons=_listed(decision.advantages, language))


def hint(ranked: Sequence[Estimate], language: Language = DEFAULT_LANGUAGE) -> str:
    """Return a sentence about estimates: whether the first is clearly better than the second, and why."""
    if len(ranked) == 1:
        return text("learning.only", language)
    best, second = ranked[:2]
    if second.is_mistake:
        return text("learning.better", language, reasons=_listed(best.advantages, language))
    reasons = [advantage for advantage in best.advantages if advantage not in _WITHOUT_REASON]
    if not reasons:
        return text("learning.equal", language)
    return text("learning.close", language, reasons=_listed(reasons, language))


def _listed(advantages: Iterable[Advantage], language: Language) -> str:
    return "; ".join([text(f"learning.reasons.{advantage}", language) for advantage in advantages])
