"""Leaving and coming back, and claims: who may ask for them, what they change, and every refusal."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.model.clock import GRACE_MS
from service.texts import LANGUAGES
from tests.api.client import Api, Table, content_of, location_of, status_and_code, viewers
from tests.api.saved_games import SavedGames, one_open_seat, some_seats, take_snapshot, unchanged, variants_in_lane
from tests.api.timed import TimedApi, types_of
from tests.support.table import Json, round_over

pytestmark = pytest.mark.gate

CLAIM: Json = {"clock": {"turn": 60}, "absence": {"then": "claim"}}
KEY = {"Idempotency-Key": "a-claim"}


def put_presence(api: Api, table: Table, seat: int, body: Any, by: int | None = None, **more: Any) -> TestResponse:
    """Ask for the presence of a seat, with its own token or that of the seat ``by``."""
    path = f"{table.path}/players/{seat}/presence"
    return api.put(path, body, token=table.tokens[seat if by is None else by], **more)


def claim(api: Api, table: Table, seat: Any, by: int, **more: Any) -> TestResponse:
    return api.post(f"{table.path}/claims", {"seat": seat}, token=table.tokens[by], **more)


def overdue(api: TimedApi, variant: str = "domino", seats: int = 3, **more: Any) -> tuple[Table, int]:
    """A game in which the seat to move can be claimed, and that seat."""
    table = api.create(variant, seats, **{**CLAIM, **more})
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
    assert view["you"]["seat"] == seat
    assert view["players"][seat]["away"] is True
    assert "deadline" not in view["turn"]
    timed_api.let_bots_play(table)
    told = timed_api.events(table, version)
    assert types_of(told)[0] == ("left", seat)
    assert {each.get("seat") for each in told} == {seat}
    view = timed_api.set_presence(table, seat, away=False)
    assert "away" not in view["players"][seat]
    assert types_of(timed_api.events(table))[-1] == ("returned", seat)
    assert [each["data"] for each in timed_api.events(table) if each["type"] in ("left", "returned")] == [{}, {}]


def test_the_answer_is_the_view_of_the_seat_with_its_etag(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2)
    for away in (True, True, False):
        answer = put_presence(timed_api, table, 0, {"away": away})
        same = table.get("", 0)
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
    view = timed_api.make_move(table, seat, move)
    assert types_of(timed_api.events(table, version))[:2] == [("returned", seat), ("played", seat)]
    assert "away" not in view["players"][seat]


def test_a_refused_move_brings_nobody_back(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 3)
    seat = timed_api.to_turn_of_person(table)
    other = (seat + 1) % 3
    timed_api.set_presence(table, other, away=True)
    with unchanged(server, table):
        assert status_and_code(timed_api.move(table, other, {"action": "pass"})) == (409, "not_your_turn")


def test_looking_brings_nobody_back(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 3)
    timed_api.set_presence(table, 0, away=True)
    with unchanged(server, table):
        for path in ("", "/moves", "/score", "/events", "/board.json", "/record"):
            assert table.get(path, 0).status_code == 200


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
    view = timed_api.view(table)
    assert view["turn"]["seat"] == 2
    assert "deadline" in view["turn"]


def test_between_two_rounds_people_deal_and_nobody_while_all_of_them_are_away(timed_api: TimedApi) -> None:
    table = timed_api.create(
        "domino", [{"name": "Ada"}, {"bot": "greedy"}, {"name": "Bo"}], pace=0, options={"hand": 5}
    )
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
    version = timed_api.view(table)["version"]
    for away in (True, False):
        timed_api.set_presence(table, 0, away=away)
    told = []
    for viewer in viewers(table):
        path = f"/events?text=true&after={version}"
        told.append([each["text"] for each in table.get(path, viewer, Accept_Language=language).get_json()["events"]])
    to_all, to_itself, to_the_other = told
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
    while not round_over(timed_api.view(table)):
        timed_api.make_legal_move(table)
    version = timed_api.set_presence(table, 2, away=True)["version"]
    timed_api.resign(table, 2)
    before = take_snapshot(server, table.id)
    view = timed_api.resign(table, 2)
    assert take_snapshot(server, table.id) == before, "resigning again changes nothing"
    assert (view["players"][2]["away"], view["players"][2]["forfeited"], view["status"]) == (True, True, "round_over")
    timed_api.resign(table, 0)
    told = timed_api.events(table, version)
    assert types_of(told) == [("resigned", 2), ("forfeited", 2), ("resigned", 0), ("forfeited", 0), ("finished", None)]
    record = table.get("/record", Accept="text/plain").text
    assert timed_api.post("/v1/verifications", record).get_json()["findings"] == []
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
    body = {"variant": "domino", "players": [{"name": "Ada"}, other]}
    game = api.post("/v1/games", body, token=app_key).get_json()["game"]["id"]
    answer = api.post(f"/v1/games/{game}/players/{seat}/resignation", {}, token=app_key)
    assert (answer.status_code, answer.get_json().get("status" if answer.status_code == 201 else "reason")) == expected


# Refusals of presence


@pytest.mark.parametrize("away", [True, False])
def test_presence_is_the_business_of_its_own_seat(timed_api: TimedApi, server: redis.Redis, away: bool) -> None:
    table, elsewhere = timed_api.create("domino", 2), timed_api.create("domino", 2)
    timed_api.set_presence(table, 1, away=True)
    with unchanged(server, table):
        path = f"{table.path}/players/1/presence"
        for token, status in (
            (table.tokens[0], (403, "forbidden")),
            (elsewhere.tokens[1], (401, "unauthorized")),
            ("seat_of_nobody", (401, "unauthorized")),
            (None, (401, "unauthorized")),
        ):
            assert status_and_code(timed_api.put(path, {"away": away}, token=token)) == status
        for seat in (2, 12, 10**30):
            answer = timed_api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=table.tokens[1])
            assert status_and_code(answer) == (404, "not_found")
            assert answer.get_json()["reason"] == "no_such_seat"
        for part in ("-1", "x", "1.0", ""):
            answer = timed_api.put(f"{table.path}/players/{part}/presence", {"away": away}, token=table.tokens[1])
            assert answer.status_code == 404


def test_who_is_there_cannot_come_back(timed_api: TimedApi, server: redis.Redis) -> None:
    table = timed_api.create("domino", 2)
    with unchanged(server, table):
        for language, word in (("en", "not away"), ("de", "nicht abwesend")):
            answer = put_presence(timed_api, table, 1, {"away": False}, headers={"Accept-Language": language})
            assert status_and_code(answer) == (409, "not_away")
            problem = answer.get_json()
            assert (problem["reason"], problem["params"]) == ("not_away", {"seat": 1})
            assert word in problem["detail"]


@pytest.mark.parametrize("away", [True, False])
def test_nobody_leaves_a_game_that_has_not_begun_or_is_over(
    timed_api: TimedApi, server: redis.Redis, saved_games: SavedGames, away: bool
) -> None:
    waiting = timed_api.create("domino", one_open_seat("domino"))
    finished = saved_games.at("domino", "finished").table
    for table, code in ((waiting, "not_started"), (finished, "game_over")):
        with unchanged(server, table):
            assert status_and_code(put_presence(timed_api, table, 0, {"away": away})) == (409, code)


def test_who_is_out_neither_leaves_nor_claims(
    timed_api: TimedApi, server: redis.Redis, saved_games: SavedGames
) -> None:
    table = saved_games.at("domino", "player_out").table
    out = next(each["seat"] for each in timed_api.view(table)["players"] if not each["active"])
    with unchanged(server, table):
        other = (out + 1) % len(table.tokens)
        for answer in (
            put_presence(timed_api, table, out, {"away": True}),
            put_presence(timed_api, table, out, {"away": False}),
            claim(timed_api, table, other, out),
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
    told = set()
    for language in LANGUAGES:
        page = table.get("/events?text=true", None, Accept_Language=language).get_json()
        told.add(page["events"][-1]["text"])
        assert f"P{late}" in page["events"][-1]["text"]
    assert len(told) == len(LANGUAGES)


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
    before = take_snapshot(server, table.id)
    deadline = timed_api.view(table)["turn"]["deadline"]
    for milliseconds in (0, 59_000, 1000, GRACE_MS - 1):
        timed_api.clock.now += milliseconds
        answer = claim(timed_api, table, late, 1 - late)
        assert status_and_code(answer) == (409, "not_due")
        problem = answer.get_json()
        assert (problem["reason"], problem["params"]) == ("deadline_not_passed", {"seat": late, "deadline": deadline})
        assert deadline in problem["detail"]
        assert take_snapshot(server, table.id) == before
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
    assert_nothing_to_claim(timed_api, server, table, late, by)
    assert_nothing_to_claim(timed_api, server, table, late, third)


def assert_nothing_to_claim(api: Api, server: redis.Redis, table: Table, seat: int, by: int) -> None:
    with unchanged(server, table):
        for language in LANGUAGES:
            answer = claim(api, table, seat, by, headers={"Accept-Language": language})
            assert status_and_code(answer) == (409, "not_due")
            problem = answer.get_json()
            assert (problem["reason"], problem["params"]) == ("nothing_to_claim", {"seat": seat})


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
            assert status_and_code(answer) == (422, "invalid")
            problem = answer.get_json()
            assert (problem["reason"], problem["params"]) == ("another_seat", {"field": "seat", "max": 2})
            assert word in problem["detail"]


def test_only_a_seat_of_the_game_claims(timed_api: TimedApi, server: redis.Redis) -> None:
    table, late = overdue(timed_api)
    foreign = timed_api.create("domino", 3).tokens[0]
    with unchanged(server, table):
        answers = [
            timed_api.post(f"{path}/claims", {"seat": late}, token=token)
            for path, token in (
                (table.path, None),
                (f"/v1/games/{'A' * 24}", None),
                (table.path, "seat_of_nobody"),
                (table.path, foreign),
                (f"/v1/games/{'A' * 24}", table.tokens[0]),
            )
        ]
        assert {status_and_code(answer) for answer in answers} == {(401, "unauthorized")}
        without, wrong = ({str(content_of(answer)) for answer in some} for some in (answers[:2], answers[2:]))
        assert (len(without), len(wrong), len(without & wrong)) == (1, 1, 0)


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
    for body in ({"seat": late}, {"seat": by}, {"colour": 1}):
        answer = timed_api.post(f"{table.path}/claims", body, token=table.tokens[by])
        assert status_and_code(answer) == (401, "unauthorized")
    answer = put_presence(timed_api, table, by, {"away": True})
    assert status_and_code(answer) == (401, "unauthorized")


def test_a_worker_with_an_old_game_decides_on_the_stored_one(timed_api: TimedApi, api: Api) -> None:
    table, late = overdue(timed_api)
    by, third = (late + 1) % 3, (late + 2) % 3
    assert timed_api.view(table, by)["version"]
    move = api.moves(table, late)[0]
    api.make_move(table, late, move)  # at the time of day, which is before that of ``timed_api``
    assert status_and_code(claim(timed_api, table, late, by)) == (409, "not_due")
    assert put_presence(api, table, third, {"away": True}).status_code == 200
    assert put_presence(timed_api, table, third, {"away": False}).status_code == 200
