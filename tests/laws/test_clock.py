"""The laws of clocks, of players who are away, and of computer players, in simulated time.

The courses of events are those of ``tests.laws.clocks``.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Final

import pytest

from service.engine.presence import ABSENCES, Absence
from service.engine.state import FINISHED, State
from service.engine.variants import variants
from service.games.access import Access
from service.games.automation.due import _time_out
from service.games.commands.presence import decide_claim
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.model.schedule import reminders
from service.games.model.seats import BOT, HUMAN, OPEN_SEAT
from service.games.reminders import ClockReading
from tests.conftest import Figures
from tests.laws.clocks import Course, Plan
from tests.laws.hosting import hosted
from tests.laws.matches import Match, law, setups
from tests.laws.test_blindness import twins
from tests.support.lanes import GATE_VARIANTS, in_lane

pytestmark = pytest.mark.gate

COURSES: Final = 24
"""Of each game, in every run; ``make soak`` asks for more."""
COURSES_IN_SOAK: Final = int(os.environ.get("SOAK_COURSES", "2000"))
CLOCKS: Final = (
    ClockSettings(turn=5_000),
    ClockSettings(turn=60_000),
    ClockSettings(bank=10_000),
    ClockSettings(bank=30_000, increment=2_000),
    ClockSettings(bank=300_000, increment=10_000),
)


def plan(key: str, number: int) -> Plan:
    """The number of players, the absences and the clocks take turns."""
    random = Random(f"{key} {number}")
    players = variants()[key].players
    seats = players.low + number % (players.high - players.low + 1)
    options = random.choice([options for count, options in setups(key) if count == seats])
    kinds = [random.choice((HUMAN, HUMAN, BOT)) for _ in range(seats)]
    kinds[random.randrange(seats)] = HUMAN
    if random.random() < 0.2:
        kinds[-1] = OPEN_SEAT
        kinds[0] = HUMAN
    clock = None if number % 6 == 5 else CLOCKS[number % 5]._replace(absence=ABSENCES[number % 4])
    planned = Plan(
        key,
        options,
        tuple(kinds),
        clock,
        pace=random.choice((None, 0, 700)),
        faults=random.choice((0.0, 0.0, 0.1)),
        steps=random.choice((50, 100, 200)),
        seed=number,
        arranged=random.random() < 0.3,
        owned=random.random() < 0.5,
    )
    if clock is None or not planned.owned:
        return planned
    return planned._replace(clock=clock._replace(remind=(clock.turn or clock.bank) // 2))


def take_courses(key: str, first: int, many: int) -> Counter[str]:
    figures: Counter[str] = Counter()
    for number in range(first, first + many):
        planned = plan(key, number)
        try:
            course = Course(planned)
            for _ in range(planned.steps):
                course.step()
            course.finish()
        except Exception as broken:
            broken.add_note(f"{planned!r}")
            raise
        figures.update(course.figures)
        figures["courses"] += 1
    return figures


@law(matches=6, drawn=2)
def test_what_follows_from_a_deadline_does_not_depend_on_hidden_tiles(match: Match) -> None:
    for state in match.some_states(3):
        if not state.round or state.phase == FINISHED:
            continue
        for absence in ABSENCES:
            game = with_clock(match, state, absence)
            told = what_follows(game)
            for twin in twins(match, state, None, 1):
                hidden = game._replace(state=twin)
                assert what_follows(hidden) == told
                assert (hidden.deadline, reminders(None, hidden)) == (game.deadline, reminders(None, game))


def with_clock(match: Match, state: State, absence: Absence) -> Game:
    """The game of a match in which a time of five seconds runs."""
    clock = ClockSettings(turn=5_000, absence=absence)
    return hosted(match, state)._replace(clock=clock, is_automatic=True)


def what_follows(game: Game) -> list[GameEvent]:
    """The events after the deadline; those of a claim where something follows from claims only."""
    assert game.clock is not None
    seat = game.state.turn
    if game.clock.absence == "claim" and seat is not None:
        by = next(each for each in game.state.active_seats() if each != seat)
        return list(decide_claim(Access(game, by), seat, ClockReading(60_000), game)[1])
    return list(_time_out(game)[1])


@pytest.mark.soak
@pytest.mark.parametrize("key", variants())
def test_the_clock_is_right_in_many_courses(key: str, figures: Figures) -> None:
    figures("clocks", take_courses(key, COURSES, COURSES_IN_SOAK))


@pytest.mark.parametrize("key", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_the_clock_is_right_whatever_happens(key: str, figures: Figures) -> None:
    happened = take_courses(key, 0, COURSES)
    figures("clocks", happened)
    for kind in ("TimedOut", "Left", "Returned", "Claimed", "Forfeited", "Reminded", "killed", "late moves refused"):
        assert happened[kind], kind
