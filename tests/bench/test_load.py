"""The load run notices what is lost or doubled: its check of a game, and its endpoint. No processes are started."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from typing import Any

import gevent
import orjson
import pytest

from bench.load.accounts import Account, Acknowledged, expected_messages, faults
from bench.load.endpoint import Endpoint
from bench.load.kinds import KINDS, ROUND, kind_of

EVENTS: list[dict[str, Any]] = [
    {"version": 1, "type": "created", "data": {}},
    {"version": 2, "type": "dealt", "data": {}},
    {"version": 3, "type": "played", "seat": 0, "data": {"tile": "6-6"}},
    {"version": 4, "type": "drew", "seat": 1, "data": {}},
    {"version": 5, "type": "passed", "seat": 1, "data": {}},
    {"version": 6, "type": "timed_out", "seat": 0, "data": {}},
    {"version": 7, "type": "played", "seat": 0, "data": {"tile": "5-6"}},
    {"version": 8, "type": "round_ended", "data": {}},
    {"version": 9, "type": "finished", "data": {}},
]


def account() -> Account:
    moves = {3: Acknowledged(0, "play", "6-6"), 4: Acknowledged(1, "draw", None), 5: Acknowledged(1, "pass", None)}
    return Account("g", people=2, owned=True, acknowledged=moves)


def test_a_game_with_all_that_was_acknowledged_has_no_faults() -> None:
    assert faults(account(), EVENTS) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda events: events[2]["data"].update(tile="0-0"), "version 3 is lost"),
        (lambda events: events[2].update(seat=1), "version 3 is lost"),
        (lambda events: events[4].update(type="drew"), "version 5 is lost"),
        (lambda events: events.__delitem__(slice(4, None)), "version 5 is lost"),
        (lambda events: events.__delitem__(4), "gaps"),
        (lambda events: events[5].update(type="played", seat=1), "nobody made the move to version 6"),
        (lambda events: events[5].update(seat=1), "nobody made the move to version 7"),
    ],
)
def test_a_move_that_is_lost_or_doubled_is_found(change: Callable[[list[dict[str, Any]]], None], expected: str) -> None:
    events = orjson.loads(orjson.dumps(EVENTS))
    change(events)
    assert expected in " ".join(faults(account(), events))


def test_a_move_by_which_an_absent_person_returns_is_the_next_event() -> None:
    events = [
        *EVENTS[:6],
        {"version": 7, "type": "returned", "seat": 0, "data": {}},
        {"version": 8, "type": "played", "seat": 0, "data": {"tile": "5-6"}},
    ]
    returned = account()
    assert len(faults(returned, events)) == 1
    returned.acknowledged[7] = Acknowledged(0, "play", "5-6")
    assert faults(returned, events) == []
    returned.acknowledged[7] = Acknowledged(0, "play", "0-0")
    assert len(faults(returned, events)) == 1


def test_the_service_plays_the_turn_of_an_absent_person_to_its_end_and_no_further() -> None:
    turn: list[dict[str, Any]] = [
        *EVENTS[:6],
        {"version": 7, "type": "drew", "seat": 0, "data": {}},
        {"version": 8, "type": "played", "seat": 0, "data": {"tile": "5-6"}},
    ]
    assert faults(account(), turn) == []
    further = [*turn, {"version": 9, "type": "played", "seat": 0, "data": {"tile": "5-5"}}]
    assert faults(account(), further) == ["g: nobody made the move to version 9: played"]


def test_a_move_without_an_answer_may_be_there_or_not() -> None:
    unanswered = account()
    del unanswered.acknowledged[5]
    assert faults(unanswered, EVENTS) == ["g: nobody made the move to version 5: passed"]
    unanswered.unknown.add(5)
    assert faults(unanswered, EVENTS) == []


def test_applications_are_told_the_ends_of_rounds_and_matches() -> None:
    assert expected_messages(account(), EVENTS) == [("g", 8, "game.round_over"), ("g", 9, "game.finished")]
    unowned = account()
    unowned.owned = False
    assert expected_messages(unowned, EVENTS) == []


def test_of_so_many_tables_every_kind_is_there_as_often_as_it_says() -> None:
    kinds = [kind_of(table) for table in range(ROUND, 2 * ROUND)]
    assert {kind.name: kinds.count(kind) for kind in KINDS} == {kind.name: kind.often for kind in KINDS}


def test_the_endpoint_tells_a_repeat_from_a_doubled_message() -> None:
    delays: list[float] = []
    with Endpoint(delays.append) as endpoint:
        answers = [
            post(endpoint.url, "game.finished", {"game_id": "g", "version": version}, message)
            for version, message in [(9, "a"), (9, "a"), (12, "b"), (12, "c")]
        ]
        challenge = post(endpoint.url, "webhook.challenge", {"challenge": "xyz"}, "d")
    assert (answers, challenge) == ([{}] * 4, {"challenge": "xyz"})
    assert (endpoint.messages, endpoint.repeats, len(delays)) == (2, 1, 2)
    assert endpoint.doubled() == [("g", 12, "game.finished")]
    assert endpoint.missing([("g", 9, "game.finished"), ("g", 10, "game.finished")]) == [("g", 10, "game.finished")]


def post(url: str, kind: str, data: dict[str, Any], message: str) -> Any:
    """Send a message from a thread, while the greenlets of this one answer."""
    body = orjson.dumps({"type": kind, "timestamp": "2026-01-01T00:00:00Z", "data": data})
    headers = {"webhook-id": message, "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)

    def send() -> Any:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return orjson.loads(answer.read())

    return gevent.get_hub().threadpool.apply(send)
