"""Bot workers and schedulers that are killed, and a Redis that is: every move is made once, no deadline comes early.

Short runs of the faults of ``make attack``. Matches of computer players alone have a seed, so that each must have the
events that it has without any fault.
"""

from __future__ import annotations

import pytest

from tests.conftest import Figures
from tests.support.lanes import in_lane
from tools.attack.faults import SCENARIOS, Scenario, play

pytestmark = pytest.mark.gate

IN_GATE = ("server killed",)
SECONDS = 6.0
"""Until no more faults are begun; one at least is."""


@pytest.mark.parametrize(
    "scenario",
    in_lane(SCENARIOS, quick=[each for each in SCENARIOS if each.name in IN_GATE]),
    ids=lambda scenario: scenario.name,
)
def test_every_move_is_made_once(scenario: Scenario, figures: Figures) -> None:
    outcome = play(scenario, SECONDS, matches=3, clocked=6)
    figures(scenario.name, {**outcome.faults, **outcome.counted})
    assert outcome.complaints == []
    assert outcome.faults or scenario.name == "none"
    assert outcome.counted["moves"]
    assert outcome.counted["deadlines"]
