"""A game that waits: seats are left, freed and filled, and the match begins without the open ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.client import Api, Table, refusal, status_and_code
from tests.api.followers import everything, page, read_events, stream
from tests.api.timed import TimedApi, types_of

pytestmark = pytest.mark.gate

OPEN: dict[str, Any] = {"open": True}
FOUR: list[dict[str, Any]] = [{"name": "Ada"}, OPEN, {"name": "Cem"}, OPEN]


def free(api: Api, table: Table, seat: int, token: str | None = None) -> TestResponse:
    return api.delete(f"{table.path}/players/{seat}", token=token or table.tokens[seat])


def fill(api: Api, table: Table, seat: int, token: str, bot: str = "casual") -> TestResponse:
    return api.put(f"{table.path}/players/{seat}", {"bot": bot}, token=token)


def start(api: Api, table: Table, token: str, **more: Any) -> TestResponse:
    return api.post(f"{table.path}/start", token=token, **more)


def own(api: Api, key: str, seats: list[dict[str, Any]], **more: Any) -> Table:
    return api.create("domino", seats, key=key, **more)


def kinds(view: Any) -> list[tuple[str, str | None]]:
    return [(each["kind"], each.get("name")) for each in view["players"]]


@pytest.fixture
def table(api: Api) -> Table:
    return api.create("domino", FOUR)


def test_who_leaves_has_no_token_and_nothing_of_the_name_is_kept(api: Api, table: Table) -> None:
    bo = api.join(table, "Bo").get_json()
    assert free(api, table, 1, bo["token"]).status_code == 204
    assert status_and_code(api.get(table.path, token=bo["token"])) == (401, "unauthorized")
    assert kinds(api.view(table)) == [("human", "Ada"), ("open", None), ("human", "Cem"), ("open", None)]
    assert api.join(table, "Dee").get_json()["seat"] == 1
    told = [(each["type"], each.get("seat"), each["data"].get("name")) for each in everything(api, table)]
    assert told == [("created", None, None), ("joined", 1, "Player 2"), ("freed", 1, None), ("joined", 1, "Dee")]
    assert "Bo" not in page(api, table, 0, text="true").__repr__()


def test_a_request_that_is_repeated_after_its_player_left_takes_no_seat(api: Api, table: Table) -> None:
    key = {"Idempotency-Key": "of-the-join-of-bo"}
    body = {"name": "Bo", "join_code": table.join_code}
    joined = api.post(f"{table.path}/players", body, headers=key).get_json()
    free(api, table, 1, joined["token"])
    assert status_and_code(api.post(f"{table.path}/players", body, headers=key)) == (404, "not_found")
    assert kinds(api.view(table))[1] == ("open", None)


def test_a_seat_is_left_by_its_player_alone_and_only_while_the_game_waits(api: Api, table: Table) -> None:
    assert status_and_code(free(api, table, 2, table.tokens[0])) == (403, "forbidden")
    for name in ("Bo", "Dee"):
        api.join(table, name)
    for answer in (free(api, table, 0), start(api, table, table.tokens[0]), fill(api, table, 1, table.tokens[0])):
        assert status_and_code(answer) == (409, "seats_taken")


def test_an_application_frees_and_fills_any_seat_of_its_game(api: Api, app_key: str) -> None:
    table = own(api, app_key, [{"name": "Ada", "ref": "a"}, {"bot": "greedy"}, OPEN])
    for seat in (0, 1, 1, 2):
        assert free(api, table, seat, app_key).status_code == 204
    view = api.get(table.path, token=app_key).get_json()
    assert [(each["kind"], each.get("ref")) for each in view["players"]] == [("open", None)] * 3
    assert fill(api, table, 1, app_key).get_json()["players"][1]["bot"] == "casual"
    assert api.get(table.path, token=table.tokens[0]).status_code == 401


def test_an_open_seat_is_filled_once_and_the_last_one_begins_the_match(api: Api, table: Table) -> None:
    token = table.tokens[2]
    view = fill(api, table, 3, token).get_json()
    assert (view["status"], view["you"]["seat"], view["players"][3]["bot"]) == ("waiting", 2, "casual")
    assert fill(api, table, 3, token).get_json()["version"] == view["version"]
    assert refusal(fill(api, table, 3, token, "greedy")) == (409, "seats_taken", "seat_taken")
    view = fill(api, table, 1, token).get_json()
    assert (view["status"], len(view["you"]["hand"])) == ("playing", 7)
    assert types_of(everything(api, table))[1:] == [("filled", 3), ("filled", 1), ("dealt", None)]
    assert len({each["name"] for each in view["players"]}) == 4
    assert fill(api, table, 1, token).get_json()["version"] == view["version"], "so it may be repeated"


def test_a_match_begins_without_the_open_seats(api: Api, table: Table) -> None:
    with closing(stream(api, table, 2, "?view=true&text=true")) as answer:
        chunks = answer.iter_encoded()
        (created, waiting) = read_events(chunks, 2)
        began = start(api, table, table.tokens[0], headers={"Idempotency-Key": "k"})
        started, dealt, shown = read_events(chunks, 3)
    view = began.get_json()
    assert (began.status_code, view["status"], kinds(view)) == (201, "playing", [("human", "Ada"), ("human", "Cem")])
    assert start(api, table, table.tokens[0], headers={"Idempotency-Key": "k"}).get_json() == view
    cem = api.get(table.path, token=table.tokens[2]).get_json()
    assert (cem["you"]["seat"], cem["you"]["hand"] == view["you"]["hand"]) == (1, False)
    assert (created["type"], waiting["game"]["you"]["seat"]) == ("created", 2)
    assert (started["data"], shown["game"]["you"]) == ({"seats": [0, 2]}, cem["you"])
    assert dealt["data"]["hand"] == cem["you"]["hand"], "and not that of the seat that it was"
    assert started["text"] == "The match begins with 2 players."
    for token, seat in ((table.tokens[0], 0), (table.tokens[2], 1)):
        if view["turn"]["seat"] == seat:
            move = api.get(f"{table.path}/moves", token=token).get_json()["legal_moves"][0]
            assert api.post(f"{table.path}/moves", move, token=token).status_code == 201


def test_earlier_versions_are_shown_with_the_seats_of_their_time(api: Api, table: Table) -> None:
    shown = [api.get(table.path, token=table.tokens[2]).get_json()]
    bo = api.join(table, "Bo").get_json()
    shown.append(api.get(table.path, token=table.tokens[2]).get_json())
    free(api, table, 0)
    shown.append(api.get(table.path, token=table.tokens[2]).get_json())
    assert kinds(start(api, table, bo["token"]).get_json()) == [("human", "Bo"), ("human", "Cem")]
    for then in shown:
        after = then["version"] - 1
        again = table.get(f"/events?view=true&text=true&limit=1&after={after}", 2).get_json()
        if after < 2:
            then["players"][0]["name"] = "Player 1"  # has left since
        for each in ("expires_at", "text"):
            then.pop(each, None)
            again["game"].pop(each, None)
        assert again["game"] == then
    names = [(each["seat"], each["data"]["name"]) for each in everything(api, table) if each["type"] == "joined"]
    assert names == [(1, "Bo")]


def test_a_match_does_not_begin_with_too_few_or_with_deals_for_others(api: Api) -> None:
    alone = api.create("domino", [{"name": "Ada"}, OPEN])
    answer = start(api, alone, alone.tokens[0])
    assert (status_and_code(answer), answer.get_json()["causes"][0]["field"]) == ((422, "invalid"), "players")
    assert api.view(alone)["status"] == "waiting"
    seeded = api.create("domino", FOUR, seed="a seed")
    assert start(api, seeded, seeded.tokens[0]).get_json()["arranged"]


def test_what_is_open_is_filled_some_time_after_the_first_person_sat_down(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", [OPEN, OPEN, OPEN], fill={"after": 60, "bot": "casual"})
    assert "fills_at" not in timed_api.view(table)
    timed_api.clock.advance(600)
    assert not timed_api.let_time_out(table)
    ada = timed_api.join(table, "Ada").get_json()
    timed_api.clock.advance(30)
    bo = timed_api.join(table, "Bo").get_json()
    assert timed_api.reminded(table.id) == timed_api.clock.now + 30_000
    assert bo["game"]["fills_at"] == ada["game"]["fills_at"] == "2030-01-01T00:11:00.000Z"
    for seat, token in ((0, ada["token"]), (1, bo["token"])):
        free(timed_api, table, seat, token)
    timed_api.clock.advance(60)
    assert "fills_at" not in timed_api.view(table)
    assert timed_api.reminded(table.id) is None
    assert not timed_api.let_time_out(table), "with nobody there, nothing happens"
    table.tokens[0] = timed_api.join(table, "Cem").get_json()["token"]
    timed_api.clock.advance(59.999)
    assert not timed_api.let_time_out(table)
    timed_api.clock.advance(0.001)
    assert timed_api.let_time_out(table)
    view = timed_api.view(table, 0)
    assert ([each["kind"] for each in view["players"]], view["status"]) == (["human", "bot", "bot"], "playing")
    assert "fills_at" not in view
    assert types_of(timed_api.events(table))[-3:] == [("filled", 1), ("filled", 2), ("dealt", None)]
    timed_api.let_bots_play(table)
    assert timed_api.view(table)["turn"]["seat"] == 0


def test_lists_and_lobbies_tell_when_a_table_fills(api: Api, app_key: str, publish: Callable[[], None]) -> None:
    table = own(api, app_key, FOUR, lobby="app", fill={"after": 60, "bot": "casual"})
    publish()
    at = api.view(table)["fills_at"]
    (listed,) = api.get("/v1/games", token=app_key).get_json()["games"]
    (public,) = api.get("/v1/lobby", token=app_key).get_json()["games"]
    assert (listed["fills_at"], public["fills_at"]) == (at, at)
    start(api, table, app_key)
    publish()
    (listed,) = api.get("/v1/games", token=app_key).get_json()["games"]
    assert ("fills_at" in listed, "join_code" in listed, len(listed["players"])) == (False, False, 2)
    assert api.get("/v1/lobby", token=app_key).get_json()["games"] == []
    items = api.get("/v1/feed", token=app_key).get_json()["items"]
    assert [each["type"] for each in items] == ["created", "started", "dealt"]


def test_only_open_seats_are_filled(api: Api) -> None:
    fields = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "fill": {"after": 1, "bot": "casual"}}
    assert [each["reason"] for each in api.post("/v1/games", fields).get_json()["causes"]] == ["only_with_open_seats"]


def test_a_worker_that_has_not_heard_of_the_beginning_takes_moves(api: Api, other_worker: Api) -> None:
    table = api.create("domino", [OPEN, {"name": "Ada"}, {"name": "Cem"}])
    view = start(other_worker, table, table.tokens[1]).get_json()
    token = table.tokens[view["turn"]["seat"] + 1]
    move = other_worker.get(f"{table.path}/moves", token=token).get_json()["legal_moves"][0]
    assert api.post(f"{table.path}/moves", move, token=token).status_code == 201


def test_a_match_that_began_without_open_seats_is_played_recorded_and_verified(api: Api, app_key: str) -> None:
    table = own(api, app_key, [OPEN, {"name": "Ada"}, OPEN, {"name": "Cem"}], options={"limit": 10})
    api.post(f"{table.path}/players", {"name": "Bo", "ref": "bo"}, token=app_key)
    free(api, table, 0, app_key)
    start(api, table, app_key)
    table.tokens = {0: table.tokens[1], 1: table.tokens[3]}
    api.play_until(table, lambda view: view["status"] == "finished")
    record = table.record()
    checked = api.post("/v1/verifications", record).get_json()
    assert (checked["verified"], checked["findings"], checked["proven"] > 0) == (True, [], True)
    assert "Bo" not in record
    told = everything(api, table)
    dealt = next(at for at, each in enumerate(told) if each["type"] == "dealt")
    assert {tuple(each["to_act"]) for each in told[:dealt]} == {()}
    page_there = api.get(f"{table.path}/events?after={dealt + 3}&limit=1&view=true", token=table.tokens[1]).get_json()
    assert page_there["game"]["you"]["seat"] == 1
    assert api.get(f"{table.path}/fairness").get_json()["rounds"][0]["seed"]
    again = api.post(f"{table.path}/rematch", token=table.tokens[1]).get_json()
    assert [each["name"] for each in again["game"]["players"]] == ["Cem", "Ada"]
