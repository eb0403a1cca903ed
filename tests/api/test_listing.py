"""The lists of games over HTTP: those of an application, and the lobby."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import redis

from service.backends.facade import BackendsFacade
from service.backends.index.listing import LOBBY_SECONDS, Listing
from service.backends.index.store import MAX_FOR_ALL, encode_cursor
from service.backends.values import LobbyEntry, LobbyQuery
from service.engine.tiles import TILES
from service.games.facade import GamesFacade
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, Table, causes_of, status_and_code, told
from tests.api.conftest import TTL_SECONDS
from tests.api.redis_contents import keys_with
from tests.support.application import build_backends, create_app, rate_limits
from tests.support.stores.stored_index import StoredIndex

Publish = Callable[[], None]
SEATS = ({"name": "Ada", "ref": "user-ada"}, {"name": "Bob", "ref": "user-bob"})


def create(api: Api, key: str | None, players: Any = SEATS, *, variant: str = "domino", **more: Any) -> Table:
    """A new game, whose time differs from those of all earlier ones by a millisecond or more."""
    time.sleep(0.002)
    return api.create(variant, players, key=key, **more)


def listed(api: Api, key: str, query: str = "") -> list[str]:
    """The ids of the games of a page."""
    return [game["id"] for game in page(api, key, query)["games"]]


def page(api: Api, key: str, query: str = "") -> Any:
    return told(api.get(f"/v1/games?{query}" if query else "/v1/games", token=key))


def test_an_application_lists_its_games_newest_first(api: Api, app_key: str, publish: Publish) -> None:
    assert page(api, app_key) == {"games": []}
    tables = [create(api, app_key) for _ in range(3)]
    api.create("domino", 2)
    tables[0].make_legal_move()
    publish()
    assert listed(api, app_key) == [tables[0].id, tables[2].id, tables[1].id]


def test_a_listed_game_is_what_its_view_says(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, ref="match-1", clock={"turn": 60})
    table.make_legal_move()
    away = 1 - table.view()["to_act"][0]
    api.put(f"{table.path}/players/{away}/presence", {"away": True}, token=app_key)
    publish()
    (game,) = page(api, app_key)["games"]
    view = api.get(table.path, token=app_key).get_json()
    names = ("id", "ref", "variant", "status", "version", "round", "to_act", "winners")
    for name in (*names, "created_at", "updated_at", "expires_at"):
        assert game[name] == view[name], name
    assert game["deadline"] == view["turn"]["deadline"]
    told = ("seat", "name", "ref", "kind", "total", "active", "away")
    assert game["players"] == [{name: seen[name] for name in told if name in seen} for seen in view["players"]]
    assert game["players"][away]["away"] is True


def test_games_are_filtered_by_each_parameter(api: Api, app_key: str, publish: Publish) -> None:
    one = create(api, app_key, ref="one").id
    two = create(api, app_key, [{"name": "Ada", "ref": "user-ada"}, {"open": True}], ref="two").id
    three = create(api, app_key, [{"name": "Cleo", "ref": "c"}, *[{"bot": "greedy"}] * 2], variant="fido").id
    publish()
    seen = page(api, app_key, "ref=two")["games"][0]["updated_at"]
    elsewhere = f"{datetime.fromisoformat(seen):%Y-%m-%dT%H:%M:%S}%2B02:00"
    for query, found in {
        "ref=one": [one],
        "player_ref=user-ada": [two, one],
        "player_ref=user-ada&ref=two": [two],
        "status=waiting": [two],
        "status=waiting,finished": [two],
        "status=waiting,playing": [three, two, one],
        "variant=fido": [three],
        "player_ref=user-ada&variant=fido": [],
        "to_act=false": [three, two, one],
        f"updated_after={seen}": [three],
        f"updated_after={elsewhere}": [three, two, one],
    }.items():
        assert listed(api, app_key, query) == found, query


def test_the_games_that_wait_for_a_person_come_most_urgent_first(api: Api, app_key: str, publish: Publish) -> None:
    both = [{"name": "Ada", "ref": "user-ada"}, {"name": "Ada too", "ref": "user-ada"}]
    patient = create(api, app_key, both)
    late, soon = create(api, app_key, both, clock={"turn": 900}), create(api, app_key, both, clock={"turn": 60})
    waiting = create(api, app_key, [*both[:1], {"open": True}])
    publish()
    order = [soon.id, late.id, patient.id]
    assert listed(api, app_key, "player_ref=user-ada&to_act=true") == order
    assert waiting.id in listed(api, app_key, "player_ref=user-ada")


def test_whoever_has_moved_is_no_longer_waited_for(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    publish()
    for _ in range(6):
        for ref, seat in (("user-ada", 0), ("user-bob", 1)):
            waits = listed(api, app_key, f"player_ref={ref}&to_act=true") == [table.id]
            assert waits == (seat in table.view()["to_act"])
        table.make_legal_move()
        publish()


def test_who_is_away_is_not_waited_for_until_the_return(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    (seat,) = table.view()["to_act"]
    ref = SEATS[seat]["ref"]
    for away in (True, False):
        api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=table.tokens[seat])
        publish()
        called = [] if away else [{"seat": seat, "ref": ref}]
        (game,) = page(api, app_key)["games"]
        *_, item = api.get("/v1/feed", token=app_key).get_json()["items"]
        assert game["to_act"] == item["to_act"] == [seat]
        assert game["waiting_for"] == item["waiting_for"] == called
        assert listed(api, app_key, f"player_ref={ref}&to_act=true") == ([] if away else [table.id])


def test_a_list_that_has_not_changed_is_not_sent_again(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    publish()
    first = api.get("/v1/games", token=app_key)
    known = {"If-None-Match": first.headers["ETag"]}
    again = api.get("/v1/games", token=app_key, headers=known)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert api.get("/v1/games?status=finished", token=app_key, headers=known).status_code == 200
    table.make_legal_move()
    publish()
    changed = api.get("/v1/games", token=app_key, headers=known)
    assert changed.status_code == 200
    assert changed.headers["ETag"] != first.headers["ETag"]


def pages(api: Api, path: str, key: str | None) -> list[list[str]]:
    """The ids of the games on each page, from the first to the last."""
    found: list[list[str]] = []
    cursor = ""
    for _ in range(100):
        answer = api.get(path + cursor, token=key).get_json()
        found.append([game["id"] for game in answer["games"]])
        if "next" not in answer:
            return found
        cursor = f"&cursor={answer['next']}"
    raise AssertionError("the pages do not end")


def test_pages_lead_to_each_other(api: Api, app_key: str, publish: Publish) -> None:
    newest = [create(api, app_key).id for _ in range(7)][::-1]
    publish()
    assert pages(api, "/v1/games?limit=3", app_key) == [newest[:3], newest[3:6], newest[6:]]


def test_no_application_sees_anything_of_another(api: Api, app_key: str, other_key: str, publish: Publish) -> None:
    table = create(api, app_key, ref="match-1")
    publish()
    cursor_page = page(api, app_key, "limit=1")
    for query in ("", "ref=match-1", "player_ref=user-ada", "player_ref=user-ada&to_act=true"):
        assert page(api, other_key, query) == {"games": []}
    assert listed(api, app_key) == [table.id]
    assert "next" not in cursor_page


def test_no_tile_and_no_secret_is_listed(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    for _ in range(8):
        table.make_legal_move()
    publish()
    text = api.get("/v1/games", token=app_key).text
    assert not any(f'"{tile.name}"' in text for tile in TILES)
    assert not any(token in text for token in table.tokens.values())


def test_a_deleted_game_is_not_listed(api: Api, app_key: str, publish: Publish) -> None:
    table, other = create(api, app_key, ref="match-1"), create(api, app_key)
    publish()
    assert api.delete(table.path, token=app_key).status_code == 204
    publish()
    assert listed(api, app_key) == listed(api, app_key, "player_ref=user-ada") == [other.id]


NO_TIMES = (
    *("yesterday", "2026-01-06", "2026-01-06T19:30:00", "2026-01-06T19:30:61Z", "2026-01-06T24:00:00Z"),
    *("2026-02-29T19:30:00Z", "2026-01-06T19:30Z", "2026-01-06T19Z", "20260106T193000Z", "2026-W02-2T19:30:00Z"),
    *("2026-01-06%2019:30:00Z", "2026-01-06T19:30:00,5Z", "2026-01-06T19:30:00.Z", "2026-01-06T19:30:00%2B01"),
    *("2026-01-06T19:30:00%2B0100", "2026-01-06T19:30:00%2B01:00:30", "2026-01-06T19:30:00%2B24:00"),
    "%D9%A2026-01-06T19:30:00Z",
)
WRONG_QUERIES = {
    "needs_player_ref": ["to_act=true"],
    "not_a_boolean": ["to_act=1"],
    "length": ["player_ref=", f"player_ref={'x' * 65}", "cursor="],
    "not_visible": ["ref=a%20b"],
    "not_one_of": [
        *("status=paused", "status=", "status=waiting,", "status=waiting,%20playing", "status=waiting,paused"),
        "variant=chess",
    ],
    "out_of_range": ["limit=0", "limit=201"],
    "not_a_cursor": ["cursor=next"],
    "not_a_time": [f"updated_after={time}" for time in NO_TIMES],
}


@pytest.mark.parametrize(
    ("reason", "query"), [(reason, query) for reason, queries in WRONG_QUERIES.items() for query in queries]
)
def test_a_wrong_query_is_refused(api: Api, app_key: str, query: str, reason: str) -> None:
    assert causes_of(api.get(f"/v1/games?{query}", token=app_key)) == [(query.partition("=")[0], reason)]


@pytest.mark.parametrize(
    "query",
    [
        "status=waiting,playing,waiting",
        *("updated_after=0001-01-01T00:00:00%2B14:00", "updated_after=2026-01-06t19:30:00z"),
        *("updated_after=2026-01-06T19:30:00-00:00", "updated_after=2026-01-06T19:30:00.123456789-23:59"),
    ],
)
def test_an_odd_query_is_answered(api: Api, app_key: str, query: str) -> None:
    assert api.get(f"/v1/games?{query}", token=app_key).status_code == 200


def test_games_are_listed_for_applications_only(api: Api, app_key: str) -> None:
    table = create(api, app_key)
    for token in (None, table.tokens[0], app_key[:-1]):
        assert status_and_code(api.get("/v1/games", token=token)) == (401, "unauthorized")


# The lobbies


PEOPLE: list[dict[str, Any]] = [{"name": "Ada", "ref": "user-ada"}, {"open": True}]


def lobby(api: Api, query: str = "", key: str | None = None) -> dict[str, Any]:
    """The games of a lobby by their ids: of that for everybody, or with a key of that of its application."""
    answer = api.get(f"/v1/lobby{query}", token=key)
    assert answer.status_code == 200, answer.text
    return {game["id"]: game for game in answer.get_json()["games"]}


def test_a_public_game_is_in_the_lobby_until_its_seats_are_taken(api: Api, app_key: str, publish: Publish) -> None:
    seats = [{"name": "Ada", "ref": "user-ada"}, {"open": True, "ref": "user-bob"}, {"bot": "greedy"}]
    table = create(api, app_key, seats, lobby="all", ref="match-1")
    publish()
    shown = lobby(api)[table.id]
    assert shown["players"] == [
        {"seat": 0, "kind": "human", "name": "Ada"},
        {"seat": 1, "kind": "open"},
        {"seat": 2, "kind": "bot", "name": "Rosa", "bot": "greedy"},
    ]
    for key in (None, app_key):
        assert lobby(api, key=key)[table.id] == lobby(api, "?variant=domino", key)[table.id] == shown
        assert table.id not in lobby(api, "?variant=fido", key)
        text = api.get("/v1/lobby", token=key).text
        assert not [ref for ref in ("user-ada", "user-bob", "match-1") if ref in text]
    assert table.join_code == shown["join_code"]
    assert api.join(table).status_code == 201
    publish()
    assert table.id not in {*lobby(api), *lobby(api, key=app_key)}


@pytest.mark.parametrize("who", ["all", "app"])
def test_a_game_says_in_which_lobby_it_is(api: Api, app_key: str, other_key: str, publish: Publish, who: str) -> None:
    table = create(api, app_key, PEOPLE, lobby=who)
    publish()
    assert (table.id in lobby(api)) is (who != "app")
    assert table.id in lobby(api, key=app_key)
    assert table.id not in lobby(api, key=other_key)
    code = api.post(f"{table.path}/join-code", token=app_key).get_json()["join_code"]
    publish()
    assert lobby(api, key=app_key)[table.id]["join_code"] == code


def test_a_game_that_is_not_public_is_in_no_lobby(api: Api, app_key: str, publish: Publish) -> None:
    games = {create(api, app_key, PEOPLE).id, create(api, None, [{"name": "Ada"}, {"open": True}]).id}
    publish()
    assert not games & {*lobby(api), *lobby(api, key=app_key)}


@pytest.mark.parametrize("who", ["everybody", "", "true"])
def test_another_word_is_no_lobby(api: Api, app_key: str, who: str) -> None:
    assert causes_of(api.try_create("domino", PEOPLE, key=app_key, lobby=who)) == [("lobby", "not_one_of")]


@pytest.mark.parametrize("who", ["all", "app"])
def test_without_a_key_no_game_is_in_a_lobby(api: Api, who: str) -> None:
    assert causes_of(api.try_create("domino", [{"name": "Ada"}, {"open": True}], lobby=who)) == [("lobby", "needs_key")]


def test_a_deleted_game_leaves_the_lobbies(api: Api, app_key: str, publish: Publish, server: redis.Redis) -> None:
    tables = [create(api, app_key, PEOPLE, lobby=who) for who in ("all", "app")]
    publish()
    ids = {table.id for table in tables}
    assert ids <= lobby(api, key=app_key).keys()
    for table in tables:
        api.delete(table.path, token=app_key)
    publish()
    assert not ids & {*lobby(api), *lobby(api, key=app_key)}
    for table in tables:
        assert keys_with(server, str(table.join_code).encode()) == []


def test_one_application_does_not_fill_the_lobby(api: Api, app_key: str, other_key: str, publish: Publish) -> None:
    first = create(api, other_key, PEOPLE, lobby="all")
    tables = [create(api, app_key, PEOPLE, lobby="all") for _ in range(MAX_FOR_ALL + 2)]
    games = [table.id for table in tables]
    publish()
    shown = list(lobby(api))
    assert [game for game in shown if game in games] == games[:1:-1]
    assert first.id in shown
    assert list(lobby(api, key=app_key)) == games[::-1]
    api.join(tables[-1])
    publish()
    assert [game for game in lobby(api) if game in games] == games[-2:0:-1]


@pytest.mark.parametrize("with_key", [True, False])
def test_pages_of_a_lobby_lead_to_each_other(api: Api, app_key: str, publish: Publish, with_key: bool) -> None:
    games = [create(api, app_key, PEOPLE, lobby="all").id for _ in range(5)]
    publish()
    found = pages(api, "/v1/lobby?limit=2&variant=domino", app_key if with_key else None)
    assert all(len(ids) <= 2 for ids in found)
    shown = [game for ids in found for game in ids]
    assert len(shown) == len(set(shown))
    assert [game for game in shown if game in games] == games[::-1]


def test_caches_may_keep_the_public_lobby_but_none_of_an_application(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, PEOPLE, lobby="app")
    publish()
    tags = set()
    for key, caching in ((None, "public, no-cache"), (app_key, "private, no-cache")):
        answer = api.get("/v1/lobby", token=key)
        assert answer.headers["Cache-Control"] == caching
        assert "Authorization" in answer.headers["Vary"]
        tags.add(answer.headers["ETag"])
        again = api.get("/v1/lobby", token=key, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data, again.headers["Cache-Control"]) == (304, b"", caching)
    assert len(tags) == 2
    assert str(table.join_code) not in str(tags)


def test_a_wrong_key_gets_no_lobby_and_the_token_of_a_seat_that_for_everybody(api: Api, app_key: str) -> None:
    table = create(api, app_key)
    for key in ("app_", app_key[:-1], "something"):
        assert status_and_code(api.get("/v1/lobby", token=key)) == (401, "unauthorized")
    assert api.get("/v1/lobby", token=table.tokens[0]).data == api.get("/v1/lobby").data


def test_where_only_applications_create_games_all_read_the_lobby(games: GamesFacade, empty_server: redis.Redis) -> None:
    app = create_app(games, backends=build_backends(SingleNodeTopology(empty_server), needed_for_games=True))
    assert Api(app.test_client(use_cookies=False)).get("/v1/lobby").get_json() == {"games": []}


@pytest.mark.parametrize("query", ["variant=chess", "limit=0", "limit=201", "cursor=x"])
def test_a_wrong_query_of_a_lobby_is_refused(api: Api, app_key: str, query: str) -> None:
    field = query.partition("=")[0]
    reasons = {"variant": "not_one_of", "limit": "out_of_range", "cursor": "not_a_cursor"}
    for key in (None, app_key):
        assert causes_of(api.get(f"/v1/lobby?{query}", token=key)) == [(field, reasons[field])]


def test_the_first_page_of_the_lobby_is_read_once_a_second_and_dropped_with_its_game(empty_server: redis.Redis) -> None:
    now, stored = 0.0, StoredIndex(SingleNodeTopology(empty_server), TTL_SECONDS)
    listing = Listing(stored.index, stored.lobby, elapsed=lambda: now)
    first, entry = LobbyQuery(), LobbyEntry("game", "app", 1, "domino", 1, b"{}")
    assert listing.lobby(first) == ([], None)
    stored.lobby.put(entry)
    assert listing.lobby(first).games == []
    now = LOBBY_SECONDS
    assert listing.lobby(first).games == [b"{}"]
    stored.lobby.put(entry._replace(version=2, json=None))
    assert listing.lobby(first).games == [b"{}"]
    listing.forget(("game",))
    assert listing.lobby(first).games == []


@pytest.mark.parametrize("more", [{"app": "app"}, {"limit": 10}, {"cursor": encode_cursor(9, "z")}])
def test_other_pages_of_lobbies_are_read_each_time(more: dict[str, Any], empty_server: redis.Redis) -> None:
    stored = StoredIndex(SingleNodeTopology(empty_server), TTL_SECONDS)
    listing = Listing(stored.index, stored.lobby, elapsed=lambda: 0.0)
    assert listing.lobby(LobbyQuery(**more)).games == []
    stored.lobby.put(LobbyEntry("game", "app", 1, "domino", 1, b"{}"))
    assert listing.lobby(LobbyQuery(**more)).games == [b"{}"]


def test_pages_of_the_lobby_that_are_not_kept_count_as_reads_of_the_address(
    games: GamesFacade, backends: BackendsFacade, app_key: str
) -> None:
    app = create_app(games, backends=backends, limits=rate_limits(clock=lambda: 90.0, read=2))
    api = Api(app.test_client(use_cookies=False))
    for _ in range(2):
        assert api.get("/v1/lobby?limit=10").status_code == 200
    assert status_and_code(api.get("/v1/lobby?limit=10")) == (429, "rate_limited")
    assert (api.get("/v1/lobby").status_code, api.get("/v1/lobby?limit=10", token=app_key).status_code) == (200, 200)
