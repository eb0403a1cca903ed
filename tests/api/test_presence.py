"""Leaving and coming back, and claims: who may ask for them, what they change, and every refusal."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.model.clock import GRACE_MS
from service.texts import LANGUAGES
from tests.api.client import Api, Table, content_of, location_of, refusal, status_and_code, viewers
from tests.api.saved_games import SavedGames, one_open_seat, some_seats, unchanged, variants_in_lane
from tests.api.timed import TimedApi, types_of
from tests.support.table import Json, round_over

pytestmark = pytest.mark.gate

CLAIM: Json = {"clock": {"turn": 60}, "absence": {"then": "claim"}}
KEY = {"Idempotency-Key": "a-claim"}


def put_presence(api: Api, table: Table, seat: int, *, away: bool, **more: Any) -> TestResponse:
    return api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=table.tokens[seat], **more)


def claim(api: Api, table: Table, seat: int, by: int, **more: Any) -> TestResponse:
    return api.post(f"{table.path}/claims", {"seat": seat}, token=table.tokens[by], **more)


def overdue(api: TimedApi, variant: str = "domino", seats: int = 3, **more: Any) -> tuple[Table, int]:
    """A game in which the seat to move can be claimed, and that seat."""
    table = api.create(variant, seats, **CLAIM, **more)
    seat = api.to_turn_of_person(table)
    api.clock.now += 60_000 + GRACE_MS
    return table, seat


# Leaving and coming back


@pytest.mark.parametrize("variant", variants_in_lane())
@pytest.mark.parametrize("clock", [{}, {"clock": {"turn": 60}}, {"clock": {"bank": 60}}], ids=["none", "turn", "bank"])
def test_a_computer_player_plays_for_who_is_away(timed_api: TimedApi, variant: str, clock: Json) -> None:
    table = timed_api.create(variant, some_seats(variant), pace=0, **clock)
    seat = timed_api.to_turn_of_person(table)
    version = timed_api.view(table)["version"]
    view = timed_api.set_presence(table, seat, away=True)
    assert (view["you"]["seat"], view["players"][seat]["away"], "deadline" in view["turn"]) == (seat, True, False)
    timed_api.let_bots_play(table)
    told = timed_api.events(table, version)
    assert (told[0]["type"], {each.get("seat") for each in told}) == ("left", {seat})
    assert "away" not in timed_api.set_presence(table, seat, away=False)["players"][seat]
    told = [each for each in timed_api.events(table, version) if each["type"] in ("left", "returned")]
    assert [(each["type"], each["seat"], each["data"]) for each in told] == [("left", seat, {}), ("returned", seat, {})]


def test_the_answer_is_the_view_of_the_seat_with_its_etag(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2)
    for away in (True, True, False):
        answer, same = put_presence(timed_api, table, 0, away=away), table.get("", 0)
        assert (answer.status_code, answer.data, answer.headers["ETag"]) == (200, same.data, same.headers["ETag"])
        assert "Location" not in answer.headers


def test_leaving_twice_is_one_event(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 2)
    timed_api.set_presence(table, 1, away=True)
    with unchanged(server, table):
        assert timed_api.set_presence(table, 1, away=True)["players"][1]["away"] is True


def test_a_player_comes_back_by_moving(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 3)
    seat = timed_api.to_turn_of_person(table)
    move = timed_api.moves(table, seat)[0]
    version = timed_api.set_presence(table, seat, away=True)["version"]
    assert "away" not in timed_api.make_move(table, seat, move)["players"][seat]
    assert types_of(timed_api.events(table, version))[:2] == [("returned", seat), ("played", seat)]


def test_a_refused_move_or_a_look_brings_nobody_back(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 3)
    away = (timed_api.to_turn_of_person(table) + 1) % 3
    timed_api.set_presence(table, away, away=True)
    with unchanged(server, table):
        assert status_and_code(timed_api.move(table, away, {"action": "pass"})) == (409, "not_your_turn")
        for path in ("", "/moves", "/score", "/events", "/board.json", "/record"):
            assert table.get(path, away).status_code == 200


def test_while_everybody_is_away_the_game_sleeps(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", [{"name": "Ada"}, {"bot": "greedy"}, {"name": "Bo"}], clock={"turn": 60}, pace=0)
    for seat in (0, 2):
        timed_api.set_presence(table, seat, away=True)
    version = timed_api.view(table)["version"]
    timed_api.clock.advance(1_000_000)
    assert timed_api.bot_turn(table) is None
    assert not timed_api.let_time_out(table)
    assert timed_api.view(table)["version"] == version
    timed_api.set_presence(table, 2, away=False)
    timed_api.let_bots_play(table)
    turn = timed_api.view(table)["turn"]
    assert (turn["seat"], "deadline" in turn) == (2, True)


def test_between_two_rounds_people_deal_and_nobody_while_all_of_them_are_away(timed_api: TimedApi) -> None:
    players: list[Json] = [{"name": "Ada"}, {"bot": "greedy"}, {"name": "Bo"}]
    table = timed_api.create("domino", players, pace=0, options={"hand": 5})
    while not round_over(timed_api.view(table)):
        timed_api.let_bots_play(table)
        if not round_over(timed_api.view(table)):
            timed_api.make_legal_move(table)
    assert timed_api.bot_turn(table) is None, "people deal where one of them is there"
    timed_api.set_presence(table, 0, away=True)
    assert timed_api.bot_turn(table) is None
    timed_api.set_presence(table, 2, away=True)
    assert timed_api.bot_turn(table) is None, "everybody is away"


@pytest.mark.parametrize("language", LANGUAGES)
def test_leaving_and_coming_back_is_told_to_everybody(timed_api: TimedApi, language: str) -> None:
    table = timed_api.create("domino", 2)
    path = f"/events?text=true&after={timed_api.view(table)['version']}"
    for away in (True, False):
        timed_api.set_presence(table, 0, away=away)
    pages = [table.get(path, viewer, Accept_Language=language).get_json() for viewer in viewers(table)]
    to_all, to_itself, to_the_other = ([each["text"] for each in page["events"]] for page in pages)
    assert to_all == to_the_other
    assert all("P0" in each for each in to_all)
    assert not set(to_all) & set(to_itself)


# Resigning


def test_who_resigns_loses_the_match_at_once_if_one_side_is_left(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2)
    version = timed_api.view(table)["version"]
    view = timed_api.resign(table, 1)
    assert (view["status"], view["winners"], view["you"]["seat"]) == ("finished", [0], 1)
    told = timed_api.events(table, version)
    assert types_of(told) == [("resigned", 1), ("forfeited", 1), ("finished", None)]
    assert told[-1]["data"] == {"winners": [0], "ended_by": "forfeit"}
    rematch = timed_api.post(f"{table.path}/rematch", {}, token=table.tokens[1]).get_json()["game"]
    assert not any(each.get("away") for each in rematch["players"]), "who asks for another game is there"


def test_a_computer_player_goes_on_for_who_resigns_between_rounds(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 3)
    timed_api.play_until(table, round_over)
    version = timed_api.set_presence(table, 2, away=True)["version"]
    timed_api.resign(table, 2)
    with unchanged(server, table):
        view = timed_api.resign(table, 2)
    player = view["players"][2]
    assert (player["away"], player["forfeited"], view["status"]) == (True, True, "round_over")
    timed_api.resign(table, 0)
    told = timed_api.events(table, version)
    assert types_of(told) == [("resigned", 2), ("forfeited", 2), ("resigned", 0), ("forfeited", 0), ("finished", None)]
    assert timed_api.post("/v1/verifications", table.record()).get_json()["findings"] == []
    refused = timed_api.post(f"{table.path}/players/1/resignation", {}, token=table.tokens[1])
    assert status_and_code(refused) == (409, "game_over")


@pytest.mark.parametrize(
    ("other", "seat", "expected"),
    [
        ({"name": "Bo"}, 1, (201, "finished")),
        ({"bot": "greedy"}, 1, (404, "no_player")),
        ({"open": True}, 0, (409, "seats_open")),
    ],
)
def test_an_application_resigns_for_its_players_and_for_no_computer_player(
    api: Api, app_key: str, other: Json, seat: int, expected: tuple[int, str]
) -> None:
    table = api.create("domino", [{"name": "Ada"}, other], key=app_key)
    answer = api.post(f"{table.path}/players/{seat}/resignation", {}, token=app_key)
    assert (answer.status_code, answer.get_json().get("status" if answer.status_code == 201 else "reason")) == expected


# Refusals of presence


@pytest.mark.parametrize("away", [True, False])
def test_presence_is_the_business_of_its_own_seat(timed_api: TimedApi, server: redis.Redis, away: bool) -> None:
    table, elsewhere = timed_api.create("domino", 2), timed_api.create("domino", 2)
    own = table.tokens[1]
    timed_api.set_presence(table, 1, away=True)
    with unchanged(server, table):
        for seat, token, refused in (
            ("1", table.tokens[0], (403, "forbidden")),
            *[("1", token, (401, "unauthorized")) for token in (elsewhere.tokens[1], "seat_of_nobody", None)],
            *[(f"{seat}", own, (404, "not_found")) for seat in (2, 12, 10**30, -1, "x", "1.0", "")],
        ):
            answer = timed_api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=token)
            assert status_and_code(answer) == refused


def test_who_is_there_cannot_come_back(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 2)
    with unchanged(server, table):
        for language, word in (("en", "not away"), ("de", "nicht abwesend")):
            answer = put_presence(timed_api, table, 1, away=False, headers={"Accept-Language": language})
            assert refusal(answer) == (409, "not_away", "not_away")
            assert answer.get_json()["params"] == {"seat": 1}
            assert word in answer.get_json()["detail"]


@pytest.mark.parametrize("away", [True, False])
def test_nobody_leaves_a_game_that_has_not_begun_or_is_over(
    timed_api: TimedApi, server: redis.Redis, saved_games: SavedGames, away: bool
) -> None:
    waiting = timed_api.create("domino", one_open_seat("domino"))
    finished = saved_games.at("domino", "finished").table
    for table, code in ((waiting, "not_started"), (finished, "game_over")):
        with unchanged(server, table):
            assert status_and_code(put_presence(timed_api, table, 0, away=away)) == (409, code)


def test_who_is_out_does_not_leave_or_claim(timed_api: TimedApi, server: redis.Redis, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "player_out").table
    out = next(each["seat"] for each in timed_api.view(table)["players"] if not each["active"])
    with unchanged(server, table):
        for answer in (
            put_presence(timed_api, table, out, away=True),
            put_presence(timed_api, table, out, away=False),
            claim(timed_api, table, (out + 1) % len(table.tokens), out),
        ):
            assert status_and_code(answer) == (409, "not_in_match")


# Claims


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_seat_whose_time_is_over_can_be_claimed_by_any_other(timed_api: TimedApi, variant: str) -> None:
    for number in range(2):
        table, late = overdue(timed_api, variant, some_seats(variant), pace=0)
        version = timed_api.view(table)["version"]
        by = (late + 1 + number) % len(table.tokens)
        answer = claim(timed_api, table, late, by)
        assert answer.status_code == 201
        assert location_of(answer) == table.path
        same = table.get("", by)
        assert (answer.data, answer.headers["ETag"]) == (same.data, same.headers["ETag"])
        (event,) = timed_api.events(table, version)
        assert (event["type"], event["seat"], event["data"]) == ("claimed", late, {"by": by})
        assert timed_api.view(table)["players"][late]["away"] is True
        timed_api.let_bots_play(table)
        after = timed_api.events(table, version + 1)
        assert {each.get("seat") for each in after} == {late}


def test_a_claim_is_told_in_words(timed_api: TimedApi) -> None:
    table, late = overdue(timed_api)
    claim(timed_api, table, late, (late + 1) % 3)
    pages = [table.get("/events?text=true", None, Accept_Language=each).get_json() for each in LANGUAGES]
    told = {page["events"][-1]["text"] for page in pages}
    assert len(told) == len(LANGUAGES)
    assert all(f"P{late}" in each for each in told)


def test_a_claimed_player_comes_back_by_moving(timed_api: TimedApi) -> None:
    table, late = overdue(timed_api)
    move = timed_api.moves(table, late)[0]
    version = claim(timed_api, table, late, (late + 1) % 3).get_json()["version"]
    assert status_and_code(timed_api.move(table, late, move)) == (412, "stale_version")
    timed_api.make_move(table, late, timed_api.moves(table, late)[0])
    assert types_of(timed_api.events(table, version))[:2] == [("returned", late), ("played", late)]


def test_a_claim_is_too_early_until_the_deadline_and_the_grace_end(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 2, **CLAIM)
    late = timed_api.to_turn_of_person(table)
    deadline = timed_api.view(table)["turn"]["deadline"]
    for milliseconds in (0, 59_000, 1000, GRACE_MS - 1):
        timed_api.clock.now += milliseconds
        with unchanged(server, table):
            answer = claim(timed_api, table, late, 1 - late)
        assert refusal(answer) == (409, "not_due", "deadline_not_passed")
        assert answer.get_json()["params"] == {"seat": late, "deadline": deadline}
        assert deadline in answer.get_json()["detail"]
    timed_api.clock.now += 1
    assert claim(timed_api, table, late, 1 - late).status_code == 201


def test_nothing_can_be_claimed_where_there_is_nothing_to_claim(timed_api: TimedApi, server: redis.Redis) -> None:
    others: list[Json] = [{"clock": {"turn": 60}, "absence": {"then": then}} for then in ("bot", "move", "forfeit")]
    for more in ({}, {"clock": {"turn": 60}}, *others):
        table = timed_api.create("domino", 2, **more)
        late = timed_api.to_turn_of_person(table)
        timed_api.clock.advance(3600)
        assert_nothing_to_claim(timed_api, server, table, late, 1 - late)
    table, late = overdue(timed_api)
    by, third = (late + 1) % 3, (late + 2) % 3
    assert_nothing_to_claim(timed_api, server, table, third, by)
    assert claim(timed_api, table, late, by).status_code == 201
    for each in (by, third):
        assert_nothing_to_claim(timed_api, server, table, late, each)


def assert_nothing_to_claim(api: Api, server: redis.Redis, table: Table, seat: int, by: int) -> None:
    with unchanged(server, table):
        answer = claim(api, table, seat, by)
    assert refusal(answer) == (409, "not_due", "nothing_to_claim")
    assert answer.get_json()["params"] == {"seat": seat}


def test_a_computer_player_cannot_be_claimed_nor_the_deal_of_a_round(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", [{"name": "Ada"}, {"bot": "greedy"}, {"name": "Bo"}], **CLAIM)
    while timed_api.bot_turn(table) is None:
        timed_api.make_legal_move(table)
    timed_api.clock.advance(3600)
    assert_nothing_to_claim(timed_api, server, table, 1, 0)
    table = timed_api.create("domino", 2, **CLAIM)
    timed_api.play_until(table, round_over)
    timed_api.clock.advance(3600)
    for seat in (0, 1):
        assert_nothing_to_claim(timed_api, server, table, seat, 1 - seat)


def test_nobody_claims_their_own_seat(timed_api: TimedApi, server: redis.Redis) -> None:
    table, late = overdue(timed_api)
    with unchanged(server, table):
        for language, word in (("en", "another seat"), ("de", "anderer Platz")):
            answer = claim(timed_api, table, late, late, headers={"Accept-Language": language})
            assert refusal(answer) == (422, "invalid", "another_seat")
            assert answer.get_json()["params"] == {"field": "seat", "max": 2}
            assert word in answer.get_json()["detail"]


def test_only_a_seat_of_the_game_claims(timed_api: TimedApi, server: redis.Redis) -> None:
    table, late = overdue(timed_api)
    nowhere, foreign = f"/v1/games/{'A' * 24}", timed_api.create("domino", 3).tokens[0]
    with_none = [(table.path, None), (nowhere, None)]
    with_wrong = [(table.path, "seat_of_nobody"), (table.path, foreign), (nowhere, table.tokens[0])]
    told = []
    with unchanged(server, table):
        for asked in (with_none, with_wrong):
            answers = [timed_api.post(f"{path}/claims", {"seat": late}, token=token) for path, token in asked]
            assert {status_and_code(answer) for answer in answers} == {(401, "unauthorized")}
            told.append({str(content_of(answer)) for answer in answers})
    assert [len(each) for each in (*told, told[0] | told[1])] == [1, 1, 2]


def test_a_game_that_has_not_begun_or_is_over_has_no_claims(timed_api: TimedApi, server: redis.Redis) -> None:
    waiting = timed_api.create("domino", [{"name": "Ada"}, {"name": "Bo"}, {"open": True}], **CLAIM)
    finished = timed_api.create("homo-homini-lupus", 4, options={"rounds": 1}, **CLAIM)
    timed_api.play_until(finished, round_over)
    timed_api.clock.advance(3600)
    for table, code in ((waiting, "not_started"), (finished, "game_over")):
        with unchanged(server, table):
            assert status_and_code(claim(timed_api, table, 1, 0)) == (409, code)


def test_a_claim_under_a_key_is_made_once(timed_api: TimedApi, server: redis.Redis) -> None:
    table, late = overdue(timed_api)
    by, third = (late + 1) % 3, (late + 2) % 3
    first = claim(timed_api, table, late, by, headers=KEY)
    with unchanged(server, table):
        again = claim(timed_api, table, late, by, headers=KEY)
        assert (again.status_code, again.data, again.headers["ETag"]) == (201, first.data, first.headers["ETag"])
        assert (first.headers.get("Idempotent-Replayed"), again.headers["Idempotent-Replayed"]) == (None, "true")
        assert status_and_code(claim(timed_api, table, third, by, headers=KEY)) == (422, "key_reused")
        assert status_and_code(claim(timed_api, table, late, third, headers=KEY)) == (409, "not_due")
    timed_api.let_bots_play(table)
    later = claim(timed_api, table, late, by, headers=KEY)
    assert (later.status_code, later.get_json()) == (201, first.get_json())


def test_a_worker_that_caches_the_game_refuses_a_revoked_token(timed_api: TimedApi, api: Api) -> None:
    """``api`` is the application of another worker."""
    table, late = overdue(timed_api)
    by = (late + 1) % 3
    assert timed_api.view(table, by)["version"]
    assert api.post(f"{table.path}/players/{by}/token", {}, token=table.tokens[by]).status_code == 201
    bodies: tuple[Json, ...] = ({"seat": late}, {"seat": by}, {"colour": 1})
    answers = [timed_api.post(f"{table.path}/claims", body, token=table.tokens[by]) for body in bodies]
    for answer in (*answers, put_presence(timed_api, table, by, away=True)):
        assert status_and_code(answer) == (401, "unauthorized")


def test_a_worker_with_an_old_game_decides_on_the_stored_one(timed_api: TimedApi, api: Api) -> None:
    table, late = overdue(timed_api)
    by, third = (late + 1) % 3, (late + 2) % 3
    assert timed_api.view(table, by)["version"]
    api.make_move(table, late, api.moves(table, late)[0])  # at the time of day, which is before that of ``timed_api``
    assert status_and_code(claim(timed_api, table, late, by)) == (409, "not_due")
    for each, away in ((api, True), (timed_api, False)):
        assert put_presence(each, table, third, away=away).status_code == 200
