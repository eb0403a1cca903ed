"""What moves are worth: the estimates behind the choices of the level ``expert``, with their errors and their reasons.

Owns the estimates: each move is played on in the same sampled worlds, weighed as in ``expert``, so that two moves are
compared world by world; where nothing is hidden they are exact. The luck is the same for everybody who has seen the
same, and follows from nothing hidden: so an estimate tells nothing that its seat does not know, and can be made again.
Owns, too, in which parts of greedy's formula one move is ahead of another. Does not depend on any game, or on who asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from random import Random
from typing import Final, Literal, NamedTuple

from service.bots import greedy
from service.bots.choice import choose_casually
from service.bots.endgame import is_all_known, values_of
from service.bots.expert import one_of_some, playouts_of
from service.bots.inference import infer
from service.bots.knowledge import Knowledge, Observation
from service.bots.likelihood import Likelihood
from service.bots.playout import play_out, tiles_possible, worth
from service.bots.worlds import Sampler
from service.engine.deal import Deck
from service.engine.events import Dealt, Event, RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view, view

Advantage = Literal["points", "sheds", "fits", "numbers", "hinders", "helps", "worlds", "exact"]
"""In what a move is ahead: a part of greedy's formula, of which the last is ``helps`` where the next player is the
partner and else ``hinders``; or only as it was played on in worlds, or to a known end."""

MAX_MOVES: Final = 8
"""Moves that are estimated: greedy's best."""
_MAX_WORLDS: Final = 250
_CLEAR: Final = 2.0
"""Standard errors by which a difference is clear of its error."""
_LEAST_UNKNOWN: Final = 1.0
"""Points: the least error where each move was played on in one way of many."""
_BY_MORE_THAN: Final = 0.5
"""What an advantage is worth at least to be named, in pips."""
_PARTS: Final[tuple[Advantage, ...]] = ("points", "sheds", "fits", "numbers", "hinders")
_PARTS_BEFORE_PARTNER: Final[tuple[Advantage, ...]] = (*_PARTS[:-1], "helps")
"""The names of ``greedy.Parts``, where an opponent is next and where the partner is."""


class Estimate(NamedTuple):
    """What a move is worth: by how many points its side will score more in the round than the others on average.

    ``error`` is the standard error of the ``estimate``. ``behind`` is by how much the best move is ahead of this one,
    at least 0, and ``behind_error`` the standard error of that, which is smaller, as both are played on in the same
    worlds. Where nothing is hidden and the end is too long to be known, each move was played on in one way of many:
    then the errors are as large as the differences, so that nothing is clear. ``advantages`` are those of the best move
    over this one; those of the best itself are over the second best.
    """

    move: Move
    estimate: float
    error: float
    behind: float
    behind_error: float
    advantages: tuple[Advantage, ...]

    @property
    def is_mistake(self) -> bool:
        """Whether the best move is ahead by clearly more than the error."""
        return is_clear(self.behind, self.behind_error)


def is_clear(difference: float, error: float) -> bool:
    """Return whether a difference is clear of its error."""
    return difference > _CLEAR * error and difference > 0


def worlds_of(rules: Rules, moves: int, playouts: int | None = None) -> int:
    """Return in how many worlds each of these moves is played on; ``playouts`` as in ``estimates``."""
    return max(2, min(_MAX_WORLDS, (playouts or 2 * playouts_of(rules)) // moves))


def estimates(
    rules: Rules, observation: Observation, *, also: Move | None = None, playouts: int | None = None, sample: int = 0
) -> list[Estimate]:
    """Return what the legal moves of the seat to act are worth, the best first: ``MAX_MOVES`` of them, and ``also``.

    ``playouts`` are those of all moves together; by default twice those of a decision of the level ``expert``. Each
    ``sample`` has other worlds. There must be a legal move in a running round.
    """
    knowledge = infer(rules, observation)
    # Everybody knows the seat, the round and how much has happened in it.
    seed = (sample << 48) + (observation.view.round << 24) + (len(observation.events) << 8) + observation.seat
    random = Random(seed)  # noqa: S311 # not a secret
    moves = greedy.ranked(rules, observation, knowledge, random)[:MAX_MOVES]
    if also is not None and also not in moves:
        moves.append(also)
    known = values_of(rules, observation, knowledge, moves)
    weights, values = [1.0], [[value] for value in known or ()]
    if known is None:
        worlds = worlds_of(rules, len(moves), playouts)
        weights, values = _played_on(rules, observation, knowledge, moves, random=random, worlds=worlds)
    means = [_mean(of_move, weights) for of_move in values]
    order = sorted(range(len(moves)), key=lambda place: (-means[place], place))
    parts = greedy.parts(rules, observation, knowledge, moves)
    names = _PARTS_BEFORE_PARTNER if greedy.is_partner_next(rules, observation) else _PARTS
    best = order[0]
    found = []
    for place in order:
        other = order[min(1, len(order) - 1)] if place == best else place
        advantages = () if other == best else _advantages(names, parts[best], parts[other], exact=known is not None)
        lead = [value - behind for value, behind in zip(values[best], values[place], strict=True)]
        behind = max(0.0, _mean(lead, weights))
        error, behind_error = _error(values[place], weights), _error(lead, weights)
        found.append(Estimate(moves[place], means[place], error, behind, behind_error, advantages))
    return _in_one_way(found) if known is None and is_all_known(observation) else found


def _in_one_way(found: list[Estimate]) -> list[Estimate]:
    """Return these estimates with errors as large as their differences, as each move was played on in one way."""
    best, *others = found
    error = max(best.estimate - found[-1].estimate, _LEAST_UNKNOWN)
    wide = [other._replace(error=error, behind_error=max(other.behind, _LEAST_UNKNOWN)) for other in others]
    return [best._replace(error=error), *wide]


def _played_on(
    rules: Rules, observation: Observation, knowledge: Knowledge, moves: list[Move], *, random: Random, worlds: int
) -> tuple[list[float], list[list[float]]]:
    """Return the weights of sampled worlds, and by move what the round is worth in each of them."""
    assert observation.view.you is not None
    possible = tiles_possible(observation.seat, observation.view.you.hand, knowledge)
    sampler, likelihood = Sampler(rules, observation, knowledge), Likelihood(rules, observation)
    weights: list[float] = []
    values: list[list[float]] = [[] for _ in moves]
    for _ in range(worlds):
        world, weight = one_of_some(sampler, likelihood, random)
        weights.append(weight)
        for place, move in enumerate(moves):
            values[place].append(play_out(rules, world, move, possible))
    return weights, values


def _advantages(
    names: tuple[Advantage, ...], best: greedy.Parts, other: greedy.Parts, *, exact: bool
) -> tuple[Advantage, ...]:
    """In which parts, by their names, the best move is ahead of the other, the largest first."""
    ahead = [(mine - theirs, name) for name, mine, theirs in zip(names, best, other, strict=True)]
    named = [name for lead, name in sorted(ahead, key=lambda advantage: -advantage[0]) if lead > _BY_MORE_THAN]
    if exact:
        return ("exact", *named)
    return tuple(named) or ("worlds",)


def _mean(values: list[float], weights: list[float]) -> float:
    return fsum([value * weight for value, weight in zip(values, weights, strict=True)]) / fsum(weights)


def _error(values: list[float], weights: list[float]) -> float:
    """Return the standard error of the weighted mean of these values."""
    mean = _mean(values, weights)
    square = fsum([((value - mean) * weight) ** 2 for value, weight in zip(values, weights, strict=True)])
    return sqrt(square) / fsum(weights)


# What a deal is worth to each seat: the luck in the result of its round.


_REPLAYS: Final = 50
"""Of a deal, where ``_WORK`` allows as many."""
_FEWEST: Final = 10
_WORK: Final = 1400
"""What the replays of a deal may come to, in tiles of the set: so they take about as long as to judge a decision."""
_NO_DECK: Final = Deck(b"")
"""No round is dealt in a replay."""


class Luck(NamedTuple):
    """By seat: by how many points its side scored better than the others in the replays of a deal.

    ``points`` are the means, ``spreads`` the standard deviations of a single replay.
    """

    points: tuple[float, ...]
    spreads: tuple[float, ...]
    replays: int


def replays_of(rules: Rules) -> int:
    """Return how often a deal of this game is replayed."""
    return max(_FEWEST, min(_REPLAYS, _WORK // len(rules.tiles)))


def luck_of(rules: Rules, dealt: Dealt, state: State) -> Luck:
    """Return the luck of this deal, after which the match is in this state."""
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
    """By seat: by how many points its side scored better than the others on average; 0 where it was not in the match.

    They add up to 0.
    """
    return tuple([worth(rules, active, scores, seat) if seat in active else 0.0 for seat in range(rules.seats)])


def _replay(rules: Rules, dealt: Dealt, state: State, random: Random) -> tuple[float, ...]:
    """Return the ``results`` of the deal as equal players play it once."""
    active = state.active_seats()
    seen: list[list[Event | DealtView | DrewView]] = [[event_view(dealt, seat)] for seat in range(rules.seats)]
    while True:
        seat = state.turn
        assert seat is not None
        observation = Observation(seat, view(rules, state, seat), tuple(seen[seat]))
        moves = observation.view.legal_moves
        move = moves[0] if len(moves) == 1 else choose_casually(rules, observation, random)
        events, state = advance(rules, _NO_DECK, state, seat, move=move)
        for event in events:
            if isinstance(event, RoundEnded):
                return results(rules, active, event.round.scores)
            for viewer, known in enumerate(seen):
                known.append(event_view(event, viewer))
