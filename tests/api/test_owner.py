"""What the application that owns a game may do in it: rename, give tokens and join codes, take somebody off it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.model.tokens import hash_secret
from tests.api.client import Api, Table, causes_of, refusal, status_and_code, told, viewers
from tests.api.phases import finished
from tests.api.redis_contents import keys_with
from tests.api.saved_games import shortest, stored, unchanged
from tests.support.table import Json, match_finished, seat_to_move

pytestmark = pytest.mark.gate

KEY = {"Idempotency-Key": "a-key-of-the-application"}
PLAYERS: list[Json] = [
    {"name": "Ada", "ref": "user-ada"},
    {"name": "Rude", "ref": "user-bo"},
    {"bot": "greedy", "ref": "robot"},
]


@pytest.fixture
def table(api: Api, app_key: str) -> Table:
    """A running game of the application, of two people and a computer player."""
    return owned(api, app_key, PLAYERS)


def owned(api: Api, key: str, players: list[Json], **more: Any) -> Table:
    return api.create("domino", players, key=key, ref="match-1", **more)


def patch(api: Api, table: Table, seat: int, body: Any, key: str | None, **more: Any) -> TestResponse:
    return api.ask("PATCH", f"{table.path}/players/{seat}", json=body, token=key, **more)


def rename(api: Api, table: Table, seat: int, key: str, **fields: str | None) -> Json:
    return told(patch(api, table, seat, fields, key))


def new_token(api: Api, table: Table, seat: int, key: str | None, **more: Any) -> TestResponse:
    return api.ask("POST", f"{table.path}/players/{seat}/token", token=key, **more)


def new_code(api: Api, table: Table, key: str | None, **more: Any) -> TestResponse:
    return api.ask("POST", f"{table.path}/join-code", token=key, **more)


def put_presence(api: Api, table: Table, seat: int, key: str, *, away: Any) -> TestResponse:
    return api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=key)


def events(api: Api, table: Table, after: int = 0, token: str | None = None) -> list[Json]:
    page = api.get(f"{table.path}/events?after={after}&limit=1000&text=true", token=token).get_json()
    told: list[Json] = page["events"]
    return told


REQUESTS: dict[str, Callable[[Api, Table, Any], TestResponse]] = {
    "rename": lambda api, table, key: patch(api, table, 0, {"name": "Eve"}, key),
    "token": lambda api, table, key: new_token(api, table, 0, key),
    "join code": new_code,
    "presence": lambda api, table, key: put_presence(api, table, 0, key, away=True),
}


# Who may do it


@pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
def test_only_the_owner_may(api: Api, server: redis.Redis, table: Table, other_key: str, request_of: Any) -> None:
    nobodys = api.create("domino", 2)
    with unchanged(server, table):
        for key in (other_key, other_key[:-1], "app_", "seat_nobody", None):
            assert status_and_code(request_of(api, table, key)) == (401, "unauthorized")
        assert status_and_code(request_of(api, nobodys, other_key)) == (401, "unauthorized")


@pytest.mark.parametrize("name", ["rename", "join code"])
def test_a_player_s_token_is_not_enough(api: Api, server: redis.Redis, table: Table, name: str) -> None:
    with unchanged(server, table):
        for token in table.tokens.values():
            assert status_and_code(REQUESTS[name](api, table, token)) == (401, "unauthorized")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        *[("PATCH", f"players/{seat}", {"name": "Eve"}) for seat in (3, 99999999999)],
        *[("POST", "players/3/token", {}), ("PUT", "players/3/presence", {"away": True})],
    ],
)
def test_a_seat_that_does_not_exist_is_not_found(
    api: Api, app_key: str, table: Table, method: str, path: str, body: Json
) -> None:
    answer = api.ask(method, f"{table.path}/{path}", json=body, token=app_key)
    assert refusal(answer) == (404, "not_found", "no_such_seat")


# Renaming


def test_everybody_sees_the_new_name_and_nobody_the_old_one(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"open": True}, {"open": True}])
    for name in ("Rude", "Cem"):
        api.take_seat(table, name)
    assert [each["name"] for each in rename(api, table, 1, app_key, name="Bo")["players"]] == ["Ada", "Bo", "Cem"]
    api.play_until(table, match_finished, Random(1))
    for seat in viewers(table):
        for path in ("", "/score", "/events?limit=1000&text=true&view=true", "/record", "/fairness"):
            assert "Rude" not in table.get(path, seat).text, path
        assert api.view(table, seat)["players"][1]["name"] == "Bo"
        assert api.score(table, seat)["standings"][0]["name"] in ("Ada", "Bo", "Cem")
        headers = table.headers(seat, Accept="application/x-ndjson")
        stream = api.ask_unchecked("GET", f"{table.path}/events?text=true&view=true", headers=headers)
        assert "Rude" not in stream.text
        assert "Bo joined the game." in stream.text or seat == 1
    record = table.record()
    assert ("Rude" in record, '"Bo"' in record) == (False, True)
    assert api.post("/v1/verifications", record).get_json()["verified"] is True
    assert api.post("/v1/replays", record).status_code == 200


def test_no_key_has_a_replaced_name(api: Api, app_key: str, server: redis.Redis, publish: Callable[[], None]) -> None:
    table = owned(api, app_key, [{"name": "Dorothea"}, {"open": True}], lobby="all", options=shortest("domino"))
    publish()
    rename(api, table, 0, app_key, name="Emmeline")
    publish()
    api.take_seat(table, "Wilhelmina")
    rename(api, table, 1, app_key, name="Josephine")
    publish()
    for _ in range(2):
        assert keys_with(server, b"Josephine")
        for name in (b"Dorothea", b"Wilhelmina"):
            assert not keys_with(server, name)
        api.play_until(table, match_finished, Random(1))  # and its events are compacted
        publish()


def test_a_name_that_was_given_in_between_is_not_shown_either(api: Api, app_key: str, table: Table) -> None:
    rename(api, table, 1, app_key, name="Worse")
    version = rename(api, table, 1, app_key, name="Bo")["version"]
    told = [each for each in events(api, table) if each["type"] == "renamed"]
    assert [each["data"] for each in told] == [{"name": "Bo"}] * 2
    assert [each["seat"] for each in told] == [1, 1]
    assert told[1]["version"] == version
    assert {each["text"] for each in told} == {"Player 2 is called Bo."}
    (told_to_bo, _) = [each for each in events(api, table, token=table.tokens[1]) if each["type"] == "renamed"]
    assert told_to_bo["text"] == "You are called Bo."


def test_a_name_in_a_page_at_an_earlier_version_is_the_current_one(api: Api, app_key: str, table: Table) -> None:
    version = api.view(table)["version"]
    rename(api, table, 1, app_key, name="Bo")
    page = api.get(f"{table.path}/events?after=1&limit=1&view=true").get_json()
    assert (page["version"], page["game"]["players"][1]["name"]) == (version, "Bo")


def test_a_rename_makes_no_move_stale_and_yet_another_etag(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"name": "Rude"}])
    seat = seat_to_move(api.view(table))
    move = api.moves(table, seat)[0]
    etags = {each: table.get("", each).headers["ETag"] for each in viewers(table)}
    for fields in ({"name": "Bo"}, {"ref": "user-17"}):
        rename(api, table, 1, app_key, **fields)
        for each, etag in etags.items():
            answer = table.get("", each, If_None_Match=etag)
            assert answer.status_code == 200
            etags[each] = answer.headers["ETag"]
            assert table.get("", each, If_None_Match=etags[each]).status_code == 304
    assert api.view(table)["version"] == move["version"] + 2
    assert api.move(table, seat, move).status_code == 201


def test_an_answer_is_the_view_of_the_owner_with_its_etag(api: Api, app_key: str, table: Table) -> None:
    answer = patch(api, table, 0, {"name": "Eve", "ref": "user-eve"}, app_key)
    same = api.get(table.path, token=app_key)
    assert (answer.data, answer.headers["ETag"]) == (same.data, same.headers["ETag"])
    assert answer.get_json()["players"][0]["ref"] == "user-eve"
    assert "you" not in answer.get_json()


def test_what_is_as_it_was_is_not_written(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    with unchanged(server, table):
        for fields in ({"name": "Ada"}, {"ref": "user-ada"}, {"name": " Ada ", "ref": "user-ada"}):
            assert patch(api, table, 0, fields, app_key).status_code == 200


def test_a_ref_is_told_to_the_owner_and_its_seat_alone(api: Api, app_key: str, table: Table) -> None:
    version = api.view(table)["version"]
    view = rename(api, table, 1, app_key, ref="user-4711")
    assert [each["ref"] for each in view["players"]] == ["user-ada", "user-4711", "robot"]
    for seat in viewers(table):
        for path in ("", "/events?limit=1000&text=true&view=true", "/score", "/record", "/moves"):
            shown = table.get(path, seat).text
            assert ("user-4711" in shown) == (seat == 1 and path in ("", "/events?limit=1000&text=true&view=true"))
    (event,) = events(api, table, version)
    assert (event["type"], event["seat"], event["data"]) == ("renamed", 1, {})
    assert event["text"] == "The application has changed its reference for Rude."


def test_null_removes_a_ref(api: Api, app_key: str, publish: Callable[[], None], table: Table) -> None:
    def listed() -> list[str]:
        publish()
        return [each["id"] for each in api.get("/v1/games?player_ref=user-ada", token=app_key).get_json()["games"]]

    assert listed() == [table.id]
    version = api.view(table)["version"]
    for _ in range(2):
        view = rename(api, table, 0, app_key, ref=None)
        ada = view["players"][0]
        assert ("ref" in ada, ada["name"], view["version"]) == (False, "Ada", version + 1)
    (event,) = events(api, table, version)
    assert (event["type"], event["seat"], event["data"]) == ("renamed", 0, {})
    assert listed() == []


def test_computer_players_can_be_renamed_and_open_seats_have_a_ref_only(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"bot": "greedy"}, {"open": True}])
    assert rename(api, table, 1, app_key, name="Deep Six")["players"][1]["bot"] == "greedy"
    answer = patch(api, table, 2, {"name": "Bo", "ref": "user-bo"}, app_key)
    assert [reason for _, reason in causes_of(answer)] == ["name_of_open_seat"]
    assert rename(api, table, 2, app_key, ref="user-bo")["players"][2]["ref"] == "user-bo"
    assert api.take_seat(table, "Bo")["game"]["players"][2]["ref"] == "user-bo"


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({}, ("", "one_of_name_ref")),
        *[({"name": name}, ("name", "blank")) for name in ("", " ")],
        ({"name": "a\nb"}, ("name", "control_characters")),
        ({"ref": "a b"}, ("ref", "not_visible")),
        *[(fields, (*fields, "length")) for fields in ({"name": "x" * 61}, {"ref": ""}, {"ref": "x" * 65})],
    ],
)
def test_what_cannot_be_a_name_or_a_ref_is_refused(
    api: Api, app_key: str, server: redis.Redis, table: Table, fields: Json, cause: tuple[str, str]
) -> None:
    with unchanged(server, table):
        assert causes_of(patch(api, table, 1, fields, app_key)) == [cause]


def test_where_names_are_unique_they_remain_so(api: Api, app_key: str, table: Table) -> None:
    unique = owned(api, app_key, PLAYERS, unique_names=True)
    assert refusal(patch(api, unique, 1, {"name": "ADA"}, app_key)) == (422, "invalid", "name_taken")
    assert rename(api, unique, 1, app_key, name="RUDE")["players"][1]["name"] == "RUDE"
    assert rename(api, unique, 1, app_key, ref="other")["players"][1]["ref"] == "other"
    assert rename(api, table, 1, app_key, name="Ada")["players"][1]["name"] == "Ada"


def at_once(crowd: ThreadPoolExecutor, *requests: Callable[[], TestResponse]) -> list[TestResponse]:
    return list(crowd.map(lambda request: request(), requests))


def test_joining_and_renaming_at_once_makes_no_name_twice(api: Api, app_key: str, crowd: ThreadPoolExecutor) -> None:
    for _ in range(10):
        table = owned(api, app_key, [{"name": "Ada"}, {"open": True}, {"open": True}], unique_names=True)
        answers = at_once(crowd, lambda: patch(api, table, 0, {"name": "Bo"}, app_key), lambda: api.join(table, "Bo"))  # noqa: B023
        assert [each.get("name") for each in api.view(table)["players"]].count("Bo") == 1
        made, refused = sorted(each.status_code for each in answers)
        assert (made in (200, 201), refused) == (True, 422)


def test_a_finished_game_can_be_tidied_up(api: Api, app_key: str) -> None:
    table = finished(api, app_key, {"name": "Ada"}, {"name": "Rude"})
    assert rename(api, table, 1, app_key, name="Bo")["players"][1]["name"] == "Bo"
    assert "Rude" not in table.record()


def test_a_join_that_is_repeated_after_a_rename_has_the_new_name(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"open": True}, {"open": True}])
    body = {"name": "Rudest", "join_code": table.join_code}
    joined = api.post(f"{table.path}/players", body, headers=KEY).get_json()
    rename(api, table, joined["seat"], app_key, name="Bo")
    again = api.post(f"{table.path}/players", body, headers=KEY)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.get_json()["name"], again.get_json()["token"]) == ("Bo", joined["token"])
    assert "Rudest" not in again.text


# A token without the old one


def test_a_lost_token_is_replaced_and_all_are_told(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    version, old = api.view(table)["version"], table.tokens[1]
    answer = new_token(api, table, 1, app_key)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    body = answer.get_json()
    assert body == {"seat": 1, "name": "Rude", "token": body["token"]}
    for path in (table.path, f"{table.path}/events?after={version}"):
        assert api.get(path, token=old).status_code == 401
    assert api.get(table.path, token=body["token"]).get_json()["you"]["seat"] == 1
    assert [(each["type"], each["seat"]) for each in events(api, table, version)] == [("token_changed", 1)]
    assert stored(server, table).seats[1].token_hash == hash_secret(body["token"])
    assert body["token"] not in api.get(table.path, token=app_key).text


def test_under_a_key_the_same_token_is_given_again(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    first = new_token(api, table, 0, app_key, headers=KEY)
    with unchanged(server, table):
        again = new_token(api, table, 0, app_key, headers=KEY, json={})
        assert (again.data, again.headers["Idempotent-Replayed"]) == (first.data, "true")
    assert "Idempotent-Replayed" not in new_token(api, table, 1, app_key, headers=KEY).headers
    assert status_and_code(new_token(api, table, 0, app_key, headers={"Idempotency-Key": "short"})) == (422, "invalid")
    # The player's own request under the same key is another one.
    own = new_token(api, table, 0, first.get_json()["token"], headers=KEY)
    assert own.status_code == 201
    assert own.get_json()["token"] != first.get_json()["token"]


@pytest.mark.parametrize("player", [{"bot": "greedy"}, {"open": True}], ids=["computer player", "open seat"])
def test_a_seat_without_a_player_has_no_token(api: Api, app_key: str, server: redis.Redis, player: Json) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, player])
    with unchanged(server, table):
        assert refusal(new_token(api, table, 1, app_key)) == (404, "not_found", "no_player")


def test_a_move_and_a_new_token_at_once_come_in_turn(api: Api, app_key: str, crowd: ThreadPoolExecutor) -> None:
    for _ in range(10):
        table = owned(api, app_key, [{"name": "Ada"}, {"name": "Bo"}])
        seat = seat_to_move(api.view(table))
        move = api.moves(table, seat)[0]
        requests = (lambda: api.move(table, seat, move), lambda: new_token(api, table, seat, app_key))  # noqa: B023
        moved, changed = at_once(crowd, *requests)
        types = [each["type"] for each in events(api, table, 2)]
        assert (moved.status_code, changed.status_code, types) in (
            (201, 201, ["played", "token_changed"]),
            (401, 201, ["token_changed"]),
        )


# Presence


def test_the_owner_takes_somebody_off_and_back(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    answer = put_presence(api, table, 1, app_key, away=True)
    assert (answer.status_code, answer.data) == (200, api.get(table.path, token=app_key).data)
    bo = answer.get_json()["players"][1]
    assert (bo["away"], bo["ref"], "you" in answer.get_json()) == (True, "user-bo", False)
    with unchanged(server, table):
        assert put_presence(api, table, 1, app_key, away=True).status_code == 200
    assert "away" not in put_presence(api, table, 1, app_key, away=False).get_json()["players"][1]
    assert status_and_code(put_presence(api, table, 1, app_key, away=False)) == (409, "not_away")
    assert [each["type"] for each in events(api, table)][-2:] == ["left", "returned"]


def test_a_player_who_was_taken_off_comes_back_as_ever(api: Api, app_key: str, table: Table) -> None:
    put_presence(api, table, 0, app_key, away=True)
    assert "away" not in put_presence(api, table, 0, table.tokens[0], away=False).get_json()["players"][0]
    assert status_and_code(put_presence(api, table, 1, table.tokens[0], away=True)) == (403, "forbidden")


def test_a_computer_player_cannot_be_taken_off(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    with unchanged(server, table):
        for away in (True, False):
            assert refusal(put_presence(api, table, 2, app_key, away=away)) == (404, "not_found", "no_player")
        assert status_and_code(put_presence(api, table, 0, app_key, away="yes")) == (422, "invalid")


def test_nobody_leaves_before_the_match_or_after_it(api: Api, app_key: str) -> None:
    waiting = owned(api, app_key, [{"name": "Ada"}, {"open": True}])
    over = finished(api, app_key, {"name": "Ada"}, {"name": "Bo"})
    for table, code in ((waiting, "not_started"), (over, "game_over")):
        assert status_and_code(put_presence(api, table, 0, app_key, away=True)) == (409, code)


# The join code


@pytest.mark.parametrize("lobby", [{"lobby": "all"}, {}])
def test_a_new_join_code_opens_the_seats_and_the_old_one_nothing(
    api: Api, app_key: str, server: redis.Redis, lobby: Json
) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"open": True}], **lobby)
    answer = new_code(api, table, app_key)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    code = answer.get_json()["join_code"]
    assert answer.get_json() == {"join_code": code} != {"join_code": table.join_code}
    assert status_and_code(api.join(table)) == (403, "forbidden")
    game = stored(server, table)
    assert game.join_hash == hash_secret(code)
    assert game.ownership is not None
    assert (game.ownership.join_code, game.ownership.lobby) == (code, lobby.get("lobby"))
    told = events(api, table)[-1]
    assert (told["type"], told["data"], told["text"]) == ("join_code_changed", {}, "There is a new join code.")
    assert ("seat" in told, code in str(told)) == (False, False)
    table.join_code = code
    assert api.take_seat(table)["seat"] == 1


def test_under_a_key_the_same_join_code_is_given_again(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"open": True}])
    first = new_code(api, table, app_key, headers=KEY)
    again = new_code(api, table, app_key, headers=KEY)
    assert (again.data, again.headers["Idempotent-Replayed"]) == (first.data, "true")
    assert new_code(api, table, app_key).data != first.data
    other = owned(api, app_key, [{"name": "Ada"}, {"open": True}])
    assert new_code(api, other, app_key, headers=KEY).data != first.data


def test_with_no_open_seat_there_is_no_new_join_code(api: Api, app_key: str, server: redis.Redis, table: Table) -> None:
    with unchanged(server, table):
        assert status_and_code(new_code(api, table, app_key)) == (409, "seats_taken")


def test_a_join_that_is_repeated_after_the_code_was_changed_gets_its_first_answer(api: Api, app_key: str) -> None:
    table = owned(api, app_key, [{"name": "Ada"}, {"open": True}, {"open": True}])
    body = {"name": "Bo", "join_code": table.join_code}
    first = api.post(f"{table.path}/players", body, headers=KEY)
    new_code(api, table, app_key)
    again = api.post(f"{table.path}/players", body, headers=KEY)
    assert (again.status_code, again.data) == (201, first.data)
    late = api.post(f"{table.path}/players", body, headers={"Idempotency-Key": "another-key-than-that"})
    assert status_and_code(late) == (403, "forbidden")


def test_with_a_code_that_is_changed_meanwhile_nobody_joins(api: Api, app_key: str, crowd: ThreadPoolExecutor) -> None:
    for _ in range(10):
        table = owned(api, app_key, [{"name": "Ada"}, {"open": True}, {"open": True}])
        joined, changed = at_once(crowd, lambda: api.join(table, "Bo"), lambda: new_code(api, table, app_key))  # noqa: B023
        types = [each["type"] for each in events(api, table, 1)]
        assert (joined.status_code, changed.status_code, types) in (
            (201, 201, ["joined", "join_code_changed"]),
            (403, 201, ["join_code_changed"]),
        )


# A rematch of an owned game


def test_a_rematch_belongs_to_the_same_application_and_refs_go_with_the_players(api: Api, app_key: str) -> None:
    table = finished(api, app_key, {"name": "Ada", "ref": "user-ada"}, {"name": "Rude", "ref": "user-bo"})
    rename(api, table, 1, app_key, name="Bo")
    joined = {seat: api.post(f"{table.path}/rematch", token=table.tokens[seat]).get_json() for seat in (0, 1)}
    path = f"/v1/games/{joined[0]['game']['id']}"
    view = api.get(path, token=app_key).get_json()
    assert view["ref"] == "match-1"
    assert [(each["name"], each["ref"]) for each in view["players"]] == [("Bo", "user-bo"), ("Ada", "user-ada")]
    assert [joined[1]["game"]["players"][seat].get("ref") for seat in (0, 1)] == ["user-bo", None]
    assert api.get(table.path, token=app_key).get_json()["rematch"] == {"game_id": view["id"]}
    assert status_and_code(api.ask("POST", f"{table.path}/rematch", token=app_key)) == (401, "unauthorized")
    assert "Rude" not in api.get(f"{path}/events").text
