"""The lists of games over HTTP: those of an application, and the lobby."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from service.apps.listing import LOBBY_SECONDS, Listing
from service.apps.ports import LobbyEntry
from service.engine.tiles import TILES
from tests.api.client import Api, Table, status_and_code
from tests.support.stores.memory_index import MemoryLobby

Tell = Callable[[], None]
SEATS = ({"name": "Ada", "ref": "user-ada"}, {"name": "Bob", "ref": "user-bob"})


def create(api: Api, key: str | None, players: Any = SEATS, **more: Any) -> Table:
    """A new game, whose time differs from those of all earlier ones by a millisecond or more."""
    time.sleep(0.002)
    answer = api.post("/v1/games", {"variant": "domino", "players": list(players), **more}, token=key)
    assert answer.status_code == 201, answer.text
    return Table(api, answer.get_json())


def listed(api: Api, key: str, query: str = "") -> list[str]:
    """The ids of the games of a page."""
    return [game["id"] for game in page(api, key, query)["games"]]


def page(api: Api, key: str, query: str = "") -> Any:
    answer = api.get(f"/v1/games?{query}" if query else "/v1/games", token=key)
    assert answer.status_code == 200, answer.text
    return answer.get_json()


def test_an_application_lists_its_games_newest_first(api: Api, app_key: str, tell: Tell) -> None:
    assert page(api, app_key) == {"games": []}
    tables = [create(api, app_key) for _ in range(3)]
    api.create("domino", 2)
    tables[0].make_legal_move()
    tell()
    assert listed(api, app_key) == [tables[0].id, tables[2].id, tables[1].id]


def test_a_listed_game_is_what_its_view_says(api: Api, app_key: str, tell: Tell) -> None:
    table = create(api, app_key, ref="match-1", clock={"turn": 60})
    table.make_legal_move()
    tell()
    (game,) = page(api, app_key)["games"]
    view = api.get(table.path, token=app_key).get_json()
    for name in ("id", "ref", "variant", "status", "version", "round", "to_act", "winners", "updated_at", "expires_at"):
        assert game[name] == view[name], name
    assert game["deadline"] == view["turn"]["deadline"]
    for player, seen in zip(game["players"], view["players"], strict=True):
        assert player == {name: seen[name] for name in ("seat", "name", "ref", "kind", "total", "in")}


def test_games_are_filtered_by_each_parameter(api: Api, app_key: str, tell: Tell) -> None:
    first = create(api, app_key, ref="one")
    second = create(api, app_key, [{"name": "Ada", "ref": "user-ada"}, {"open": True}], ref="two")
    third = create(api, app_key, [{"name": "Cleo", "ref": "user-cleo"}, *[{"bot": "greedy"}] * 2], variant="fido")
    tell()
    one, two, three = first.id, second.id, third.id
    assert listed(api, app_key, "ref=one") == [one]
    assert listed(api, app_key, "player_ref=user-ada") == [two, one]
    assert listed(api, app_key, "player_ref=user-ada&ref=two") == [two]
    assert listed(api, app_key, "status=waiting") == [two]
    assert listed(api, app_key, "status=waiting,finished") == [two]
    assert listed(api, app_key, "status=waiting,playing") == [three, two, one]
    assert listed(api, app_key, "variant=fido") == [three]
    assert listed(api, app_key, "player_ref=user-ada&variant=fido") == []
    assert listed(api, app_key, "to_act=false") == [three, two, one]
    seen = page(api, app_key, "ref=two")["games"][0]["updated_at"]
    assert listed(api, app_key, f"updated_after={seen}") == [three]
    assert listed(api, app_key, f"updated_after={datetime.fromisoformat(seen):%Y-%m-%dT%H:%M:%S}%2B02:00") == [
        three,
        two,
        one,
    ]


def test_the_games_that_wait_for_a_person_come_most_urgent_first(api: Api, app_key: str, tell: Tell) -> None:
    both = [{"name": "Ada", "ref": "user-ada"}, {"name": "Ada too", "ref": "user-ada"}]
    patient = create(api, app_key, both)
    late, soon = create(api, app_key, both, clock={"turn": 900}), create(api, app_key, both, clock={"turn": 60})
    waiting = create(api, app_key, [*both[:1], {"open": True}])
    tell()
    order = [soon.id, late.id, patient.id]
    assert listed(api, app_key, "player_ref=user-ada&to_act=true") == order
    assert waiting.id in listed(api, app_key, "player_ref=user-ada")


def test_whoever_has_moved_is_no_longer_waited_for(api: Api, app_key: str, tell: Tell) -> None:
    table = create(api, app_key)
    tell()
    for _ in range(6):
        for ref, seat in (("user-ada", 0), ("user-bob", 1)):
            waits = listed(api, app_key, f"player_ref={ref}&to_act=true") == [table.id]
            assert waits == (seat in table.view()["to_act"])
        table.make_legal_move()
        tell()


def test_pages_lead_to_each_other(api: Api, app_key: str, tell: Tell) -> None:
    games = {create(api, app_key).id for _ in range(7)}
    tell()
    found: list[str] = []
    query = "limit=3"
    for _ in range(3):
        answer = page(api, app_key, query)
        found += [game["id"] for game in answer["games"]]
        query = f"limit=3&cursor={answer.get('next')}"
    assert "next" not in answer
    assert len(found) == 7
    assert set(found) == games


def test_no_application_sees_anything_of_another(api: Api, app_key: str, other_key: str, tell: Tell) -> None:
    table = create(api, app_key, ref="match-1")
    tell()
    cursor_page = page(api, app_key, "limit=1")
    for query in ("", "ref=match-1", "player_ref=user-ada", "player_ref=user-ada&to_act=true"):
        assert page(api, other_key, query) == {"games": []}
    assert listed(api, app_key) == [table.id]
    assert "next" not in cursor_page


def test_no_tile_and_no_secret_is_listed(api: Api, app_key: str, tell: Tell) -> None:
    table = create(api, app_key)
    for _ in range(8):
        table.make_legal_move()
    tell()
    text = api.get("/v1/games", token=app_key).text
    assert not any(f'"{tile.name}"' in text for tile in TILES)
    assert not any(token in text for token in table.tokens.values())


def test_a_deleted_game_is_not_listed(api: Api, app_key: str, tell: Tell) -> None:
    table, other = create(api, app_key, ref="match-1"), create(api, app_key)
    tell()
    assert api.delete(table.path, token=app_key).status_code == 204
    tell()
    assert listed(api, app_key) == listed(api, app_key, "player_ref=user-ada") == [other.id]


@pytest.mark.parametrize(
    ("query", "name", "reason"),
    [
        ("to_act=true", "to_act", "needs_player_ref"),
        ("to_act=1", "to_act", "not_a_boolean"),
        ("player_ref=", "player_ref", "length"),
        (f"player_ref={'x' * 65}", "player_ref", "length"),
        ("ref=a%20b", "ref", "not_visible"),
        ("status=paused", "status", "not_one_of"),
        ("status=", "status", "not_one_of"),
        ("status=waiting,", "status", "not_one_of"),
        ("status=waiting,%20playing", "status", "not_one_of"),
        ("status=waiting,paused", "status", "not_one_of"),
        ("status=waiting,playing,waiting", "status", None),
        ("status=waiting&status=playing", "status", "given_twice"),
        ("limit=5&limit=5", "limit", "given_twice"),
        ("variant=chess", "variant", "not_one_of"),
        ("limit=0", "limit", "out_of_range"),
        ("limit=201", "limit", "out_of_range"),
        ("limit=many", "limit", "not_an_integer"),
        ("cursor=next", "cursor", "not_a_cursor"),
        ("cursor=", "cursor", "length"),
        ("updated_after=yesterday", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:61Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T24:00:00Z", "updated_after", "not_a_time"),
        ("updated_after=2026-02-29T19:30:00Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19Z", "updated_after", "not_a_time"),
        ("updated_after=20260106T193000Z", "updated_after", "not_a_time"),
        ("updated_after=2026-W02-2T19:30:00Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06%2019:30:00Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00,5Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00.Z", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00%2B01", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00%2B0100", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00%2B01:00:30", "updated_after", "not_a_time"),
        ("updated_after=2026-01-06T19:30:00%2B24:00", "updated_after", "not_a_time"),
        ("updated_after=%D9%A2026-01-06T19:30:00Z", "updated_after", "not_a_time"),
        ("updated_after=0001-01-01T00:00:00%2B14:00", "updated_after", None),
        ("updated_after=2026-01-06t19:30:00z", "updated_after", None),
        ("updated_after=2026-01-06T19:30:00-00:00", "updated_after", None),
        ("updated_after=2026-01-06T19:30:00.123456789-23:59", "updated_after", None),
        ("player=user-ada", "player", "unknown_parameter"),
    ],
)
def test_a_wrong_query_is_refused(api: Api, app_key: str, query: str, name: str, reason: str | None) -> None:
    answer = api.get(f"/v1/games?{query}", token=app_key)
    if reason is None:
        assert answer.status_code == 200
        return
    assert status_and_code(answer) == (422, "invalid")
    assert answer.get_json()["reason"] == reason, answer.text
    assert name in answer.get_json()["errors"]


def test_games_are_listed_for_applications_only(api: Api, app_key: str) -> None:
    table = create(api, app_key)
    for token in (None, table.tokens[0], app_key[:-1]):
        assert status_and_code(api.get("/v1/games", token=token)) == (401, "unauthorized")


# The lobby


def lobby(api: Api, query: str = "") -> dict[str, Any]:
    """The public games by their ids."""
    return {game["id"]: game for game in api.get(f"/v1/lobby{query}").get_json()["games"]}


def test_a_public_game_is_in_the_lobby_until_its_seats_are_taken(api: Api, app_key: str, tell: Tell) -> None:
    seats = [{"name": "Ada", "ref": "user-ada"}, {"open": True}, {"bot": "greedy"}]
    table = create(api, app_key, seats, public=True, ref="match-1")
    tell()
    shown = lobby(api)[table.id]
    assert shown["players"] == [
        {"seat": 0, "kind": "human", "name": "Ada"},
        {"seat": 1, "kind": "open"},
        {"seat": 2, "kind": "bot", "name": "Greedy", "bot": "greedy"},
    ]
    assert table.id in lobby(api, "?variant=domino")
    assert table.id not in lobby(api, "?variant=fido")
    text = api.get("/v1/lobby").text
    assert "user-ada" not in text
    assert "match-1" not in text
    joined = api.post(f"{table.path}/players", {"name": "Bob", "join_code": shown["join_code"]})
    assert joined.status_code == 201
    tell()
    assert table.id not in lobby(api)


def test_a_game_that_is_not_public_is_not_in_the_lobby(api: Api, app_key: str, tell: Tell) -> None:
    table = create(api, app_key, [{"name": "Ada"}, {"open": True}])
    nobodys = api.post("/v1/games", {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}).get_json()
    tell()
    assert not {table.id, nobodys["game"]["id"]} & set(lobby(api))


def test_a_deleted_game_leaves_the_lobby(api: Api, app_key: str, tell: Tell) -> None:
    table = create(api, app_key, [{"name": "Ada"}, {"open": True}], public=True)
    tell()
    assert table.id in lobby(api)
    api.delete(table.path, token=app_key)
    tell()
    assert table.id not in lobby(api)


def test_the_lobby_can_be_revalidated(api: Api) -> None:
    answer = api.get("/v1/lobby")
    assert answer.headers["Cache-Control"] == "public, no-cache"
    again = api.get("/v1/lobby", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(("query", "reason"), [("?variant=chess", "not_one_of"), ("?limit=5", "unknown_parameter")])
def test_a_wrong_query_of_the_lobby_is_refused(api: Api, query: str, reason: str) -> None:
    answer = api.get(f"/v1/lobby{query}")
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (422, "invalid", reason)


def test_the_lobby_is_read_once_a_second_and_dropped_with_a_deleted_game() -> None:
    now, shown = 0.0, MemoryLobby(lambda: 0.0)
    listing = Listing(None, shown, elapsed=lambda: now)
    assert listing.public_games(None) == []
    shown.put(LobbyEntry("game", 1, "domino", 1, b"{}"))
    assert listing.public_games(None) == []
    now = LOBBY_SECONDS
    assert listing.public_games(None) == [b"{}"]
    shown.put(LobbyEntry("game", 2, "domino", 1, None))
    assert listing.public_games(None) == [b"{}"]
    listing.forget(("game",))
    assert listing.public_games(None) == []
