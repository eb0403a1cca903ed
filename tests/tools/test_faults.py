"""`make faults` still lets everything fail, and judges. Its figures are no matter here."""

from __future__ import annotations

import sys

import pytest

from service.engine.presence import TimedOut
from service.games.model.game_events import EventEnvelope, Joined
from tools.faults.__main__ import BEGIN, END, PAGE, main
from tools.faults.endpoint import Endpoint, Told
from tools.faults.run import FAULTS, run
from tools.faults.simulated import simulated

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the files of another process"),
]

QUICK = ("a process killed", "disk full", "file system read-only", "Sentinel: failover")


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_is_brought_about_and_judged(name: str) -> None:
    outcomes = run(next(fault for fault in FAULTS if fault.name == name), 30, 20)
    assert outcomes.broken
    assert outcomes.acknowledged >= 30
    assert outcomes.moves
    assert outcomes.complaints == []


def test_a_disk_that_is_full_is_noticed() -> None:
    outcomes = run(next(fault for fault in FAULTS if fault.name == "disk full"), 1, 1)
    assert outcomes.broken["of them noticed"] == outcomes.broken["times full"] > 0


def test_messages_that_did_not_come_are_missing_and_those_in_disorder_are_named() -> None:
    with Endpoint() as endpoint:
        for version, kind in ((4, "game.timed_out"), (2, "game.joined"), (4, "game.timed_out")):
            body = f'{{"type": "{kind}", "data": {{"game": "g", "version": {version}}}}}'
            endpoint._answer(body.encode())
        events = [
            EventEnvelope(2, 0, Joined(1, "Bo"), ()),
            EventEnvelope(4, 0, TimedOut(1, "bot"), ()),
            EventEnvelope(6, 0, TimedOut(0, "bot"), ()),
        ]
        assert endpoint.missing("g", events) == [Told(6, "game.timed_out")]
        assert endpoint.in_disorder() == ["g"]
        assert endpoint.messages == 2


def test_simulated_histories_are_judged() -> None:
    found = simulated(300)
    assert found.acknowledged >= 300
    assert found.injected.total()
    assert [*found.lost, *found.doubled, *found.wrong] == []


def test_the_faults_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == [*[fault.name for fault in FAULTS], "simulated"]


def test_the_page_has_a_place_for_the_table() -> None:
    _, found, rest = PAGE.read_text().partition(BEGIN)
    assert found
    assert END in rest
