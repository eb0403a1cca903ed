"""A deal, or a match, played in every seating, so that its luck falls out of the comparison.

With an even number of seats, the stronger level of a row has the even seats and then the odd ones, else each seat
alone; the other level has the rest. Does not depend on HTTP or Redis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from time import process_time
from typing import NamedTuple

from service.bots.knowledge import Observation
from service.engine.deal import Deck, seed_from_text, seed_of_decision
from service.engine.events import Event, Finished, RoundEnded
from service.engine.moves import DEAL, Move
from service.engine.referee import advance
from service.engine.state import FINISHED, State
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view, view
from tools.strength.levels import level
from tools.strength.programs import PROGRAMS
from tools.strength.rows import Row


class Outcome(NamedTuple):
    """A deal, or a match, in all its seatings."""

    deal: int
    win: float
    lead: float
    milliseconds: list[float]
    """CPU time of each decision of the stronger level between several moves."""
    of_program: Sequence[float] = ()
    """The same of the other one, if that is a public program."""


Decided = Callable[[Observation, int, Move, float], None]
"""Told of each decision between several moves: what the seat has seen, the version before, the move, and its CPU ms."""


def play_deal(row: Row, label: str, number: int) -> Outcome:
    """Return this deal, or this match, in every seating."""
    rules, seats = row.setup.rules, row.setup.seats
    seatings = [range(0, seats, 2), range(1, seats, 2)] if seats % 2 == 0 else [(seat,) for seat in range(seats)]
    seed = seed_from_text(f"{label} {row.setup.name} {number}")
    sign = 1 if rules.best == "highest" else -1
    wins: list[float] = []
    leads: list[float] = []
    times: dict[str, list[float]] = {row.stronger: [], **({row.weaker: []} if row.weaker in PROGRAMS else {})}
    for seating in seatings:
        levels = [row.stronger if seat in seating else row.weaker for seat in range(seats)]
        decided = _timed(levels, times)
        winners: tuple[int, ...] = ()
        if row.whole:
            scores, winners = play_match(rules, seed, levels, decided)
        else:
            scores = play_round(rules, seed, levels, decided)
        others = set(range(seats)) - set(seating)
        ahead = [sign * (scores[seat] - scores[other]) for seat in seating for other in others]
        leads.append(fmean(ahead))
        if winners:
            wins.append(len(set(winners) & set(seating)) / len(winners))
        else:
            wins.append(fmean([1 if lead > 0 else 0.5 if lead == 0 else 0 for lead in ahead]))
    return Outcome(number, fmean(wins), fmean(leads), times[row.stronger], times.get(row.weaker, ()))


def _timed(levels: Sequence[str], times: Mapping[str, list[float]]) -> Decided:
    """Collect the times of some levels."""

    def add(observation: Observation, _version: int, _move: Move, taken: float) -> None:
        if (level_of_seat := levels[observation.seat]) in times:
            times[level_of_seat].append(taken)

    return add


def play_round(rules: Rules, seed: bytes, levels: Sequence[str], decided: Decided) -> tuple[int, ...]:
    """Return the scores of the first round, each seat played by its level."""
    for event, _ in _played(rules, seed, levels, decided):
        if isinstance(event, RoundEnded):
            return event.round.scores
    raise AssertionError


def play_match(
    rules: Rules, seed: bytes, levels: Sequence[str], decided: Decided
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the totals of a match, each seat played by its level, and the seats that have won it."""
    for event, state in _played(rules, seed, levels, decided):
        if isinstance(event, Finished):
            return state.totals, event.winners
    raise AssertionError


def _played(rules: Rules, seed: bytes, levels: Sequence[str], decided: Decided) -> Iterator[tuple[Event, State]]:
    """Yield the events of a match, each with the state after its move."""
    deck = Deck(seed)
    state = rules.start()
    seen: list[list[Event | DealtView | DrewView]] = []
    version = 0
    while state.phase != FINISHED:
        seat = state.turn
        if seat is None:
            seat, move, seen = (state.active_seats() or (0,))[0], DEAL, [[] for _ in levels]
        else:
            observation = Observation(seat, view(rules, state, seat), tuple(seen[seat]))
            start = process_time()
            move = level(levels[seat])(rules, state, observation, seed_of_decision(seed, seat, version))
            if len(observation.view.legal_moves) > 1:
                decided(observation, version, move, round(1000 * (process_time() - start), 2))
        events, state = advance(rules, deck, state, seat, move=move)
        version += len(events)
        for event in events:
            yield event, state
            for viewer, known in enumerate(seen):
                known.append(event_view(event, viewer))


def play_deals(row: Row, label: str, numbers: range) -> list[Outcome]:
    """Return these deals, one after the other."""
    return [play_deal(row, label, number) for number in numbers]
