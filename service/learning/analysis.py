"""Estimates of the values of moves, with errors and reasons, by the method of the level ``expert``.

Owns the estimates: every move is played out in the same sampled worlds, weighted as in ``expert``, so that two moves
are compared world by world. If no tile is hidden, estimates are exact. The random numbers depend only on what the seat
has seen: so an estimate reveals nothing that its seat does not know, and can be computed again. Also owns the reasons:
the terms of greedy's formula in which one move is better than another. Does not depend on any game, or on the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from random import Random
from typing import Final, Literal, NamedTuple

from service.bots import greedy
from service.bots.choice import choose_casually
from service.bots.endgame import is_all_known, values_of
from service.bots.expert import mean_and_error, playouts_of, sample_weighted
from service.bots.inference import infer
from service.bots.knowledge import Knowledge, Observation
from service.bots.likelihood import Likelihood
from service.bots.playout import play_out, tiles_possible, worth
from service.bots.worlds import Sampler
from service.engine.deal import NO_DECK
from service.engine.events import Dealt, Event, RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view, view

Advantage = Literal["points", "sheds", "fits", "numbers", "hinders", "helps", "worlds", "exact"]
"""A reason why a move is better than another.

* a term of ``greedy.Parts``; its last one is ``helps`` if the next player is the partner, else ``hinders``
* ``worlds``: only its playouts in sampled worlds were better
* ``exact``: no tile is hidden, and its result is better
"""

MAX_MOVES: Final = 8
"""The number of moves that are estimated: the best ones of greedy."""
_MAX_WORLDS: Final = 250
_CLEAR: Final = 2.0
"""A difference is clear if it is larger than this number of standard errors."""
_MIN_UNSOLVED_ERROR: Final = 1.0
"""The minimum error, in points, if only one of many ways to play on was tried."""
_MIN_ADVANTAGE: Final = 0.5
"""An advantage is named if it is larger than this number of pips."""
_PARTS: Final[tuple[Advantage, ...]] = ("points", "sheds", "fits", "numbers", "hinders")
"""The names of the terms in ``greedy.Parts`` if the next player is an opponent."""
_PARTS_BEFORE_PARTNER: Final[tuple[Advantage, ...]] = (*_PARTS[:-1], "helps")
"""The same if the next player is the partner."""


class Estimate(NamedTuple):
    """The estimated value of a move, in points.

    If no tile is hidden, but the rest of the round is too long to be solved, only one way to play on was tried. Then
    the errors are as large as the differences, so that no difference is clear.
    """

    move: Move
    estimate: float
    """By how many points its side will score better in the round than the other sides, on average."""
    error: float
    """The standard error of ``estimate``."""
    behind: float
    """The estimate of the best move minus this one, at least 0."""
    behind_error: float
    """The standard error of ``behind``. It is small, because both moves are played out in the same worlds."""
    advantages: tuple[Advantage, ...]
    """The advantages of the best move over this one; for the best move, over the second best."""

    @property
    def is_mistake(self) -> bool:
        """Return whether the best move is clearly better than this one."""
        return is_clear(self.behind, self.behind_error)


def is_clear(difference: float, error: float) -> bool:
    """Return whether a difference is positive and clearly larger than its standard error."""
    return difference > _CLEAR * error and difference > 0


def worlds_of(rules: Rules, moves: int, playouts: int | None = None) -> int:
    """Return the number of worlds in which each of ``moves`` is played out; ``playouts`` as in ``estimates``."""
    return max(2, min(_MAX_WORLDS, (playouts or 2 * playouts_of(rules)) // moves))


def estimates(
    rules: Rules, observation: Observation, *, extra: Move | None = None, playouts: int | None = None, sample: int = 0
) -> list[Estimate]:
    """Return estimates of the best ``MAX_MOVES`` legal moves of the seat to act, and of ``extra``; the best first.

    ``playouts`` is the number for all moves together; by default, twice the number of a decision of ``expert``. Each
    ``sample`` uses other worlds. The round must be running, with at least one legal move.
    """
    knowledge = infer(rules, observation)
    # The seed reveals nothing: everybody knows the seat, the round and the number of its events.
    seed = (sample << 48) + (observation.view.round << 24) + (len(observation.events) << 8) + observation.seat
    random = Random(seed)  # noqa: S311 # not a secret
    moves = greedy.ranked(rules, observation, knowledge, random)[:MAX_MOVES]
    if extra is not None and extra not in moves:
        moves.append(extra)
    known = values_of(rules, observation, knowledge, moves)
    weights, values = [1.0], [[value] for value in known or ()]
    if known is None:
        worlds = worlds_of(rules, len(moves), playouts)
        weights, values = _play_out_all(rules, observation, knowledge, moves, random=random, worlds=worlds)
    found = [mean_and_error(of_move, weights) for of_move in values]
    order = sorted(range(len(moves)), key=lambda index: (-found[index][0], index))
    parts = greedy.parts(rules, observation, knowledge, moves)
    names = _PARTS_BEFORE_PARTNER if greedy.is_partner_next(rules, observation) else _PARTS
    best = order[0]
    result = []
    for index in order:
        other = order[min(1, len(order) - 1)] if index == best else index
        advantages = () if other == best else _advantages(names, parts[best], parts[other], exact=known is not None)
        estimate, error = found[index]
        leads = [of_best - of_move for of_best, of_move in zip(values[best], values[index], strict=True)]
        behind, behind_error = mean_and_error(leads, weights)
        result.append(Estimate(moves[index], estimate, error, max(0.0, behind), behind_error, advantages))
    return _with_large_errors(result) if known is None and is_all_known(observation) else result


def _with_large_errors(ranked: list[Estimate]) -> list[Estimate]:
    """Return these estimates with errors as large as their differences, because only one way to play on was tried."""
    best, *others = ranked
    error = max(best.estimate - ranked[-1].estimate, _MIN_UNSOLVED_ERROR)
    widened = [other._replace(error=error, behind_error=max(other.behind, _MIN_UNSOLVED_ERROR)) for other in others]
    return [best._replace(error=error), *widened]


def _play_out_all(
    rules: Rules, observation: Observation, knowledge: Knowledge, moves: list[Move], *, random: Random, worlds: int
) -> tuple[list[float], list[list[float]]]:
    """Return the weights of sampled worlds, and for each move the value of the round in each of these worlds."""
    possible = tiles_possible(observation, knowledge)
    sampler, likelihood = Sampler(rules, observation, knowledge), Likelihood(rules, observation)
    weights: list[float] = []
    values: list[list[float]] = [[] for _ in moves]
    for _ in range(worlds):
        world, weight = sample_weighted(sampler, likelihood, random)
        weights.append(weight)
        for index, move in enumerate(moves):
            values[index].append(play_out(rules, world, move, possible))
    return weights, values


def _advantages(
    names: tuple[Advantage, ...], best: greedy.Parts, other: greedy.Parts, *, exact: bool
) -> tuple[Advantage, ...]:
    """Return the terms, by their ``names``, in which the best move is better than the other, the largest first."""
    ahead = [(best_part - other_part, name) for name, best_part, other_part in zip(names, best, other, strict=True)]
    advantages = [name for lead, name in sorted(ahead, key=lambda advantage: -advantage[0]) if lead > _MIN_ADVANTAGE]
    if exact:
        return ("exact", *advantages)
    return tuple(advantages) or ("worlds",)


# The value of a deal for each seat: the luck in the result of its round.


_MAX_REPLAYS: Final = 50
"""The maximum number of replays of a deal."""
_MIN_REPLAYS: Final = 10
"""The minimum number of replays of a deal."""
_WORK: Final = 1400
"""The maximum of replays × tiles of the set. So the replays take about as long as the judgement of one decision."""


class Luck(NamedTuple):
    """The luck of a deal: the results of equal players who play it several times."""

    points: tuple[float, ...]
    """By seat: the mean of its ``results``."""
    spreads: tuple[float, ...]
    """By seat: the standard deviation of its ``results``."""
    replays: int
    """The number of results."""


def replays_of(rules: Rules) -> int:
    """Return the number of replays of a deal in this game."""
    return max(_MIN_REPLAYS, min(_MAX_REPLAYS, _WORK // len(rules.tiles)))


def luck_of(rules: Rules, dealt: Dealt, state: State) -> Luck:
    """Return the luck of this deal; ``state`` is the state after it."""
    random = Random(dealt.round)  # noqa: S311 # not a secret
    count = replays_of(rules)
    replays = [_replay(rules, dealt, state, random) for _ in range(count)]
    points, spreads = [], []
    for values in zip(*replays, strict=True):
        mean = fsum(values) / count
        points.append(mean)
        spreads.append(sqrt(fsum([(value - mean) ** 2 for value in values]) / (count - 1)))
    return Luck(tuple(points), tuple(spreads), count)


def results(rules: Rules, active: Sequence[int], scores: Sequence[int]) -> tuple[float, ...]:
    """Return for each seat by how many points its side scored better than the others on average; the sum is 0.

    A seat that was not in the match has 0.
    """
    return tuple([worth(rules, active, scores, seat) if seat in active else 0.0 for seat in range(rules.seats)])


def _replay(rules: Rules, dealt: Dealt, state: State, random: Random) -> tuple[float, ...]:
    """Play the deal once with equal players; return the ``results``."""
    active = state.active_seats()
    seen: list[list[Event | DealtView | DrewView]] = [[event_view(dealt, seat)] for seat in range(rules.seats)]
    while True:
        seat = state.turn
        assert seat is not None
        observation = Observation(seat, view(rules, state, seat), tuple(seen[seat]))
        moves = observation.view.legal_moves
        move = moves[0] if len(moves) == 1 else choose_casually(rules, observation, random)
        events, state = advance(rules, NO_DECK, state, seat, move=move)
        for event in events:
            if isinstance(event, RoundEnded):
                return results(rules, active, event.round.scores)
            for viewer, known in enumerate(seen):
                known.append(event_view(event, viewer))
