"""A review of a match: what each decision gave away, and what of the results was luck of the deals.

What is given away is compared with the best move that the seat could have known.

Owns which moves are decisions, those with an alternative, and the sums of a seat. A decision is judged by ``analysis``
from what its seat had seen then, so nobody is blamed for what was hidden. The luck is that of the deals of rounds that
are over. Does not depend on where the record comes from.

What is given away is at least 0 by its definition, so that also who plays as well as can be is seen to give away a
little: as much as the estimates stray. To compare players it serves, as they stray alike for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import fsum, sqrt
from typing import Final, NamedTuple

from service.bots.knowledge import Observation, observe
from service.engine.events import Dealt, Event, RoundEnded
from service.engine.moves import DEAL, Move
from service.engine.presence import ALL_PRESENT, Presence, PresenceEvent
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal
from service.learning.analysis import Advantage, Estimate, estimates, is_clear, luck_of, results
from service.records.event_checks import move_of
from service.records.record import Record
from service.records.replay import MOVES, Step, replay_record
from service.records.report import Fault
from service.texts import DEFAULT_LANGUAGE, Language, text

_LEAST_MISTAKE: Final = 0.5
"""Points; whoever gave away less made no mistake that a person would call one."""
_OF_THE_ESTIMATE: Final[frozenset[Advantage]] = frozenset({"worlds", "exact"})
"""Advantages that tell that a move is better, and not why: so they are not said of one that is about as good."""


class Decision(NamedTuple):
    """A move that had an alternative; ``version`` is that of its event.

    ``given_away`` are the points by which the best move was ahead, with their standard error; ``advantages`` those of
    the best move over the chosen one.
    """

    version: int
    seat: int
    move: Move
    best: Move
    given_away: float
    error: float
    advantages: tuple[Advantage, ...]

    @property
    def is_mistake(self) -> bool:
        """Return whether what was given away is clear of its error, and half a point at least."""
        return self.best != self.move and self.given_away >= _LEAST_MISTAKE and is_clear(self.given_away, self.error)

    @property
    def named(self) -> Move:
        """The move that is told as the best: another one than the chosen only for a mistake."""
        return self.best if self.is_mistake else self.move


class RoundLuck(NamedTuple):
    """What the result of a round owes to its deal, by seat; ``version`` is that of the event that ended it.

    ``results`` are the points by which the side of each seat scored better than the others on average, ``luck`` what
    equal players make of the same deal on average, ``spreads`` the standard deviations of that in a single one of the
    ``replays``. Seats that were not in the match have 0; results and luck add up to 0.
    """

    version: int
    results: tuple[float, ...]
    luck: tuple[float, ...]
    spreads: tuple[float, ...]
    replays: int


class Review(NamedTuple):
    """What is known of a match: its decisions, and the luck of its rounds."""

    decisions: Sequence[Decision]
    rounds: Sequence[RoundLuck]


class LuckSummary(NamedTuple):
    """The ``result`` of a seat in all rounds that are over, and how much of it was ``luck`` and how much ``skill``.

    All are points by which the side of the seat was better than the others on average, so that each adds up to 0 over
    all seats; the result is luck and skill together. ``luck_error`` is the standard error of the luck. ``skill_error``
    is the standard deviation that the skill would have among equal players, in which it is 0 on average.
    """

    result: float
    luck: float
    luck_error: float
    skill_error: float

    @property
    def skill(self) -> float:
        """What the play of all seats made of the deals."""
        return self.result - self.luck


class SeatSummary(NamedTuple):
    """The decisions of a seat, how many points it gave away at each on average, and the standard error of that."""

    seat: int
    decisions: int
    given_away: float
    error: float
    luck: LuckSummary


class Hint(NamedTuple):
    """What the legal moves of a seat are worth, the best first."""

    estimates: tuple[Estimate, ...]


class Unreviewable(ValueError):
    """The record is partial, or not playable by its rules."""


class NoSuchMove(LookupError):
    """No move of the record has this version."""


def review(
    record: Record, rules: Rules, *, playouts: int | None = None, after: int = 0
) -> Iterator[Decision | RoundLuck]:
    """Yield every decision and the luck of every round after a version, in the order of the match, one a step.

    Each takes about as long as another. ``playouts`` as in ``analysis.estimates``. What a computer player chose in
    place of a player who was away is no decision. A round that was given up has no result, and so no luck. Raises
    ``Unreviewable`` at the first event that is not as the rules have it.
    """
    dealt: tuple[Dealt, State] | None = None
    for state, presence, events, step in _replayed(record, rules):
        event, version = step.line.event, step.line.version
        if version > after and isinstance(event, MOVES) and presence.plays(event.seat):
            decision = judge(
                rules, observe(rules, state, events, event.seat), version, move_of(event), playouts=playouts
            )
            if decision is not None:
                yield decision
        elif version > after and isinstance(event, RoundEnded) and dealt is not None:
            yield _round_luck(rules, *dealt, version, scores=event.round.scores)
        if isinstance(event, Dealt):
            dealt = event, step.state


def hint_before(record: Record, rules: Rules, version: int) -> tuple[int, Hint]:
    """Return the seat whose move has this version, and its hint for it. Raises ``Unreviewable`` and ``NoSuchMove``."""
    for state, _, events, step in _replayed(record, rules):
        event = step.line.event
        if step.line.version == version and isinstance(event, MOVES):
            observation = observe(rules, state, events, event.seat)
            chosen = _chosen(observation, move_of(event))
            return event.seat, Hint(tuple(estimates(rules, observation, also=chosen)))
    raise NoSuchMove(f"No move has the version {version}.")


def _replayed(record: Record, rules: Rules) -> Iterator[tuple[State, Presence, Sequence[Event], Step]]:
    """Yield every step of a complete record with what was before it: the state, who was there, the events of the round.

    Raises ``Unreviewable`` as ``review`` does.
    """
    if record.viewer is not None:
        raise Unreviewable("The record shows only what one viewer has seen.")
    state, presence = rules.start(), ALL_PRESENT
    events: list[Event] = []
    for step in replay_record(record, rules):
        if isinstance(step, Fault):
            raise Unreviewable(step.message)
        yield state, presence, events, step
        event = step.line.event
        if isinstance(event, Dealt):
            events = [event]
        elif not isinstance(event, PresenceEvent | DrewView | RecordedDeal):
            events.append(event)
        state, presence = step.state, step.presence


def _round_luck(rules: Rules, dealt: Dealt, state: State, version: int, *, scores: Sequence[int]) -> RoundLuck:
    luck = luck_of(rules, dealt, state)
    return RoundLuck(version, results(rules, state.active_seats(), scores), *luck)


def collect(found: Iterable[Decision | RoundLuck]) -> Review:
    """Return all that ``review`` finds."""
    decisions: list[Decision] = []
    rounds: list[RoundLuck] = []
    for part in found:
        if isinstance(part, Decision):
            decisions.append(part)
        else:
            rounds.append(part)
    return Review(decisions, rounds)


def judge(
    rules: Rules, observation: Observation, version: int, requested: Move, *, playouts: int | None = None
) -> Decision | None:
    """Return the decision of the seat to act for this move; ``None`` if it had no alternative.

    Arguments as in ``review``.
    """
    moves = observation.view.legal_moves
    chosen = _chosen(observation, requested)
    if len(moves) < 2 or chosen is None or chosen == DEAL:
        return None
    found = estimates(rules, observation, also=chosen, playouts=playouts)
    own = next(estimate for estimate in found if estimate.move == chosen)
    advantages = () if own is found[0] else own.advantages
    return Decision(version, observation.seat, chosen, found[0].move, own.behind, own.behind_error, advantages)


def _chosen(observation: Observation, requested: Move) -> Move | None:
    """Return the legal move that was requested, with what it makes and scores; ``None`` if it is not legal."""
    moves = observation.view.legal_moves
    return next((other for other in moves if other._replace(ends_sum=None, points=None) == requested), None)


def summaries(seats: int, reviewed: Review) -> list[SeatSummary]:
    """By seat: what its decisions gave away on average, and what of its result was luck."""
    by_seat: list[list[Decision]] = [[] for _ in range(seats)]
    for decision in reviewed.decisions:
        by_seat[decision.seat].append(decision)
    found = []
    for seat, own in enumerate(by_seat):
        count = max(1, len(own))
        error = sqrt(fsum([decision.error**2 for decision in own])) / count
        luck = _luck_of_seat(seat, reviewed.rounds)
        found.append(SeatSummary(seat, len(own), fsum([decision.given_away for decision in own]) / count, error, luck))
    return found


def _luck_of_seat(seat: int, rounds: Sequence[RoundLuck]) -> LuckSummary:
    squares = [(dealt.spreads[seat] ** 2, dealt.replays) for dealt in rounds]
    return LuckSummary(
        fsum([dealt.results[seat] for dealt in rounds]),
        fsum([dealt.luck[seat] for dealt in rounds]),
        sqrt(fsum([square / replays for square, replays in squares])),
        sqrt(fsum([square + square / replays for square, replays in squares])),
    )


def sentence(decision: Decision, language: Language = DEFAULT_LANGUAGE) -> str:
    """Return what is said of a decision: of a mistake why the best move is better, else that none is to be seen."""
    if not decision.is_mistake:
        return text("learning.fine", language)
    return text("learning.mistake", language, reasons=_listed(decision.advantages, language))


def hint(found: Sequence[Estimate], language: Language = DEFAULT_LANGUAGE) -> str:
    """Return what to say of estimates, the best first: whether the best is clearly better than the next, and why."""
    if len(found) == 1:
        return text("learning.only", language)
    best, second = found[:2]
    if second.is_mistake:
        return text("learning.better", language, reasons=_listed(best.advantages, language))
    reasons = [advantage for advantage in best.advantages if advantage not in _OF_THE_ESTIMATE]
    if not reasons:
        return text("learning.equal", language)
    return text("learning.close", language, reasons=_listed(reasons, language))


def _listed(advantages: Iterable[Advantage], language: Language) -> str:
    return "; ".join([text(f"learning.reasons.{advantage}", language) for advantage in advantages])
