"""Clocks over HTTP: what may be asked for, the deadlines that are shown, and what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.presence import ABSENCES
from service.games.model.clock import GRACE_MS
from service.texts import LANGUAGES
from tests.api.client import Api, Table, causes_of, content_of, status_and_code, viewers
from tests.api.saved_games import StoreContents, one_open_seat, some_seats, variants_in_lane
from tests.api.timed import TimedApi, milliseconds, types_of
from tests.support.table import Json, round_over

pytestmark = pytest.mark.gate


TURN = {"turn": 60}
BANK = {"bank": 100, "increment": 5}
READ = ("", "/moves", "/score", "/fairness", "/board.json", "?text=true")


def late_move(api: TimedApi, table: Table, seat: int) -> Json:
    """The first move that is listed for the seat to move."""
    return api.moves(table, seat)[0]


def test_the_time_that_clients_are_told_is_that_by_which_deadlines_are_decided(timed_api: TimedApi) -> None:
    assert timed_api.app.seconds() == timed_api.clock() / 1000


# Asking for one


@pytest.mark.parametrize(
    ("clock", "shown"),
    [
        ({"turn": 5}, {"turn": 5}),
        ({"turn": 1_209_600}, {"turn": 1_209_600}),
        ({"bank": 10}, {"bank": 10, "increment": 0}),
        ({"bank": 86_400, "increment": 3600}, {"bank": 86_400, "increment": 3600}),
        ({"bank": 300, "increment": 0}, {"bank": 300, "increment": 0}),
    ],
)
def test_a_clock_is_shown_as_it_was_asked_for_and_stored(timed_api: TimedApi, clock: Json, shown: Json) -> None:
    table = timed_api.create("domino", 2, clock=clock)
    timed_api._repository.cache.forget((table.id,))
    for seat in viewers(table):
        view = timed_api.view(table, seat)
        assert view["clock"] == shown
        assert view["absence"] == {"then": "bot"}
        assert "pace" not in view


def test_an_application_sees_when_it_is_told_of_a_deadline(api: Api, app_key: str) -> None:
    clock = {"bank": 300, "increment": 0, "remind": 60}
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "clock": clock}
    game = api.post("/v1/games", body, token=app_key).get_json()["game"]
    assert api.get(f"/v1/games/{game['id']}").get_json()["clock"] == game["clock"] == clock


@pytest.mark.parametrize("then", ABSENCES)
def test_what_follows_at_a_deadline_is_shown(timed_api: TimedApi, then: str) -> None:
    for clock in (TURN, BANK):
        table = timed_api.create("domino", 2, clock=clock, absence={"then": then})
        assert timed_api.view(table)["absence"] == {"then": then}


@pytest.mark.parametrize(
    ("field", "reason", "wrong"),
    [
        ("clock", "one_of_turn_bank", [{}, {"turn": 60, "bank": 60}, {"increment": 5}]),
        ("clock.increment", "only_with_bank", [{"turn": 60, "increment": 5}]),
        ("clock.remind", "needs_key", [{"turn": 60, "remind": 59}]),
        ("clock.remind", "out_of_range", [{"turn": 60, "remind": 60}, {"bank": 60, "remind": 60}]),
        ("clock.turn", "out_of_range", [{"turn": seconds} for seconds in (4, 1_209_601, 0, -60)]),
        ("clock.bank", "out_of_range", [{"bank": seconds} for seconds in (9, 86_401)]),
        ("clock.increment", "out_of_range", [{"bank": 60, "increment": seconds} for seconds in (-1, 3601)]),
        ("absence.then", "required_one_of", [{}]),
        ("absence.then", "not_one_of", [{"then": "pass"}, {"then": "Bot"}]),
        ("absence", "only_with_clock", [{"then": then} for then in ("move", "claim", "forfeit")]),
    ],
)
def test_a_wrong_clock_makes_no_game(
    api: Api, contents: StoreContents, field: str, reason: str, wrong: list[Json]
) -> None:
    with contents.unchanged():
        for each in wrong:
            given: Json = {} if reason == "only_with_clock" else {"clock": TURN}
            answer = api.try_create("domino", 2, **{**given, field.partition(".")[0]: each})
            assert causes_of(answer) == [(field, reason)], each


def test_without_a_clock_nothing_of_it_is_shown(api: Api) -> None:
    for more in ({}, {"absence": {"then": "bot"}}):
        table = api.create("domino", 2, **more)
        view = api.view(table, 0)
        assert not {"clock", "absence", "deal"} & view.keys()
        assert view["turn"].keys() == {"seat"}
        assert not {"bank", "away", "forfeited"} & {name for player in view["players"] for name in player}


# Deadlines


def test_the_deadline_of_a_turn_is_told_to_everybody_in_views_moves_and_pages_of_events(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, clock=TURN)
    timed_api.clock.advance(7)
    seat = timed_api.to_turn_of_person(table)
    timed_api.make_move(table, seat, late_move(timed_api, table, seat))
    expected = timed_api.clock.now + 60_000
    timed_api.clock.advance(9)
    for viewer in viewers(table):
        token = None if viewer is None else table.tokens[viewer]
        page = timed_api.get(f"{table.path}/events?view=true", token=token).get_json()
        for told in (timed_api.view(table, viewer), timed_api.listed_moves(table, viewer), page["game"]):
            assert milliseconds(told["turn"]["deadline"]) == expected


@pytest.mark.parametrize("variant", variants_in_lane())
def test_between_two_rounds_there_is_a_deadline_for_the_deal(timed_api: TimedApi, variant: str) -> None:
    for clock, seconds in ((TURN, 60), ({"bank": 40}, 40), ({"bank": 86_400}, 60)):
        table = timed_api.create(variant, some_seats(variant), clock=clock)
        view = timed_api.play_until(table, round_over)
        if view["status"] == "finished":
            assert not {"turn", "deal"} & view.keys()
            continue
        for told in (view, timed_api.view(table), timed_api.listed_moves(table)):
            assert "turn" not in told
            assert milliseconds(told["deal"]["deadline"]) == timed_api.clock.now + seconds * 1000
        timed_api.clock.now += seconds * 1000
        assert not timed_api.let_time_out(table)
        timed_api.clock.now += GRACE_MS
        assert timed_api.let_time_out(table)
        assert types_of(timed_api.events(table, view["version"])) == [("dealt", None)]


def test_no_time_runs_while_a_seat_is_open(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", one_open_seat("domino"), clock=TURN)
    assert not {"turn", "deal"} & timed_api.view(table).keys()
    timed_api.clock.advance(1000)
    assert not timed_api.let_time_out(table)
    assert milliseconds(timed_api.take_seat(table)["game"]["turn"]["deadline"]) == timed_api.clock.now + 60_000


def test_a_bank_is_what_a_seat_had_left_when_the_turn_began(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, clock=BANK)
    first = timed_api.to_turn_of_person(table)
    assert [each["bank"] for each in timed_api.view(table)["players"]] == [100, 100]
    timed_api.clock.advance(30.25)
    assert [each["bank"] for each in timed_api.view(table)["players"]] == [100, 100]
    view = timed_api.make_move(table, first, late_move(timed_api, table, first))
    assert view["players"][first]["bank"] == 100 - 30.25 + 5
    second = view["turn"]["seat"]
    assert second != first
    assert milliseconds(view["turn"]["deadline"]) == timed_api.clock.now + 100_000
    timed_api.clock.advance(2)
    view = timed_api.make_move(table, second, late_move(timed_api, table, second))
    assert view["players"][second]["bank"] == 100, "an increment never lifts a bank above its beginning"


def test_a_computer_player_has_no_bank_and_no_deadline(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", [{"bot": "greedy"}, {"bot": "greedy"}, {"name": "Ada"}], clock=BANK)
    if timed_api.bot_turn(table) is None:
        timed_api.make_legal_move(table)
    view = timed_api.view(table)
    assert "deadline" not in view["turn"]
    assert ["bank" in each for each in view["players"]] == [False, False, True]


def test_the_passing_of_time_changes_no_answer_and_no_etag(timed_api: TimedApi) -> None:
    for clock in (TURN, BANK):
        table = timed_api.create("domino", 2, clock=clock, absence={"then": "claim"})
        requests = [(path, viewer) for path in READ for viewer in viewers(table)]

        def ask(table: Table = table, requests: list[Any] = requests) -> list[Any]:
            return [content_of(table.get(path, viewer)) for path, viewer in requests]

        before = ask()
        for seconds in (1, 58, 1, 1, 100_000):
            timed_api.clock.advance(seconds)
            assert ask() == before
        for path, viewer in requests:
            assert table.get(path, viewer, If_None_Match=table.get(path, viewer).headers["ETag"]).status_code == 304


# What follows


@pytest.mark.parametrize("variant", variants_in_lane())
@pytest.mark.parametrize("then", ["bot", "move", "forfeit"])
def test_at_the_deadline_a_computer_player_plays_the_turn(timed_api: TimedApi, variant: str, then: str) -> None:
    table = timed_api.create(variant, some_seats(variant), clock=TURN, absence={"then": then}, pace=0)
    version = timed_api.view(table)["version"]
    late = timed_api.time_out(table)
    told = timed_api.events(table, version)
    assert told[0]["data"] == {"then": then}
    assert types_of(told)[:2] == [("timed_out", late), ("forfeited", late)][: len(told)]
    assert len(told) == 1 + (then == "forfeit") + (then == "forfeit" and some_seats(variant) == 2)
    player = timed_api.view(table)["players"][late]
    expected = {"bot": (True, None), "move": (None, None), "forfeit": (True, True)}
    assert (player.get("away"), player.get("forfeited")) == expected[then]
    assert "deadline" not in timed_api.view(table).get("turn", {})
    timed_api.let_bots_play(table)
    after = timed_api.events(table, told[-1]["version"])
    assert {each.get("seat") for each in after} == {late}
    assert {each["type"] for each in after} <= {"played", "drew", "passed", "done", "flipped"}


def test_nothing_follows_before_the_deadline_and_the_grace(timed_api: TimedApi) -> None:
    for then in ABSENCES:
        table = timed_api.create("domino", 2, clock={"turn": 5}, absence={"then": then})
        timed_api.clock.now += 5000 + GRACE_MS - 1
        assert not timed_api.let_time_out(table)
        timed_api.clock.now += 1
        assert timed_api.let_time_out(table) == (then != "claim")


def test_a_move_after_the_deadline_counts_until_the_service_has_acted(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, clock=TURN)
    seat = timed_api.to_turn_of_person(table)
    move = late_move(timed_api, table, seat)
    timed_api.clock.advance(3600)
    timed_api.make_move(table, seat, move)
    assert not timed_api.let_time_out(table)
    assert {each["type"] for each in timed_api.events(table, move["version"])} == {"played"}


@pytest.mark.parametrize("then", ["bot", "move", "forfeit"])
@pytest.mark.parametrize("guard", ["version", "If-Match: ETag", "If-Match: version"])
def test_after_that_a_move_is_refused_with_the_new_truth(timed_api: TimedApi, then: str, guard: str) -> None:
    table = timed_api.create("menschenwolf", 4, clock=TURN, absence={"then": then})
    seat = timed_api.to_turn_of_person(table)
    move = late_move(timed_api, table, seat)
    etag = table.get("", seat).headers["ETag"]
    timed_api.time_out(table)
    before = timed_api.stored(table)
    headers = {}
    if guard != "version":
        headers["If-Match"] = etag if guard == "If-Match: ETag" else f'"{move["version"]}"'
        move = {name: value for name, value in move.items() if name != "version"}
    answer = timed_api.move(table, seat, move, headers=headers)
    assert status_and_code(answer) == (412, "stale_version")
    problem = answer.get_json()
    assert problem["version"] == before.version
    assert problem["to_act"] == [seat]
    assert problem["legal_moves"][0]["version"] == before.version
    assert timed_api.stored(table) == before


def test_after_the_move_of_the_computer_player_a_move_without_a_version_is_out_of_turn(timed_api: TimedApi) -> None:
    table = timed_api.create("menschenwolf", 4, clock=TURN, pace=0)
    seat = timed_api.time_out(table)
    timed_api.let_bots_play(table)
    before = timed_api.stored(table)
    answer = timed_api.move(table, seat, {"action": "pass"})
    assert status_and_code(answer) == (409, "not_your_turn")
    assert answer.get_json()["legal_moves"] == []
    assert timed_api.stored(table) == before, "nobody comes back by a move that was refused"


def test_a_player_who_was_timed_out_comes_back_by_moving(timed_api: TimedApi) -> None:
    for then in ("bot", "move", "forfeit"):
        table = timed_api.create("menschenwolf", 4, clock=TURN, absence={"then": then})
        seat = timed_api.time_out(table)
        version = timed_api.view(table)["version"]
        view = timed_api.make_move(table, seat, late_move(timed_api, table, seat))
        assert types_of(timed_api.events(table, version))[:2] == [("returned", seat), ("played", seat)]
        assert "away" not in view["players"][seat]
        assert view["players"][seat].get("forfeited") is (True if then == "forfeit" else None)


def test_a_match_with_one_side_left_is_finished_by_forfeit(timed_api: TimedApi) -> None:
    table = timed_api.create("domino", 2, clock=TURN, absence={"then": "forfeit"})
    version = timed_api.view(table)["version"]
    late = timed_api.time_out(table)
    told = timed_api.events(table, version)
    assert types_of(told) == [("timed_out", late), ("forfeited", late), ("finished", None)]
    assert told[-1]["data"] == {"winners": [1 - late], "ended_by": "forfeit"}
    view = timed_api.view(table, late)
    assert (view["status"], view["winners"]) == ("finished", [1 - late])
    assert not {"turn", "deal"} & view.keys()
    first, last = timed_api.score(table)["standings"]
    assert (first["seat"], first["rank"], first.get("forfeited")) == (1 - late, 1, None)
    assert (last["seat"], last["rank"], last.get("forfeited")) == (late, 2, True)
    assert status_and_code(timed_api.move(table, late, {"action": "pass"})) == (409, "game_over")


@pytest.mark.parametrize("then", ["bot", "forfeit"])
def test_a_time_out_is_told_in_both_languages_to_everybody(timed_api: TimedApi, then: str) -> None:
    table = timed_api.create("domino", 2, clock=TURN, absence={"then": then})
    version = timed_api.view(table)["version"]
    timed_api.time_out(table)
    for viewer in viewers(table):
        told = []
        for language in LANGUAGES:
            path = f"/events?text=true&after={version}"
            page = table.get(path, viewer, Accept_Language=language).get_json()
            told.append([each["text"] for each in page["events"]])
        assert all(each.endswith(".") for sentences in told for each in sentences)
        assert not set(told[0]) & set(told[1])


def test_everybody_reads_the_same_of_a_time_out(timed_api: TimedApi) -> None:
    for then in ("bot", "move", "forfeit"):
        table = timed_api.create("domino", 3, clock=BANK, absence={"then": then}, pace=0)
        version = timed_api.view(table)["version"]
        timed_api.time_out(table)
        events, *others = [timed_api.events(table, version, viewer) for viewer in viewers(table)]
        assert events
        assert all(each == events for each in others)
        views = [timed_api.view(table, viewer) for viewer in viewers(table)]
        for name in ("players", "turn", "clock", "absence"):
            assert all(view[name] == views[0][name] for view in views)
