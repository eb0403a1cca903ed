"""What a deal is worth to each seat: the luck in the result of its round.

Owns how that is found: the deal is replayed many times with equal computer players at all seats, and the mean of their
results is what the deal itself gave to each seat. As they are equal, it makes no difference to exchange their seats;
what is left of a result is what those who played made of the deal. The computer players are of the level ``casual``,
which varies its play: a level that always plays alike would know but one of the courses that a deal may take.

The luck of the players follows from the number of the round alone, so the same deal has the same worth wherever it is
computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from random import Random
from typing import Final, NamedTuple

from service.bots.observation import Observation
from service.bots.playout import worth
from service.bots.tempered import choose_casually
from service.engine.deal import Deck
from service.engine.events import Dealt, Event, RoundEnded
from service.engine.referee import advance
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view, view

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
    many = replays_of(rules)
    replays = [_replay(rules, dealt, state, random) for _ in range(many)]
    points, spreads = [], []
    for values in zip(*replays, strict=True):
        mean = fsum(values) / many
        points.append(mean)
        spreads.append(sqrt(fsum([(value - mean) ** 2 for value in values]) / (many - 1)))
    return Luck(tuple(points), tuple(spreads), many)


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
