"""Records with computer players, a clock and people who come and go, over HTTP."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from service.engine.presence import Claimed, PresenceEvent, TimedOut
from service.games.model.clock import ClockSettings
from service.records.record import Record, VersionedEvent
from service.records.replay import AUTOMATIC_EVENTS
from service.records.writer import format_record
from tests.api.client import Api
from tests.records.hosted import HostedMatch

pytestmark = pytest.mark.gate

PEOPLE = [{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy"}]


@pytest.fixture(scope="module", params=["claim", "forfeit"])
def record(request: pytest.FixtureRequest) -> Record:
    clock = ClockSettings(turn=60_000, absence=request.param)
    match = HostedMatch("domino", ("greedy", None, None), seed=1, options={"limit": 60}, clock=clock)
    match.play()
    return match.record()


def lines(record: Record) -> list[VersionedEvent]:
    return [line for each in record.rounds for line in each.lines]


@pytest.mark.parametrize(
    "clock", [{"turn": 60}, {"bank": 300, "increment": 10}], ids=lambda clock: "turn" if "turn" in clock else "bank"
)
def test_a_record_names_computer_players_and_the_clock(api: Api, clock: dict[str, int]) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"bot": "greedy"}]
    table = api.create("domino", people, clock=clock, absence={"then": "claim"})
    assert api.put(f"{table.path}/players/0/presence", {"away": True}, token=table.tokens[0]).status_code == 200
    shown = table.get("/record").get_json()
    assert shown["players"] == [{"seat": 0, "name": "Ada"}, {"seat": 1, "name": "Rosa", "bot": "greedy", "edition": 1}]
    assert (shown["clock"], shown["absence"]) == (clock, {"then": "claim"})
    assert shown["rounds"][0]["events"][-1] == {"version": 3, "type": "left", "seat": 0, "data": {}}
    text = table.record()
    assert '[Player 1 "Rosa" bot=greedy edition=1]\n[Clock "' in text
    assert "\n3. 0: left\n" in text


def test_moves_of_computer_players_are_computed_again_in_a_verification(api: Api, record: Record) -> None:
    report = api.post("/v1/verifications", format_record(record)).get_json()
    assert report["verified"]
    assert report["decisions"] > 10
    assert any("computed again" in note for note in report["notes"])


def test_another_move_than_that_of_a_computer_player_is_a_finding(api: Api, record: Record) -> None:
    text = format_record(record).replace("bot=greedy", "bot=random")
    report = api.post("/v1/verifications", text).get_json()
    assert {finding["code"] for finding in report["findings"]} == {"wrong_bot_move"}


def test_a_replay_tells_who_plays_a_seat(api: Api, record: Record) -> None:
    shown = api.post("/v1/replays", format_record(record)).get_json()
    assert "fault" not in shown
    assert shown["players"][0] == {"seat": 0, "name": "Rosa", "bot": "greedy", "edition": 1}
    steps = {step["version"]: step for each in shown["rounds"] for step in each["steps"]}
    told = 0
    for version, event in lines(record):
        step = steps[version]
        if isinstance(event, PresenceEvent):
            told += 1
            assert step["seat"] == event.seat
            assert f"Person {event.seat} " in step["text"]
            if isinstance(event, TimedOut):
                assert (step["type"], step["then"]) == ("timed_out", event.then)
            if isinstance(event, Claimed):
                assert (step["type"], step["by"]) == ("claimed", event.by)
    assert told > 5


def test_a_match_is_continued_with_everybody_present(api: Api, record: Record) -> None:
    """From any version but between an event and what follows; the new game has no event of who was away."""
    every = lines(record)
    forked = 0
    for line, following in pairwise(every):
        near = isinstance(line.event, PresenceEvent) or isinstance(following.event, PresenceEvent)
        if not near or isinstance(following.event, AUTOMATIC_EVENTS) or forked > 12:
            continue
        body = {"continues": {"record": format_record(record), "version": line.version}, "players": PEOPLE}
        answer = api.post("/v1/games", body)
        assert answer.status_code == 201
        game = answer.get_json()["game"]
        assert not any(player.get("away") or player.get("forfeited") for player in game["players"])
        before = [each for each in every if each.version <= line.version and not isinstance(each.event, PresenceEvent)]
        assert game["version"] == 1 + len(before)
        text = api.get(f"/v1/games/{game['id']}/record", headers={"Accept": "text/plain"}).get_data(as_text=True)
        assert "bot=" not in text
        assert "[Clock" not in text
        assert not any(word in text for word in (": left\n", ": returned\n", ": claimed ", ": timed_out "))
        forked += 1
    assert forked > 5
