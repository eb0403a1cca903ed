"""What `make faults` says of its runs; tests/whole/test_histories.py runs each of its faults."""

from __future__ import annotations

import pytest

from service.engine.presence import TimedOut
from service.games.model.game_events import EventEnvelope, Joined
from tools.faults.__main__ import BEGIN, END, PAGE, PARTITIONS_BEGIN, PARTITIONS_END, main
from tools.faults.endpoint import Endpoint, Told
from tools.faults.network import is_possible
from tools.faults.partition import PARTITIONS, run
from tools.faults.run import FAULTS
from tools.faults.simulated import simulated

pytestmark = pytest.mark.nightly


def test_messages_that_did_not_come_are_missing_and_those_in_disorder_are_named() -> None:
    with Endpoint() as endpoint:
        for version, kind in ((4, "game.timed_out"), (2, "game.joined"), (4, "game.timed_out")):
            body = f'{{"type": "{kind}", "data": {{"game_id": "g", "version": {version}}}}}'
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
    partitions = [f"partition: {each.name}" for each in PARTITIONS]
    assert capsys.readouterr().out.split("\n")[:-1] == [*[fault.name for fault in FAULTS], "simulated", *partitions]


@pytest.mark.parametrize(("begin", "end"), [(BEGIN, END), (PARTITIONS_BEGIN, PARTITIONS_END)])
def test_the_page_has_a_place_for_each_table(begin: str, end: str) -> None:
    _, found, rest = PAGE.read_text().partition(begin)
    assert found
    assert end in rest


@pytest.mark.skipif(not is_possible(), reason="this machine lets nobody have networks of his own")
@pytest.mark.parametrize("name", ["half, local", "half, replicated"])
def test_a_partition_loses_what_its_setting_says_and_no_more(name: str) -> None:
    (chosen,) = [each for each in PARTITIONS if each.name == name]
    figures = run(chosen)
    assert figures.acknowledged
    assert figures.complaints(chosen) == []
