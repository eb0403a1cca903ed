"""A deal played in every seating, so that its luck falls out of the comparison.

With an even number of seats, the stronger level of a row has the even seats and then the odd ones, else each seat
alone; the other level has the rest. Does not depend on HTTP or Redis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import NamedTuple

from service.bots.observation import Observation
from service.engine.deal import Deck, bot_luck, seed_from_text
from service.engine.events import Event, RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance, deal
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view, view
from tools.strength.levels import level
from tools.strength.rows import Row


class Outcome(NamedTuple):
    """A deal in all its seatings."""

    deal: int
    win: float
    lead: float
    milliseconds: list[float]
    """CPU time of each decision of the stronger level between several moves."""


Decided = Callable[[Observation, int, Move, float], None]
"""Told of each decision between several moves: what the seat has seen, the version before, the move, and its CPU ms."""


def play_deal(row: Row, label: str, number: int) -> Outcome:
    """This deal in every seating."""
    rules, seats = row.setup.rules, row.setup.seats
    seatings = [range(0, seats, 2), range(1, seats, 2)] if seats % 2 == 0 else [(seat,) for seat in range(seats)]
    seed = seed_from_text(f"{label} {row.setup.name} {number}")
    wins = leads = comparisons = 0.0
    milliseconds: list[float] = []
    for seating in seatings:
        levels = [row.stronger if seat in seating else row.weaker for seat in range(seats)]
        scores = play_round(rules, seed, levels, _timed(levels, row.stronger, milliseconds))
        sign = 1 if rules.best == "highest" else -1
        for seat in seating:
            for other in set(range(seats)) - set(seating):
                lead = sign * (scores[seat] - scores[other])
                wins += 1 if lead > 0 else 0.5 if lead == 0 else 0
                leads += lead
                comparisons += 1
    return Outcome(number, wins / comparisons, leads / comparisons, milliseconds)


def _timed(levels: Sequence[str], level_timed: str, milliseconds: list[float]) -> Decided:
    """Collects the times of one level."""

    def add(observation: Observation, _version: int, _move: Move, taken: float) -> None:
        if levels[observation.seat] == level_timed:
            milliseconds.append(taken)

    return add


def play_round(rules: Rules, seed: bytes, levels: Sequence[str], decided: Decided) -> tuple[int, ...]:
    """The scores of the first round, each seat played by its level."""
    deck = Deck(seed)
    dealt, state = deal(rules, deck, rules.start())
    seen: list[list[Event | DealtView | DrewView]] = [[event_view(dealt, seat)] for seat in range(rules.seats)]
    version = 1
    while True:
        seat = state.turn
        assert seat is not None
        observation = Observation(seat, view(rules, state, seat), tuple(seen[seat]))
        start = process_time()
        move = level(levels[seat])(rules, state, observation, bot_luck(seed, seat, version))
        if len(observation.view.legal_moves) > 1:
            decided(observation, version, move, round(1000 * (process_time() - start), 2))
        events, state = advance(rules, deck, state, seat, move)
        version += len(events)
        for event in events:
            if isinstance(event, RoundEnded):
                return event.round.scores
            for viewer, known in enumerate(seen):
                known.append(event_view(event, viewer))


def play_deals(row: Row, label: str, numbers: range) -> list[Outcome]:
    """These deals, one after the other."""
    return [play_deal(row, label, number) for number in numbers]
