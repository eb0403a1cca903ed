"""Turns without a choice over HTTP: how they are asked for, shown, repeated, recorded and verified."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.saved_games import shortest
from tests.support.table import Json, match_finished, seat_to_move

pytestmark = pytest.mark.gate

TWO = [{"name": "Ada"}, {"name": "Bo"}]
SEED = "a rainy evening"


def create(api: Api, variant: str = "draw", **more: Any) -> Table:
    return api.create(variant, TWO, seed=SEED, **more)


def play(api: Api, table: Table, most: int = 1000) -> int:
    """Play so many moves, or a whole match, each the first that is listed; returns how many."""
    view, made = api.view(table, 0), 0
    while made < most and not match_finished(view):
        seat = seat_to_move(view)
        view = api.move(table, seat, api.moves(table, seat)[0]).get_json()
        made += 1
    return made


def events_of(api: Api, table: Table) -> list[Json]:
    events: list[Json] = []
    while True:
        page = api.get(f"{table.path}/events?after={len(events)}&limit=100").get_json()
        events += page["events"]
        if not page["more"]:
            return events


@pytest.mark.parametrize(("variant", "kind"), [("draw", "drew"), ("block", "passed")])
def test_a_match_takes_fewer_requests_and_is_the_same(variant: str, kind: str, api: Api) -> None:
    by_hand, by_itself = (create(api, variant, options=shortest(variant), auto=auto) for auto in (False, True))
    requests = [play(api, table) for table in (by_hand, by_itself)]
    expected, events = events_of(api, by_hand), events_of(api, by_itself)
    marked = [event for event in events if event["data"].pop("auto", None)]
    assert {event["type"] for event in marked} == {kind}
    assert requests[1] == requests[0] - len(marked)
    names = ("type", "seat", "to_act", "data")
    shown = [[[event.get(name) for name in names] for event in told] for told in (expected, events)]
    assert shown[0] == shown[1]


def test_the_view_says_so_and_a_rematch_keeps_it(api: Api) -> None:
    table, other = create(api, options=shortest("draw"), auto=True), create(api)
    assert api.view(table, 0)["auto"] is True
    assert api.view(table, None)["auto"] is True
    assert "auto" not in api.view(other, 0)
    assert "auto" not in api.view(create(api, auto=False), 0)
    play(api, table)
    assert api.post(f"{table.path}/rematch", {}, token=table.tokens[0]).get_json()["game"]["auto"] is True


def test_a_repeated_move_is_answered_with_what_followed_from_it(api: Api) -> None:
    table = create(api, auto=True)
    repeated = 0
    for number in range(40):
        view = api.view(table, 0)
        seat = seat_to_move(view)
        move = api.moves(table, seat)[0]
        send = {"token": table.tokens[seat], "headers": {"Idempotency-Key": f"move-{number}"}}
        first = api.post(f"{table.path}/moves", move, **send)
        again = api.post(f"{table.path}/moves", move, **send)
        assert first.status_code == again.status_code == 201
        assert first.get_json() == again.get_json()
        assert again.headers["Idempotent-Replayed"] == "true"
        repeated += first.get_json()["version"] > view["version"] + 1
    assert repeated > 0
    assert api.view(table, 0)["version"] == len(events_of(api, table))


def test_the_record_marks_these_moves_and_is_verified(api: Api) -> None:
    table = create(api, options=shortest("draw"), auto=True)
    play(api, table)
    record = table.record()
    marked = [line for line in record.splitlines() if line.endswith(" auto")]
    assert len(marked) == sum("auto" in event["data"] for event in events_of(api, table)) > 0
    assert api.post("/v1/verifications", record).get_json()["findings"] == []
    assert table.record(1) == record
