"""Events of a game: pages, long polls and streams, for every viewer."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Thread

import pytest
import redis
from werkzeug.middleware.proxy_fix import ProxyFix

from service.engine.events import Dealt, Drew
from service.engine.variants import variants
from service.games.facade import GamesFacade
from service.games.store.codec import decode_event
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import events_of
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.web.http.streams import KEEPALIVE_SECONDS, StreamLimits
from tests.api.client import Api, Table, errors_of, status_and_code, viewers
from tests.api.conftest import SECRET
from tests.api.followers import (
    LINES,
    PATIENCE,
    SSE,
    Event,
    Watched,
    events_in,
    everything,
    lines_in,
    make_move,
    page,
    read_events,
    rest_of_stream,
    stream,
)
from tests.api.saved_games import SEED, SavedGame, SavedGames, shortest
from tests.engine.table import COUNTING_ENDS, SCORING_PLAYS
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_store

pytestmark = pytest.mark.quick

DATA = {
    "created": set(),
    "joined": {"name"},
    "token_changed": set(),
    "dealt": {"round", "arranged"},
    "played": {"tile", "face_down"},
    "drew": set(),
    "passed": set(),
    "done": set(),
    "flipped": set(),
    "round_ended": {"number", "ended_by", "hands", "scores", "carried", "lines"},
    "eliminated": set(),
    "finished": {"winners"},
}
MORE_DATA = {
    "dealt": {"hand"},
    "played": {"end", "outer", "points", "ends_sum"},
    "drew": {"tile"},
    "round_ended": {"winner", "loser", "manche"},
}
WITHOUT_SEAT = {"created", "dealt", "round_ended", "finished"}


@pytest.fixture(params=variants())
def finished(request: pytest.FixtureRequest, saved_games: SavedGames) -> SavedGame:
    """A finished match of each variant."""
    return saved_games.at(request.param, "finished")


# Events


def test_every_event_of_a_match_has_its_version_and_the_fields_of_its_type(api: Api, finished: SavedGame) -> None:
    variant = api.view(finished.table)["variant"]
    for seat in viewers(finished.table):
        events = everything(api, finished.table, seat)
        assert [event["version"] for event in events] == list(range(1, finished.snapshot.version + 1))
        assert [event["type"] for event in events[:2]] == ["created", "dealt"]
        assert events[-1]["type"] == "finished"
        assert sorted(event["at"] for event in events) == [event["at"] for event in events]
        for event in events:
            kind, data = event["type"], event["data"]
            assert ("seat" in event) == (kind not in WITHOUT_SEAT), event
            assert DATA[kind] <= set(data) <= DATA[kind] | MORE_DATA.get(kind, set()), event
            if kind == "played":
                assert ("points" in data, "ends_sum" in data) == (variant in SCORING_PLAYS, variant in COUNTING_ENDS)
                assert ("outer" in data) == (variant == "matador" and "end" in data)


def test_a_hand_is_dealt_and_a_tile_drawn_before_its_owner_alone(api: Api, finished: SavedGame) -> None:
    table = finished.table
    true = [decode_event(place, 0, data).event for place, data in enumerate(events_of(finished.snapshot.events), 1)]
    for seat in viewers(table):
        for event, received in zip(true, everything(api, table, seat), strict=True):
            if isinstance(event, Dealt):
                hand = None if seat is None else [tile.name for tile in event.hands[seat]]
                assert received["data"].get("hand") == hand
            elif isinstance(event, Drew):
                assert received["data"] == ({"tile": event.tile.name} if seat == event.seat else {})
                assert received["seat"] == event.seat


def test_all_other_events_are_the_same_for_every_viewer(api: Api, finished: SavedGame) -> None:
    public = everything(api, finished.table)
    for seat in finished.table.tokens:
        for event, received in zip(public, everything(api, finished.table, seat), strict=True):
            assert received == event or event["type"] in ("dealt", "drew")


def test_the_rounds_and_winners_of_the_events_are_those_of_the_score_card(api: Api, finished: SavedGame) -> None:
    events = everything(api, finished.table)
    card = api.score(finished.table)
    assert [event["data"] for event in events if event["type"] == "round_ended"] == card["rounds"]
    assert [event["data"]["winners"] for event in events if event["type"] == "finished"] == [card["winners"]]
    gone = [each["seat"] for each in card["standings"] if not each["active"]]
    assert {event["seat"] for event in events if event["type"] == "eliminated"} <= set(gone)


def test_the_tiles_played_since_the_last_deal_are_those_on_the_board(api: Api, finished: SavedGame) -> None:
    events = everything(api, finished.table)
    deal = max(place for place, event in enumerate(events) if event["type"] == "dealt")
    played = [(each["seat"], each["data"]["tile"]) for each in events[deal:] if each["type"] == "played"]
    assert played == [(each["seat"], each["tile"]) for each in api.view(finished.table)["board"]["tiles"]]


def test_events_of_joins_and_token_changes_are_public_and_hold_no_secret(api: Api) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"open": True}])
    token = api.join(table, "Bo").json["token"]  # type: ignore[index]
    assert api.post(f"{table.path}/players/1/token", token=token).status_code == 201
    events = everything(api, table)
    assert [each["type"] for each in events] == ["created", "joined", "dealt", "token_changed"]
    assert (events[1]["seat"], events[1]["data"]) == (1, {"name": "Bo"})
    assert (events[3]["seat"], events[3]["data"]) == (1, {})


# Pages


@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
def test_pages_put_together_are_the_whole(api: Api, saved_games: SavedGames, limit: int) -> None:
    table = saved_games.at("dominospiel", "finished").table
    whole = everything(api, table, 0)
    events: list[Event] = []
    for _ in range(len(whole)):
        shown = page(api, table, 0, after=len(events), limit=limit)
        assert len(shown["events"]) == min(limit, len(whole) - len(events))
        events += shown["events"]
        assert (shown["version"], shown["more"]) == (len(events), len(events) < len(whole))
        if not shown["more"]:
            break
    assert events == whole


def test_a_page_has_a_hundred_events_where_nothing_else_is_asked(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("dominospiel", "second_round").table
    whole = everything(api, table)
    assert page(api, table)["events"] == whole[:100]
    assert page(api, table, after=3)["events"] == whole[3:103]


@pytest.mark.parametrize(("stage", "wait"), [("early", 0), ("early", 1), ("finished", 25)])
def test_after_the_last_event_a_page_is_empty_and_keeps_the_cursor(
    api: Api, saved_games: SavedGames, stage: str, wait: int
) -> None:
    """In a match that goes on after the time of a poll, and at once when it is over."""
    saved_game = saved_games.at("domino", stage)
    version = saved_game.snapshot.version
    assert page(api, saved_game.table, 0, after=version, wait=wait) == {"events": [], "version": version, "more": False}


@pytest.mark.parametrize("headers", [{}, SSE, LINES])
@pytest.mark.parametrize("query", ["after=-1", "limit=0", "limit=1001", "wait=26", "token=secret&after=1"])
def test_a_wrong_query_is_told_by_field(api: Api, saved_games: SavedGames, query: str, headers: dict[str, str]) -> None:
    answer = api.get(f"{saved_games.at('domino', 'early').table.path}/events?{query}", headers=headers)
    assert (answer.status_code, list(errors_of(answer.json))) == (422, [query.partition("=")[0]])
    assert "secret" not in answer.text


@pytest.mark.parametrize("accept", [{}, SSE, LINES])
def test_the_token_is_checked_first(api: Api, saved_games: SavedGames, accept: dict[str, str]) -> None:
    path = f"{saved_games.at('domino', 'early').table.path}/events?nonsense=1"
    assert api.get(path, token="wrong", headers=accept).status_code == 401
    assert api.get("/v1/games/none/events?nonsense=1", headers=accept).status_code == 404
    assert api.get(f"/v1/games/{'A' * 24}/events?nonsense=1", token="wrong", headers=accept).status_code == 401


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        *[(accept, "application/json") for accept in ("*/*", "application/json")],
        ("text/event-stream;q=0.5, application/json", "application/json"),
        *[(f"text/event-stream{also}", "text/event-stream") for also in ("", ", application/json;q=0.5")],
        ("application/x-ndjson, text/event-stream;q=0.9", "application/x-ndjson"),
        ("text/*", "text/event-stream"),
    ],
)
def test_accept_says_how_events_are_given(api: Api, saved_games: SavedGames, accept: str, given: str) -> None:
    with closing(stream(api, saved_games.at("domino", "finished").table, headers={"Accept": accept})) as answer:
        assert answer.mimetype == given
        assert "private" in answer.headers["Cache-Control"]
        assert set(answer.headers["Vary"].split(", ")) >= {"Authorization", "Accept"}


def test_last_event_id_goes_before_after(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "finished").table
    whole = everything(api, table)
    answer = stream(api, table, None, "?after=2", last="5")
    assert [{**each, "id": each["version"]} for each in whole[5:]] == events_in(answer.data)
    for bad in ("x", "", "-1", "2147483648"):
        assert "Last-Event-ID" in errors_of(stream(api, table, last=bad).get_json())


@pytest.mark.parametrize("headers", [{}, SSE, LINES])
@pytest.mark.parametrize("query", ["", "?wait=25", "?after=3&wait=25", "?after=100000&wait=25"])
def test_head_never_waits(api: Api, saved_games: SavedGames, headers: dict[str, str], query: str) -> None:
    saved_game = saved_games.at("domino", "early")
    query = query.replace("after=3", f"after={saved_game.snapshot.version}")
    answer = api.head(f"{saved_game.table.path}/events{query}", headers=headers)
    assert (answer.status_code, answer.data, answer.mimetype) == (200, b"", headers.get("Accept", "application/json"))


# Events that are not stored


@pytest.mark.parametrize("seat", [None, 0])
def test_where_events_are_no_longer_stored_a_reset_event_has_the_current_game(
    api: Api, server: redis.Redis, saved_games: SavedGames, seat: int | None
) -> None:
    saved_game = saved_games.at("domino", "early")
    table, version = saved_game.table, saved_game.snapshot.version
    whole = everything(api, table, seat)
    server.ltrim(keys.part(b"events", table.id), 3, -1)
    shown = page(api, table, seat, after=2)
    (reset,) = shown["events"]
    assert (reset["type"], reset["version"], shown["version"], shown["more"]) == ("reset", version, version, False)
    assert reset["data"] == {"view": api.view(table, seat)}
    assert page(api, table, seat, after=3)["events"] == whole[3:]
    with closing(stream(api, table, seat, "?after=1")) as received:
        (event,) = read_events(received.iter_encoded(), 1)
        assert event == {**reset, "id": version}


def test_a_cursor_ahead_of_the_game_is_reset(api: Api, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "early")
    version = saved_game.snapshot.version
    for wait in (0, 25):
        shown = page(api, saved_game.table, 1, after=version + 1, wait=wait)
        assert ([each["type"] for each in shown["events"]], shown["version"]) == (["reset"], version)
    with closing(stream(api, saved_game.table, 1, last="1000")) as received:
        (event,) = read_events(received.iter_encoded(), 1)
    assert (event["type"], event["id"]) == ("reset", version)


def test_a_stream_that_was_reset_to_an_end_ends(watched: Watched, server: redis.Redis, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "finished").table
    server.ltrim(keys.part(b"events", table.id), 3, -1)
    answer = stream(watched.api, table, None, "?after=1")
    assert [each["type"] for each in events_in(rest_of_stream(answer))] == ["reset"]


# Long polls


def test_a_poll_is_answered_at_once_if_there_are_new_events(api: Api, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "early")
    shown = page(api, saved_game.table, after=2, limit=1, wait=25)
    assert [each["version"] for each in shown["events"]] == [3]
    assert shown["more"]


def test_polls_are_answered_when_a_move_is_made(watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    clients = [Api(watched.app.test_client(use_cookies=False)) for _ in range(3)]
    asked = zip(clients, (None, 0, 1), strict=True)
    polls = [crowd.submit(page, client, table, seat, after=2, wait=25) for client, seat in asked]
    watched.until(3)
    version = make_move(other_worker, table)
    for poll in polls:
        shown = poll.result(PATIENCE)
        assert (shown["version"], [each["version"] for each in shown["events"]]) == (version, [3])
    watched.until(0)


def test_a_poll_has_as_many_events_as_asked_for(watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor) -> None:
    table = other_worker.create("domino", [{"name": "Ada"}, {"open": True}])
    poll = crowd.submit(page, watched.api, table, None, after=1, wait=25, limit=1)
    watched.until(1)
    assert other_worker.join(table).status_code == 201  # which also deals
    shown = poll.result(PATIENCE)
    assert ([each["type"] for each in shown["events"]], shown["version"], shown["more"]) == (["joined"], 2, True)


# Streams


def test_both_kinds_of_streams_send_the_events_of_the_pages_and_end(watched: Watched, finished: SavedGame) -> None:
    for seat in viewers(finished.table):
        events = everything(watched.api, finished.table, seat)
        sent = rest_of_stream(stream(watched.api, finished.table, seat))
        assert sent.startswith(b"retry: 1000\nid: 1\ndata: {")
        assert all(b"\ndata: {" in block for block in sent.split(b"\n\n") if block)
        assert events_in(sent) == [{**event, "id": event["version"]} for event in events]
        assert lines_in(rest_of_stream(stream(watched.api, finished.table, seat, headers=LINES))) == events


def test_a_stream_asked_again_after_the_end_has_no_content(watched: Watched, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "finished")
    for headers in (SSE, LINES):
        answer = stream(watched.api, saved_game.table, last=str(saved_game.snapshot.version), headers=headers)
        assert (answer.status_code, answer.data) == (204, b"")


def test_a_stream_sends_each_event_as_soon_as_it_is_made(watched: Watched, other_worker: Api) -> None:
    table = other_worker.create("dominospiel", 3, seed=SEED, options=shortest("dominospiel"))
    with closing(stream(watched.api, table, 1)) as first, closing(stream(watched.api, table)) as second:
        feeds = [(1, first.iter_encoded()), (None, second.iter_encoded())]
        received: dict[int | None, list[Event]] = {seat: read_events(chunks, 2) for seat, chunks in feeds}
        for _ in range(2000):
            version = make_move(other_worker, table)
            for seat, chunks in feeds:
                received[seat] += read_events(chunks, version - len(received[seat]))
            if other_worker.view(table)["status"] == "finished":
                break
        for seat, chunks in feeds:
            assert list(chunks) == []
            assert received[seat] == [{**each, "id": each["version"]} for each in everything(other_worker, table, seat)]


def test_many_streams_of_one_seat_receive_the_same_events(watched: Watched, other_worker: Api) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    devices = [stream(watched.api, table, 0, headers=LINES) for _ in range(20)]
    version = make_move(other_worker, table)
    heard = []
    for device in devices:
        chunks, lines = device.iter_encoded(), b""
        while lines.count(b'{"version"') < version:
            lines += next(chunks)
        heard.append([line for line in lines.split(b"\n") if line])  # a slow stream has an empty line as a keep-alive
        device.close()
    assert all(each == heard[0] for each in heard)


def test_a_stream_without_events_sends_keepalives(games: GamesFacade, saved_games: SavedGames) -> None:
    assert KEEPALIVE_SECONDS < 15 - 3, "and the store may take three seconds to answer"
    saved_game = saved_games.at("domino", "early")
    watched = Watched(games, alive=0.01)
    for headers, sign in ((SSE, b":\n"), (LINES, b"\n")):
        query = f"?after={saved_game.snapshot.version}"
        with closing(stream(watched.api, saved_game.table, None, query, headers=headers)) as received:
            chunks = received.iter_encoded()
            next(chunks)
            assert [next(chunks), next(chunks)] == [sign, sign]
    watched.until(0)


def test_streams_beyond_the_cap_are_refused_and_all_else_is_served(games: GamesFacade, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "early")
    watched, table = Watched(games, StreamLimits(2)), saved_game.table
    api, path = watched.api, f"{table.path}/events"
    with closing(stream(api, table)):
        second = stream(api, table, 0, headers=LINES)
        for headers in (SSE, LINES):
            refused = api.get(path, headers=headers)
            assert status_and_code(refused) == (503, "too_many_streams")
            assert refused.headers["Retry-After"] == str(refused.get_json()["retry_after"])
        assert api.get(f"{path}?wait=25&after={saved_game.snapshot.version}").status_code == 503
        assert api.get(path).status_code == 200
        assert api.head(path, headers=SSE).status_code == 200
        make_move(api, table)
        second.close()
        with closing(stream(api, table)) as another:
            assert another.status_code == 200
    watched.until(0)


@pytest.mark.parametrize("limits", [StreamLimits(100, by_game=2), StreamLimits(100, by_address=2)])
def test_a_game_or_address_has_some_streams(limits: StreamLimits, games: GamesFacade, saved_games: SavedGames) -> None:
    table, other = saved_games.at("domino", "early").table, saved_games.at("fido", "early").table
    watched = Watched(games, limits)
    elsewhere = {**SSE, "X-Forwarded-For": "192.0.2.7"}
    watched.app.wsgi_app = ProxyFix(watched.app.wsgi_app)  # type: ignore[method-assign]
    for _ in range(3):  # a closed stream leaves its place to another one
        open_ones = [stream(watched.api, table), stream(watched.api, table, 0, headers=LINES)]
        assert status_and_code(watched.api.get(f"{table.path}/events", headers=SSE)) == (503, "too_many_streams")
        where, headers = (other, SSE) if limits.by_address is None else (table, elsewhere)
        for each in (*open_ones, stream(watched.api, where, headers=headers)):
            each.close()
    watched.until(0)


def test_a_draining_worker_lets_streams_and_polls_end_and_opens_no_more(
    watched: Watched, saved_games: SavedGames, crowd: ThreadPoolExecutor
) -> None:
    saved_game = saved_games.at("domino", "early")
    version = saved_game.snapshot.version
    sse, lines = stream(watched.api, saved_game.table), stream(watched.api, saved_game.table, 0, headers=LINES)
    client = Api(watched.app.test_client(use_cookies=False))
    poll = crowd.submit(page, client, saved_game.table, after=version, wait=25)
    watched.until(3)
    watched.app.drain()
    assert poll.result(PATIENCE) == {"events": [], "version": version, "more": False}
    (*_, closing_event) = events_in(rest_of_stream(sse))
    assert closing_event == {"version": version, "type": "closing", "at": closing_event["at"], "data": {}}
    assert lines_in(rest_of_stream(lines))[-1]["type"] == "closing"
    assert watched.api.get(f"{saved_game.table.path}/events", headers=SSE).status_code == 503


def test_a_closed_stream_leaves_no_garbage_whose_collection_takes_a_lock(
    watched: Watched, feed: RedisEventFeed, saved_games: SavedGames
) -> None:
    table = saved_games.at("domino", "early").table
    gc.disable()
    try:
        for _ in range(3):
            with closing(stream(watched.api, table)) as received:
                read_events(received.iter_encoded(), 1)
        del received
        with watched.streams._lock, feed._lock:  # garbage collected now must not need these locks
            collecting = Thread(target=gc.collect, daemon=True)
            collecting.start()
            collecting.join(PATIENCE)
            assert not collecting.is_alive()
    finally:
        gc.enable()


@pytest.fixture
def changed_token(other_worker: Api) -> Callable[[Table, int], str]:
    def change(table: Table, seat: int) -> str:
        answer = other_worker.post(f"{table.path}/players/{seat}/token", token=table.tokens[seat])
        return str(answer.get_json()["token"])

    return change


def test_a_seats_stream_ends_with_its_new_token_and_others_go_on(
    watched: Watched, other_worker: Api, changed_token: Callable[[Table, int], str]
) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    with (
        closing(stream(watched.api, table, 0)) as own,
        closing(stream(watched.api, table, 1)) as other,
        closing(stream(watched.api, table)) as public,
    ):
        others = [each.iter_encoded() for each in (other, public)]
        changed_token(table, 0)
        assert [each["type"] for each in events_in(rest_of_stream(own))] == ["created", "dealt", "token_changed"]
        for chunks in others:
            assert read_events(chunks, 3)[-1]["type"] == "token_changed"


def test_a_stream_of_the_new_token_sends_the_token_change_and_goes_on(
    watched: Watched, other_worker: Api, changed_token: Callable[[Table, int], str]
) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    table.tokens[0] = changed_token(table, 0)
    with closing(stream(watched.api, table, 0)) as received:
        chunks = received.iter_encoded()
        assert [each["type"] for each in read_events(chunks, 3)] == ["created", "dealt", "token_changed"]
        table.tokens[0] = changed_token(table, 0)
        assert [each["type"] for each in read_events(chunks, 1)] == ["token_changed"]
        assert list(chunks) == []


def test_a_match_that_is_over_ends_a_stream_also_where_a_token_was_changed_since(
    watched: Watched, saved_games: SavedGames, changed_token: Callable[[Table, int], str]
) -> None:
    saved_game = saved_games.at("domino", "finished")
    changed_token(saved_game.table, 0)
    for after in (0, saved_game.snapshot.version - 1, saved_game.snapshot.version):
        events = events_in(rest_of_stream(stream(watched.api, saved_game.table, 1, f"?after={after}")))
        assert [each["version"] for each in events] == list(range(after + 1, saved_game.snapshot.version + 2))


def test_a_stream_ends_with_a_game(
    redis_url: str, games: GamesFacade, feed: RedisEventFeed, server: redis.Redis
) -> None:
    store = redis_store(SingleNodeTopology(connect(redis_url)), 1)
    watched = Watched(build_games(store, feed, [SECRET], 1), alive=0.05)
    table = watched.api.create("domino", 2)
    for headers in (SSE, LINES):
        received = stream(watched.api, table, headers=headers)
        if headers is SSE:
            server.persist(keys.state(table.id))
            server.persist(keys.part(b"events", table.id))
        else:
            server.delete(*keys.of_game(table.id))
        chunks = received.iter_encoded()
        for _ in range(40):  # twice the time to live of a game
            sent = next(chunks, None)
            if sent is None:
                break
        assert (sent is None) == (headers is LINES)
        received.close()
    watched.until(0)
