"""The laws of clocks, of players who are away and of computer players, in simulated time (``tests.laws.clocks``)."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Final

import pytest

from service.engine.presence import ABSENCES
from service.engine.variants import variants
from service.games.clock import ClockSettings
from service.games.game import BOT, HUMAN, OPEN_SEAT
from tests.conftest import Figures
from tests.laws.clocks import Course, Plan
from tests.laws.matches import setups

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
    return Plan(
        key,
        options,
        tuple(kinds),
        clock,
        pace=random.choice((None, 0, 700)),
        faults=random.choice((0.0, 0.0, 0.1)),
        steps=random.choice((50, 100, 200)),
        seed=number,
        arranged=random.random() < 0.3,
    )


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


@pytest.mark.parametrize("key", variants())
def test_the_clock_is_right_whatever_happens(key: str, figures: Figures) -> None:
    happened = take_courses(key, 0, COURSES)
    figures("clocks", happened)
    for kind in ("TimedOut", "Left", "Returned", "Claimed", "Forfeited", "killed", "late moves refused"):
        assert happened[kind], kind
