"""Whatever fails around the service, no acknowledged write is lost or made twice, and all that is due happens.

A short run of each fault of ``make faults``, whose clients, failures and judge these are.
"""

from __future__ import annotations

import sys

import pytest

from tests.conftest import Figures
from tests.support.lanes import in_lane
from tools.faults.run import FAULTS, Fault, Size, run

pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the processes of another one"),
]

IN_GATE = ("a process killed", "connections disturbed", "Cluster: failover")
"""One of each kind: processes, connections and servers."""
SHORT = Size(acknowledged=60, most_seconds=20, tables=8, of_bots=1, processes=1)


@pytest.mark.parametrize(
    "fault", in_lane(FAULTS, quick=[fault for fault in FAULTS if fault.name in IN_GATE]), ids=lambda fault: fault.name
)
def test_nothing_is_lost_or_made_twice(fault: Fault, figures: Figures) -> None:
    outcomes = run(fault, SHORT)
    figures(fault.name, {**outcomes.broken, "acknowledged": outcomes.acknowledged, "moves": outcomes.moves})
    assert outcomes.complaints == []
    assert outcomes.broken or fault.name == "none"
    assert outcomes.broken["of them noticed"] in (0, outcomes.broken["times full"] + outcomes.broken["times read-only"])
    assert outcomes.acknowledged
    assert outcomes.moves
