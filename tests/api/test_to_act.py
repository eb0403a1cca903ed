"""Who may move: told in every view, among the moves, with every event, and when somebody else has tried."""

from __future__ import annotations

from typing import Any

import pytest

from service.games.model.views import view_game
from service.games.store.history import rebuild_game
from service.games.store.repository import DEFAULT_POLICY
from tests.api.client import Api, viewers
from tests.api.followers import lines_in
from tests.api.saved_games import SavedGame, SavedGames, decoded, variants_in_lane
from tests.api.twins import history_of
from tests.laws.facts import assert_kept_facts
from tests.support.table import Json

pytestmark = pytest.mark.quick


def events_of(api: Api, saved_game: SavedGame, seat: int | None, after: int = 0) -> list[Json]:
    token = None if seat is None else saved_game.table.tokens[seat]
    answer = api.get(f"{saved_game.table.path}/events?after={after}&limit=1000", token=token)
    events: list[Json] = answer.get_json()["events"]
    return events


def test_with_every_event_as_in_the_view_at_its_version(api: Api, saved_game: SavedGame) -> None:
    snapshot = saved_game.snapshot
    game = decoded(saved_game.table.id, snapshot)
    history = history_of(game, snapshot)
    versions = [rebuild_game(game, history, version) for version in range(1, game.version + 1)]
    for each in versions:
        assert_kept_facts(each)
    seen = [list(view_game(each, None, DEFAULT_POLICY.lifetimes).view.to_act) for each in versions]
    for viewer in viewers(saved_game.table):
        assert [each["to_act"] for each in events_of(api, saved_game, viewer)] == seen
        view = api.view(saved_game.table, viewer)
        assert view["to_act"] == api.listed_moves(saved_game.table, viewer)["to_act"] == seen[-1]


def test_they_are_the_seats_with_legal_moves(api: Api, saved_game: SavedGame) -> None:
    table = saved_game.table
    views = {seat: api.view(table, seat) for seat in table.tokens}
    (to_act,) = {tuple(view["to_act"]) for view in views.values()}
    assert list(to_act) == [seat for seat, view in views.items() if view["legal_moves"]]
    view = views[0]
    if view["status"] == "playing":
        assert to_act == (view["turn"]["seat"],)
    elif view["status"] == "round_over":
        assert list(to_act) == [player["seat"] for player in view["players"] if player["active"]]
    else:
        assert to_act == ()


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_refusal_says_who_may_move(api: Api, saved_games: SavedGames, variant: str) -> None:
    table = saved_games.at(variant, "early").table
    view = api.view(table)
    for seat in table.tokens:
        if seat not in view["to_act"]:
            problem: Any = api.move(table, seat, {"action": "pass"}).json
            assert (problem["code"], problem["to_act"]) == ("not_your_turn", view["to_act"])
    table = saved_games.at(variant, "waiting").table
    problem = api.move(table, 0, {"action": "pass"}).json
    assert (problem["code"], problem["to_act"]) == ("not_started", [])


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_reset_says_it_and_a_record_does_not(api: Api, saved_games: SavedGames, variant: str) -> None:
    saved_game = saved_games.at(variant, "early")
    (reset,) = events_of(api, saved_game, None, after=1_000)
    assert reset["type"] == "reset"
    assert reset["to_act"] == reset["data"]["view"]["to_act"] != []
    record = api.get(f"{saved_game.table.path}/record", headers={"Accept": "application/json"}).get_data()
    assert b"to_act" not in record


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_stream_says_the_same_as_a_page(api: Api, saved_games: SavedGames, variant: str) -> None:
    saved_game = saved_games.at(variant, "finished")
    answer = api.ask_unchecked("GET", f"{saved_game.table.path}/events", headers={"Accept": "application/x-ndjson"})
    assert lines_in(answer.data) == events_of(api, saved_game, None)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_view_says_whether_it_is_that_of_a_seat(api: Api, saved_games: SavedGames, variant: str) -> None:
    table = saved_games.at(variant, "early").table
    for viewer in viewers(table):
        assert api.view(table, viewer).get("you", {}).get("seat") == viewer


@pytest.mark.parametrize("seats", [("Ada", "Bo", "Cy"), ("Ada", None, None)])
@pytest.mark.parametrize("clock", [{"turn": 60}, {"bank": 60, "increment": 5}])
def test_nobody_may_move_and_no_time_runs_before_the_first_deal(
    api: Api, seats: tuple[str | None, ...], clock: Json
) -> None:
    players = [{"name": name} if name else {"open": True} for name in seats]
    body = {"variant": "domino", "players": players, "clock": clock}
    created: Any = api.post("/v1/games", body).json
    path, token = f"/v1/games/{created['game']['id']}", created["seats"][0]["token"]
    for name, seat in zip("xy", [seat for seat, each in enumerate(seats) if each is None], strict=False):
        joined: Any = api.post(f"{path}/players", {"join_code": created["join_code"], "name": name}).json
        assert joined["seat"] == seat
    events: Any = api.get(f"{path}/events", token=token).json["events"]  # type: ignore[index]
    dealt = [each["type"] for each in events].index("dealt")
    assert [each["to_act"] for each in events[:dealt]] == [[]] * dealt
    assert events[dealt]["to_act"]
    for version in range(dealt + 1):
        past: Any = api.get(f"{path}/events?view=true&limit=1&after={version}", token=token).json
        view = past["game"]
        if version < dealt:
            assert (view["status"], view["to_act"], view["legal_moves"]) == ("waiting", [], [])
            assert "deadline" not in view.get("deal", {})
            assert "turn" not in view or "deadline" not in view["turn"]
    assert "deadline" in past["game"]["turn"]
