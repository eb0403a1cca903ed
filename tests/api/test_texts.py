"""``text=true``: sentences for people in views, in pages of events and in streams, in the language of the request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from secrets import token_bytes
from typing import Any

import pytest

from service.backends.facade import BackendsFacade
from service.engine.variants import variants
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from tests.api.client import Api, Table, invalid_fields, viewers
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.followers import LINES, SSE, Event, events_in, make_move, rest_of_stream, stream
from tests.api.saved_games import SEED, SavedGames, one_open_seat, shortest
from tests.api.timed import TimedApi
from tests.support.table import Json

GERMAN = {"Accept-Language": "de-AT, de;q=0.9, en;q=0.5"}
ENGLISH = {"Accept-Language": "en"}


@pytest.fixture
def table(saved_games: SavedGames) -> Table:
    """A match of three in its first round."""
    return saved_games.at("domino", "early").table


def ask(api: Api, table: Table, path: str, seat: int | None = None, **headers: str) -> Any:
    """The answer to a request of this seat."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.get(table.path + path, token=None if seat is None else table.tokens[seat], headers=named)


# Views


@pytest.mark.parametrize("stage", ["dealt", "early", "late", "finished"])
def test_a_view_has_a_sentence_where_it_is_asked_for(api: Api, saved_games: SavedGames, stage: str) -> None:
    table = saved_games.at("domino", stage).table
    for seat in viewers(table):
        plain = ask(api, table, "", seat)
        for language, headers in (("en", {}), ("en", ENGLISH), ("de", GERMAN)):
            answer = ask(api, table, "?text=true", seat, **headers)
            assert answer.headers["Content-Language"] == language
            assert "Accept-Language" in answer.headers["Vary"]
            shown = answer.json
            assert shown.pop("text").endswith(".")
            assert shown == plain.json
        assert "Content-Language" not in plain.headers


def test_a_view_without_a_sentence_is_the_same_bytes_as_ever(api: Api, table: Table) -> None:
    plain = ask(api, table, "", 0)
    for path in ("?text=false", "?after=0"):
        answer = ask(api, table, path, 0, **GERMAN)
        assert (answer.data, answer.headers["ETag"]) == (plain.data, plain.headers["ETag"])
        assert b'"text"' not in answer.data
        assert "Content-Language" not in answer.headers


def test_the_viewer_is_told_what_is_possible_and_the_others_whose_turn_it_is(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"name": "Bo"}], seed=SEED)
    turn = table.view()["turn"]["seat"]
    name, other = ("Ada", "Bo")[turn], 1 - turn
    assert ask(api, table, "?text=true", turn).json["text"].startswith("Your turn. You open with ")
    assert ask(api, table, "?text=true", turn, **GERMAN).json["text"].startswith("Du bist dran. Du eröffnest mit ")
    assert ask(api, table, "?text=true", other).json["text"] == f"It is {name}'s turn."
    assert ask(api, table, "?text=true", None, **GERMAN).json["text"] == f"{name} ist dran."


def test_a_game_that_waits_for_players_says_so(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}], seed=SEED)
    assert ask(api, table, "?text=true", 0).json["text"] == "Waiting for one more player."


@pytest.mark.parametrize(("language", "waits"), [("en", "Waiting for one"), ("de", "Es fehlt noch ein")])
def test_a_view_in_the_answer_to_a_change_has_the_sentence_of_a_get(
    store: RedisStore, feed: RedisEventFeed, backends: BackendsFacade, app_key: str, language: str, waits: str
) -> None:
    api, asked = TimedApi(store, feed, SECRET, TTL_SECONDS, token_bytes, backends), {"Accept-Language": language}

    def change(method: str, path: str, body: Json, token: str | None) -> tuple[Any, Any]:
        """The answer to a change, and the view in it, which is that of a GET."""
        answer = api.ask(method, f"{path}?text=true", json=body, token=token, headers=asked)
        assert answer.status_code in (200, 201), answer.text
        assert answer.headers["Content-Language"] == language
        told: Any = answer.json
        view = told.get("game", told)
        got = api.get(f"/v1/games/{view['id']}?text=true", token=told.get("token", token), headers=asked)
        assert view == got.json
        if "ETag" in answer.headers:
            assert answer.headers["ETag"] == got.headers["ETag"]
        return told, view

    players = [{"name": "Ada"}, {"open": True}]
    clock = {"clock": {"turn": 60}, "absence": {"then": "claim"}}
    body = {"variant": "domino", "players": players, "seed": SEED, **clock}
    created, view = change("POST", "/v1/games", body, app_key)
    assert view["text"].startswith(waits)
    path, code, tokens = f"/v1/games/{view['id']}", created["join_code"], {0: created["seats"][0]["token"]}
    joined, view = change("POST", f"{path}/players", {"name": "Bo", "join_code": code}, None)
    tokens[1] = joined["token"]
    change("PATCH", f"{path}/players/1", {"name": "Cleo"}, app_key)
    (turn,) = view["to_act"]
    change("PUT", f"{path}/players/{turn}/presence", {"away": True}, tokens[turn])
    change("PUT", f"{path}/players/{turn}/presence", {"away": False}, app_key)
    api.clock.now += 70_000
    change("POST", f"{path}/claims", {"seat": turn}, tokens[1 - turn])
    move = api.get(path, token=tokens[turn]).json["legal_moves"][0]  # type: ignore[index]
    change("POST", f"{path}/moves", {name: move[name] for name in ("action", "tile") if name in move}, tokens[turn])


def test_a_rematch_has_the_sentence_of_a_get_and_again_when_it_is_repeated(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "finished").table
    for language in ("en", "de", "en"):
        asked = {"Accept-Language": language}
        answer = api.post(f"{table.path}/rematch?text=true", token=table.tokens[0], headers=asked)
        told: Any = answer.json
        assert (answer.status_code, answer.headers["Content-Language"]) == (201, language)
        got = api.get(f"/v1/games/{told['game']['id']}?text=true", token=told["token"], headers=asked)
        assert told["game"] == got.json


def test_a_change_that_asks_for_no_sentence_has_none(api: Api) -> None:
    table = api.create("domino", 2, seed=SEED)
    (turn,) = table.view()["to_act"]
    answer = api.put(f"{table.path}/players/{turn}/presence?text=false", {"away": True}, token=table.tokens[turn])
    assert "text" not in answer.get_json()
    assert "Content-Language" not in answer.headers
    wrong = api.put(f"{table.path}/players/{turn}/presence?text=1", {"away": False}, token=table.tokens[turn])
    assert invalid_fields(wrong) == ["text"]


def test_each_language_has_an_etag_of_its_own(api: Api, table: Table) -> None:
    etags = [
        ask(api, table, path, 1, **headers).headers["ETag"]
        for path, headers in (("", {}), ("?text=true", ENGLISH), ("?text=true", GERMAN))
    ]
    assert len(set(etags)) == 3
    for number, (path, headers) in enumerate((("", {}), ("?text=true", ENGLISH), ("?text=true", GERMAN))):
        for known, etag in enumerate(etags):
            answer = ask(api, table, path, 1, **headers, If_None_Match=etag)
            assert answer.status_code == (304 if known == number else 200)
            assert answer.headers["ETag"] == etags[number]
    # The moves and the score have no sentence, so they are not what a view with one was.
    assert ask(api, table, "/moves", 1, If_None_Match=etags[2]).status_code == 200


@pytest.mark.parametrize("headers", [ENGLISH, GERMAN])
def test_a_move_may_be_made_on_a_view_with_a_sentence(api: Api, headers: dict[str, str]) -> None:
    table = api.create("domino", 2, seed=SEED)
    for _ in range(3):
        seat = table.to_move()
        etag = ask(api, table, "?text=true", seat, **headers).headers["ETag"]
        assert etag.strip('"').endswith(headers["Accept-Language"][:2])
        (move, *_) = table.moves(seat)
        stale = etag.replace(f'"{table.view()["version"]}-', f'"{table.view()["version"] - 1}-')
        other_seat = ask(api, table, "?text=true", 1 - seat, **headers).headers["ETag"]
        for wrong in (stale, other_seat, '"-en"', '"en"', etag.replace('-en"', '-it"').replace('-de"', '-it"')):
            assert table.move(seat, move, If_Match=wrong).status_code == 412
        assert table.move(seat, move, If_Match=etag).status_code == 201


def test_a_long_poll_answers_with_a_sentence(api: Api, table: Table) -> None:
    version = table.view()["version"]
    answer = ask(api, table, f"?after={version - 1}&wait=25&text=true", 0, **GERMAN)
    state = ask(api, table, "?text=true", 0, **GERMAN).json["text"]
    assert (answer.json["text"], answer.headers["Content-Language"]) == (state, "de")


@pytest.mark.parametrize("path", ["?text=yes", "?text=", "?text=1", "/events?text=TRUE"])
def test_text_is_true_or_false(api: Api, table: Table, path: str) -> None:
    assert invalid_fields(ask(api, table, path)) == ["text"]


def test_nothing_else_has_sentences_yet(api: Api, table: Table) -> None:
    for path in ("/moves?text=true", "/score?text=true"):
        assert ask(api, table, path).status_code == 422


# Pages of events


def told(items: list[Event]) -> list[str]:
    return [item["text"] for item in items]


def without_text(items: list[Event]) -> list[Event]:
    return [{name: value for name, value in item.items() if name != "text"} for item in items]


def all_events(api: Api, table: Table, seat: int | None, **headers: str) -> list[Event]:
    events: list[Event] = ask(api, table, "/events?limit=1000&text=true", seat, **headers).json["events"]
    return events


@pytest.mark.parametrize("variant", variants())
def test_every_event_of_a_page_has_a_sentence(api: Api, saved_games: SavedGames, variant: str) -> None:
    table = saved_games.at(variant, "finished").table
    for seat in (None, 0):
        plain = ask(api, table, "/events?limit=1000", seat)
        assert "Content-Language" not in plain.headers
        for language, headers in (("en", ENGLISH), ("de", GERMAN)):
            answer = ask(api, table, "/events?limit=1000&text=true", seat, **headers)
            assert answer.headers["Content-Language"] == language
            assert all(text.endswith(".") and len(text) <= 140 for text in told(answer.json["events"]))
            assert without_text(answer.json["events"]) == plain.json["events"]


@pytest.mark.parametrize("variant", variants())
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_page_from_anywhere_tells_the_same_as_all(
    api: Api, saved_games: SavedGames, variant: str, limit: int
) -> None:
    table = saved_games.at(variant, "finished").table
    whole = all_events(api, table, 1)
    step = max(limit, len(whole) // 40)
    for after in range(0, len(whole), step):
        events = ask(api, table, f"/events?after={after}&limit={limit}&text=true", 1).json["events"]
        assert told(events) == told(whole[after : after + limit])


def test_a_fork_in_the_middle_of_a_round_tells_its_plays(api: Api, saved_games: SavedGames) -> None:
    finished = saved_games.at("domino", "finished").table
    record = finished.record()
    version = ask(api, finished, "").json["version"] // 3
    people = [{"name": f"P{seat}"} for seat in range(len(finished.view()["players"]))]
    for at in range(version, version + 10):
        created = api.post("/v1/games", {"continues": {"record": record, "version": at}, "players": people})
        if created.json is not None and created.status_code == 201:
            break
    fork = Table(api, created.get_json())
    whole = all_events(api, fork, None)
    reached = len(whole)
    fork.make_legal_move()
    (told_alone, *_) = told(ask(api, fork, f"/events?after={reached}&text=true").json["events"])
    assert told_alone == told(all_events(api, fork, None))[reached]


def test_a_reset_is_told_as_the_state_of_the_game(api: Api, table: Table) -> None:
    version = table.view()["version"]
    (reset,) = ask(api, table, f"/events?after={version + 1}&text=true", 0, **GERMAN).json["events"]
    state = ask(api, table, "?text=true", 0, **GERMAN).json["text"]
    assert (reset["type"], reset["text"], reset["data"]["view"]["text"]) == ("reset", state, state)


def test_the_view_of_a_page_has_a_sentence_too(api: Api, table: Table) -> None:
    shown = ask(api, table, "/events?after=3&view=true&text=true", 0, **GERMAN).json
    assert shown["game"] == ask(api, table, "?text=true", 0, **GERMAN).json
    assert "text" not in ask(api, table, "/events?view=true", 0).json["game"]


# Streams


@pytest.mark.parametrize("kind", [SSE, LINES])
@pytest.mark.parametrize("query", ["?text=true", "?text=true&view=true"])
def test_a_stream_tells_the_same_as_a_page(api: Api, saved_games: SavedGames, kind: dict[str, str], query: str) -> None:
    table = saved_games.at("fido", "finished").table
    for headers in (ENGLISH, GERMAN):
        whole = all_events(api, table, 0, **headers)
        for after in (0, len(whole) // 2):
            answer = stream(api, table, 0, f"{query}&after={after}", headers={**kind, **headers})
            assert answer.headers["Content-Language"] == headers["Accept-Language"][:2]
            sent = rest_of_stream(answer)
            items = events_in(sent) if kind is SSE else [json.loads(line) for line in sent.splitlines() if line]
            assert told([item for item in items if item["type"] != "view"]) == told(whole[after:])
            shown = [item["game"] for item in items if item["type"] == "view"]
            assert shown == ([ask(api, table, "?text=true", 0, **headers).json] if "view" in query else [])


def test_a_stream_of_a_running_game_tells_each_move(api: Api) -> None:
    table = api.create("dominospiel", one_open_seat("dominospiel"), seed=SEED, options=shortest("dominospiel"))
    version = table.view()["version"]
    with closing(stream(api, table, None, f"?text=true&view=true&after={version}", headers={**SSE, **GERMAN})) as it:
        chunks = it.iter_encoded()
        api.take_seat(table)
        for _ in range(6):
            make_move(api, table)
        items = until(chunks, table.view()["version"])
    events = [item for item in items if item["type"] != "view"]
    assert told(events) == told(all_events(api, table, None, **GERMAN)[version:])


def until(chunks: Iterator[bytes], version: int) -> list[Event]:
    """The items of a stream up to the view at this version."""
    items: list[Event] = []
    for _ in range(1000):
        items += events_in(next(chunks))
        if items and (items[-1]["type"], items[-1]["version"]) == ("view", version):
            return items
    raise AssertionError("it never came")


def test_a_stream_asked_for_by_head_says_its_language(api: Api, table: Table) -> None:
    assert api.head(f"{table.path}/events?text=true", headers={**SSE, **GERMAN}).headers["Content-Language"] == "de"


@pytest.mark.parametrize("name", ["{seat}", "<b>Bo</b>&amp;", "Bo\\u0022", "مريم", "%(name)s"])
def test_a_name_is_plain_text_in_a_sentence(api: Api, name: str) -> None:
    table = api.create("domino", [{"name": name}, {"open": True}], seed=SEED)
    api.post(f"{table.path}/players", {"name": name, "join_code": table.join_code})
    (event,) = [each for each in all_events(api, table, None) if each["type"] == "joined"]
    assert event["text"] == f"{name} joined the game."
