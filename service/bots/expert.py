"""The level ``expert``: greedy's move, unless playouts in sampled worlds show that another one is better.

Owns the search:

* The candidates are greedy's best moves. If no tile is hidden and the round is near its end, ``endgame`` solves it
  exactly, and nothing is sampled.
* Many worlds are sampled that agree with all that the seat has seen. In each, every candidate is played out
  (``playout``) with the same simple policy and the same stock, so that chance affects all candidates alike.
* The choices of the other players are more likely in some worlds than in others (``likelihood``). So a few worlds are
  sampled at a time, and one of them is selected with a probability proportional to its likelihood. Its weight is their
  average likelihood.
* A candidate that is clearly worse than the best is dropped. Greedy's move is replaced only by a candidate that is
  better by more than one standard error.

The budget is a number of playouts, never a time: a busy machine plays more slowly, not worse. Sums are computed with
``fsum``, because the result of ``sum`` depends on the version of Python. Does not depend on any game: the value of a
playout is the score of its round.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from random import Random
from typing import Final

from service.bots import greedy
from service.bots.endgame import solve
from service.bots.inference import infer
from service.bots.knowledge import Observation
from service.bots.likelihood import Likelihood
from service.bots.playout import moves_of, play_out, tiles_possible
from service.bots.worlds import Sampler
from service.engine.moves import Move
from service.engine.state import State
from service.engine.variant import Rules

PLAYOUTS: Final = 500
"""The maximum number of playouts of one decision, for all candidates together."""
_WORK: Final = 1_250_000
"""The maximum of playouts × moves of a playout × tiles of the set, which is roughly proportional to the time.

It limits only rounds with double-fifteen or double-eighteen and many seats: with nine seats and double-eighteen a
decision has 346 playouts.
"""
CANDIDATES: Final = 3
_WORLDS: Final = 3
"""The number of worlds sampled at a time, of which one is played out; 1 until others have made choices."""
_COST_OF_LIKELIHOOD: Final = 3
"""The number of playouts that take as long as sampling these worlds and computing their likelihood."""
_COMPARE_EVERY: Final = 20
"""The number of worlds between two checks whether candidates are dropped."""
_DROP_ERRORS: Final = 2.0
"""A candidate is dropped if it is worse than the best by more than this number of standard errors."""
_CONFIDENCE: Final = 1.0
"""A candidate replaces greedy's move if it is better by more than this number of standard errors."""


def choose(rules: Rules, observation: Observation, random: Random) -> Move:
    """Return greedy's move, or a better one among its next best."""
    return search(rules, observation, random, playouts_of(rules))


def playouts_of(rules: Rules) -> int:
    """Return the budget of a decision in this game, in playouts."""
    return min(PLAYOUTS, _WORK // (moves_of(rules) * len(rules.tiles)))


def search(rules: Rules, observation: Observation, random: Random, playouts: int, *, informed: bool = True) -> Move:
    """Choose a move as ``choose`` does, with a budget of ``playouts``.

    Without ``informed``, all worlds have the same weight, and nothing is solved exactly. Edition 1 played like this;
    comparisons still use it.
    """
    knowledge = infer(rules, observation)
    moves = greedy.ranked(rules, observation, knowledge, random)
    solved = solve(rules, observation, knowledge, moves) if informed else None
    if solved is not None:
        return solved
    candidates = _distinct_moves(rules, observation, moves)
    possible = tiles_possible(observation, knowledge)
    sampler = Sampler(rules, observation, knowledge)
    likelihood = Likelihood(rules, observation)
    weighted = informed and len(likelihood) > 0  # in compiled code an object of a class is true, whatever its length
    weights: list[float] = []
    values: list[list[float]] = [[] for _ in candidates]
    running = list(range(len(candidates)))
    playouts_left = playouts
    worlds = 0
    while len(running) > 1 and playouts_left >= len(running):
        world, weight = sample_weighted(sampler, likelihood, random) if weighted else (sampler.sample(random), 1.0)
        weights.append(weight)
        for index in running:
            values[index].append(play_out(rules, world, candidates[index], possible))
        playouts_left -= len(running) + (_COST_OF_LIKELIHOOD if weighted else 0)
        worlds += 1
        if worlds % _COMPARE_EVERY == 0:
            running = _still_running(values, running, weights)
    return candidates[_best(values, running, weights)]


def sample_weighted(sampler: Sampler, likelihood: Likelihood, random: Random) -> tuple[State, float]:
    """Sample ``_WORLDS`` worlds; return one of them, and their average likelihood.

    Each is returned with a probability proportional to its likelihood.
    """
    worlds = [sampler.sample(random) for _ in range(_WORLDS)]
    likelihoods = [likelihood.of(world) for world in worlds]
    total = fsum(likelihoods)
    remaining, index = random.random() * total, 0
    while index < _WORLDS - 1 and remaining >= likelihoods[index]:
        remaining -= likelihoods[index]
        index += 1
    return worlds[index], total / _WORLDS


def _distinct_moves(rules: Rules, observation: Observation, moves: list[Move]) -> list[Move]:
    """Return the first ``CANDIDATES`` of these moves that lead to different open ends."""
    layout = observation.view.layout
    distinct: dict[tuple[object, ...], Move] = {}
    for move in moves:
        if move.tile is None:
            distinct[move] = move
        else:
            end = layout.end(move.end)
            after = rules.lay_tile(layout, end, move.tile, observation.seat, face_down=move.face_down, outer=move.outer)
            ends = sorted([(open_end.number, open_end.side, open_end.gate, open_end.counts) for open_end in after.ends])
            distinct.setdefault((move.tile, *ends), move)
        if len(distinct) == CANDIDATES:
            break
    return list(distinct.values())


def _still_running(values: list[list[float]], running: list[int], weights: list[float]) -> list[int]:
    """Return the ``running`` candidates that are not clearly worse than the best of them."""
    best = max(running, key=lambda index: _sum(values[index], weights))
    return [index for index in running if _lead(values[best], values[index], weights, _DROP_ERRORS) <= 0]


def _best(values: list[list[float]], running: list[int], weights: list[float]) -> int:
    """Return the best candidate if it is better than greedy's move with confidence, else greedy's move (0).

    If greedy's move was dropped, only the worlds are compared in which it was played out.
    """
    best = max(running, key=lambda index: _sum(values[index], weights))
    return best if best and _lead(values[best], values[0], weights, _CONFIDENCE) > 0 else 0


def _sum(values: list[float], weights: list[float]) -> float:
    return fsum([value * weight for value, weight in zip(values, weights, strict=False)])


def _lead(values: list[float], others: list[float], weights: list[float], errors: float) -> float:
    """Return the weighted mean of ``values`` minus ``others``, world by world, less this number of standard errors."""
    leads = [value - other for value, other in zip(values, others, strict=False)]
    if len(leads) < 2:
        return 0.0
    mean, error = mean_and_error(leads, weights[: len(leads)])
    return mean - errors * error


def mean_and_error(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Return the weighted mean of these values, and its standard error."""
    total = fsum(weights)
    mean = fsum([value * weight for value, weight in zip(values, weights, strict=True)]) / total
    square = fsum([((value - mean) * weight) ** 2 for value, weight in zip(values, weights, strict=True)])
    return mean, sqrt(square) / total
