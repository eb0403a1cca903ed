"""The view of whoever follows a game: with its events (``view=true``), or as a long poll on the view itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.facade import GamesFacade
from service.games.ports import EventRange, StoredGame
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.errors import StorageUnavailable
from service.web.events import stream as stream_module
from service.web.http.streams import StreamLimits
from tests.api.client import Api, Table, invalid_fields, status_and_code, viewers
from tests.api.conftest import SECRET, TTL_SECONDS
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
from tests.api.saved_games import SEED, SavedGames, one_open_seat, restore, shortest
from tests.support.games import build_games

pytestmark = pytest.mark.quick


class CountingStore:
    """A store that counts how often games are read, and cannot read them while it is ``away``."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.reads = 0
        self.away = False

    def read(self, game: str) -> StoredGame | None:
        self.reads += 1
        if self.away:
            raise StorageUnavailable("away")
        return self._store.read(game)

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        return self._store.event_range(game, after, limit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def counting(store: RedisStore) -> CountingStore:
    return CountingStore(store)


@pytest.fixture
def counted(counting: CountingStore, feed: RedisEventFeed) -> Iterator[Watched]:
    """An application whose reads of games are counted."""
    store: Any = counting
    watched = Watched(build_games(store, feed, [SECRET], TTL_SECONDS))
    yield watched
    watched.until(0)


def view_item(api: Api, table: Table, seat: int | None) -> Event:
    """The item of a stream with the view as it is now."""
    view = api.view(table, seat)
    return {"type": "view", "version": view["version"], "game": view}


def until_view(chunks: Iterator[bytes]) -> list[Event]:
    """The next events of a stream and the view after them."""
    events: list[Event] = []
    for _ in range(1000):
        events += events_in(next(chunks))
        if events and events[-1]["type"] == "view":
            return events
    raise AssertionError("it never came")


# Streams


@pytest.mark.parametrize("variant", ["domino", "fido"])
def test_a_stream_shows_a_viewer_its_view_at_the_end(watched: Watched, saved_games: SavedGames, variant: str) -> None:
    table = saved_games.at(variant, "finished").table
    for seat in (None, 1):
        wanted = [*everything(watched.api, table, seat), view_item(watched.api, table, seat)]
        sent = rest_of_stream(stream(watched.api, table, seat, "?view=true"))
        assert events_in(sent) == [{**item, "id": item["version"]} for item in wanted]
        assert lines_in(rest_of_stream(stream(watched.api, table, seat, "?view=true", headers=LINES))) == wanted
        without = rest_of_stream(stream(watched.api, table, seat, "?view=false"))
        assert [item["type"] for item in events_in(without)] == [item["type"] for item in wanted[:-1]]


def test_every_move_is_followed_by_the_view_after_it(watched: Watched, other_worker: Api) -> None:
    table = other_worker.create("dominospiel", 3, seed=SEED, options=shortest("dominospiel"))
    with ExitStack() as stack:
        chunks = {
            seat: stack.enter_context(closing(stream(watched.api, table, seat, "?view=true"))).iter_encoded()
            for seat in (None, 0, 1)
        }
        received = {seat: until_view(each) for seat, each in chunks.items()}
        for _ in range(2000):
            version = make_move(other_worker, table)
            for seat, each in chunks.items():
                batch = until_view(each)
                assert batch[-1] == {**view_item(other_worker, table, seat), "id": version}
                received[seat] += batch
            if other_worker.view(table)["status"] == "finished":
                break
        for seat, each in chunks.items():
            assert list(each) == []
            events = [item for item in received[seat] if item["type"] != "view"]
            assert events == [{**item, "id": item["version"]} for item in everything(other_worker, table, seat)]


@pytest.mark.parametrize("headers", [SSE, LINES])
def test_a_resumed_stream_begins_with_a_view(
    watched: Watched, saved_games: SavedGames, headers: dict[str, str]
) -> None:
    saved_game = saved_games.at("domino", "early")
    version = str(saved_game.snapshot.version)
    parse = events_in if headers is SSE else lines_in
    for seat in viewers(saved_game.table):
        item = view_item(watched.api, saved_game.table, seat)
        with closing(
            stream(watched.api, saved_game.table, seat, "?view=true", headers=headers, last=version)
        ) as received:
            chunks = received.iter_encoded()
            next(chunks)
            (first,) = parse(next(chunks))
            first.pop("id", None)
            assert first == item
        with closing(
            stream(watched.api, saved_game.table, seat, f"?view=true&after={version}", headers=headers)
        ) as received:
            chunks = received.iter_encoded()
            next(chunks)
            assert parse(next(chunks)) == [], "who asks by `after` has the view"


def test_a_finished_match_has_no_view_after_its_last_event(watched: Watched, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "finished")
    last = str(saved_game.snapshot.version)
    assert stream(watched.api, saved_game.table, None, "?view=true", last=last).status_code == 204


def test_a_reset_is_followed_by_the_view_too(watched: Watched, server: redis.Redis, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "early").table
    server.ltrim(keys.part(b"events", table.id), 3, -1)
    for seat in viewers(table):
        with closing(stream(watched.api, table, seat, "?view=true&after=1")) as received:
            reset, item = until_view(received.iter_encoded())
        assert (reset["type"], reset["data"]["view"]) == ("reset", item["game"])
        assert item["game"] == watched.api.view(table, seat)
        shown = page(watched.api, table, seat, after=1, view="true")
        assert (shown["game"], shown["version"]) == (item["game"], item["version"])


def test_a_revoked_token_is_shown_no_view_any_more(watched: Watched, other_worker: Api) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    with (
        closing(stream(watched.api, table, 0, "?view=true")) as own,
        closing(stream(watched.api, table, 1, "?view=true")) as other,
    ):
        chunks = own.iter_encoded()
        until_view(chunks)
        others = other.iter_encoded()
        until_view(others)
        assert other_worker.post(f"{table.path}/players/0/token", token=table.tokens[0]).status_code == 201
        assert [each["type"] for each in events_in(b"".join(chunks))] == ["token_changed"]
        assert [each["type"] for each in until_view(others)] == ["token_changed", "view"]


def test_a_draining_worker_shows_no_view_after_the_closing_event(watched: Watched, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "early")
    received = stream(watched.api, saved_game.table, None, "?view=true")
    watched.app.drain()
    assert [item["type"] for item in events_in(rest_of_stream(received))[-2:]] == ["view", "closing"]


def test_while_the_store_is_away_a_stream_keeps_alive_and_then_shows_the_view(
    counted: Watched, counting: CountingStore, other_worker: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "RETRY_SECONDS", 0.01)
    table = other_worker.create("domino", 2, seed=SEED)
    with closing(stream(counted.api, table, 0, "?view=true")) as received:
        chunks = received.iter_encoded()
        until_view(chunks)
        counting.away = True
        version = make_move(other_worker, table)
        assert [each["version"] for each in read_events(chunks, 1)] == [version]
        assert [next(chunks) for _ in range(3)] == [b":\n"] * 3
        counting.away = False
        (item,) = until_view(chunks)
        assert item == {**view_item(other_worker, table, 0), "id": version}


# Work


def test_streams_of_a_game_share_a_read_of_a_move(counted: Watched, counting: CountingStore, other_worker: Api) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    with ExitStack() as stack:
        followers = [
            stack.enter_context(closing(stream(counted.api, table, seat, "?view=true"))).iter_encoded()
            for seat in (None, 0, 1) * 10
        ]
        opened = counting.reads
        assert opened == len(followers), "only their access was checked"
        for each in followers:
            until_view(each)
        assert counting.reads == opened
        for moves in range(6):
            make_move(other_worker, table)
            for each in followers:
                until_view(each)
            if not moves:  # after the first one they are known to be subscribed
                opened = counting.reads
            assert counting.reads == opened + moves


def test_a_move_of_its_own_worker_costs_no_read(counted: Watched, counting: CountingStore, other_worker: Api) -> None:
    table = counted.api.create("domino", 2, seed=SEED)
    with closing(stream(counted.api, table, 0, "?view=true")) as received:
        chunks = received.iter_encoded()
        until_view(chunks)
        make_move(other_worker, table)
        until_view(chunks)  # so it is subscribed
        seat = counted.api.view(table)["turn"]["seat"]
        move = counted.api.moves(table, seat)[0]
        before = counting.reads
        counted.api.make_move(table, seat, move)
        assert until_view(chunks)[-1]["version"] == counted.api.listed_moves(table, seat)["version"]
        assert counting.reads == before + 1, "that of the listed moves"


def test_who_lags_behind_is_shown_the_newest_view(counted: Watched, counting: CountingStore, other_worker: Api) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    with closing(stream(counted.api, table, 0, "?view=true")) as received:
        chunks = received.iter_encoded()
        until_view(chunks)
        before = counting.reads
        for _ in range(5):
            version = make_move(other_worker, table)
        items: list[Event] = []
        while not items or items[-1]["version"] < version or items[-1]["type"] != "view":
            items += until_view(chunks)
        assert [each["version"] for each in items if each["type"] != "view"] == [*range(3, version + 1)]
        assert items[-1] == {**view_item(other_worker, table, 0), "id": version}
        assert counting.reads - before <= 6, "the first one may be read twice"


def test_all_that_ask_for_the_same_write_share_one_read_but_no_failure(
    counting: CountingStore, counted: Watched, other_worker: Api, games: GamesFacade, crowd: ThreadPoolExecutor
) -> None:
    table = other_worker.create("domino", 2)
    write_id = games.access.authenticate(table.id, None).game.write_id
    repository = counted.games.queries._repository
    barrier = threading.Barrier(8)

    def ask() -> int:
        barrier.wait(PATIENCE)
        return repository.reader.after_write(table.id, 2, write_id).version

    counting.away = True
    for _ in range(2):
        failed = [crowd.submit(ask) for _ in range(8)]
        assert all(isinstance(each.exception(PATIENCE), StorageUnavailable) for each in failed)
    counting.away, counting.reads = False, 0
    assert {each.result(PATIENCE) for each in [crowd.submit(ask) for _ in range(8)]} == {2}
    assert counting.reads == 1


def test_a_write_that_another_one_replaced_after_a_failover_is_not_shown(
    counted: Watched, server: redis.Redis, saved_games: SavedGames, other_worker: Api, games: GamesFacade
) -> None:
    saved_game = saved_games.at("domino", "early")
    counted.api.make_legal_move(saved_game.table)  # the worker remembers this one, …
    restore(server, saved_game.table.id, saved_game.snapshot)  # … which is lost
    version = make_move(other_worker, saved_game.table)
    stored = games.access.authenticate(saved_game.table.id, None).game
    shown = counted.games.queries._repository.reader.after_write(saved_game.table.id, version, stored.write_id)
    assert (shown.version, shown.write_id) == (stored.version, stored.write_id)


# Pages


@pytest.mark.parametrize("variant", ["domino", "menschenwolf"])
def test_a_page_has_the_view_that_its_bearer_had_at_its_version(api: Api, variant: str) -> None:
    table = api.create(variant, one_open_seat(variant), seed=SEED, options=shortest(variant))
    views: dict[tuple[int | None, int], Any] = {}

    def remember() -> None:
        for seat in viewers(table):
            view = api.view(table, seat)
            views[seat, view["version"]] = view

    remember()
    api.take_seat(table)
    remember()
    changed = api.post(f"{table.path}/players/0/token", token=table.tokens[0])
    table.tokens[0] = changed.get_json()["token"]
    remember()
    for _ in api.play(table, api.view(table)):
        remember()
    last = max(version for _, version in views)
    for (seat, version), view in list(views.items())[:: len(views) // 60 + 1]:
        shown = page(api, table, seat, after=version - 1, limit=1, view="true")
        assert (shown["version"], shown["game"]) == (version, view)
    for seat in viewers(table):
        for after in (0, last):
            assert page(api, table, seat, after=after, limit=1000, view="true")["game"] == views[seat, last]
        assert "game" not in page(api, table, seat, view="false")


def test_a_page_of_now_reads_the_game_once(counted: Watched, counting: CountingStore, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "late").table
    for wait in (0, 25):
        counting.reads = 0
        page(counted.api, table, 0, view="true", limit=1000, wait=wait)
        assert counting.reads == 1


def test_a_poll_has_the_view_at_its_version(watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor) -> None:
    table = other_worker.create("domino", [{"name": "Ada"}, {"open": True}])
    clients = [Api(watched.app.test_client(use_cookies=False)) for _ in range(2)]
    short, whole = [
        crowd.submit(page, client, table, 0, after=1, wait=25, limit=limit, view="true")
        for client, limit in zip(clients, (1, 100), strict=True)
    ]
    watched.until(2)
    assert other_worker.join(table).status_code == 201  # which also deals
    first, both = short.result(PATIENCE), whole.result(PATIENCE)
    assert (first["version"], first["game"]["version"], first["game"]["round"]) == (2, 2, 0)
    assert [player["kind"] for player in first["game"]["players"]] == ["human", "human"]
    assert (both["version"], both["game"]) == (3, other_worker.view(table, 0))


def test_a_poll_of_a_revoked_token_is_refused(watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor) -> None:
    table = other_worker.create("domino", 2)
    for path in ("/events?view=true&wait=25&after=2", "?after=2&wait=25"):
        poll = crowd.submit(watched.api.get, table.path + path, token=table.tokens[0])
        watched.until(1)
        changed = other_worker.post(f"{table.path}/players/0/token", token=table.tokens[0])
        assert poll.result(PATIENCE).status_code == 401
        table = other_worker.create("domino", 2)
        assert changed.status_code == 201


@pytest.mark.parametrize("value", ["", "1", "True", "TRUE", "yes", "true ", "null", "true,true", "%00"])
@pytest.mark.parametrize("headers", [{}, SSE, LINES])
def test_a_wrong_view_is_invalid(api: Api, saved_games: SavedGames, value: str, headers: dict[str, str]) -> None:
    table = saved_games.at("domino", "early").table
    assert invalid_fields(api.get(f"{table.path}/events?view={value}", headers=headers)) == ["view"]


# Long polls on the view


def poll(watched: Watched, table: Table, query: str, seat: int | None = None, **headers: str) -> TestResponse:
    """A long poll by a client of its own."""
    token = None if seat is None else table.tokens[seat]
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    return Api(watched.app.test_client(use_cookies=False)).get(table.path + query, token=token, headers=asked)


def test_a_view_past_the_version_is_shown_at_once(watched: Watched, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("domino", "early")
    version = saved_game.snapshot.version
    for seat in viewers(saved_game.table):
        for query in (
            *("?after=0&wait=25", f"?after={version - 1}&wait=25", "?wait=25", f"?after={version}", "?after=9999"),
        ):
            answer = poll(watched, saved_game.table, query, seat)
            assert answer.get_json() == watched.api.view(saved_game.table, seat)
            assert poll(watched, saved_game.table, query, seat, If_None_Match=answer.headers["ETag"]).status_code == 304


def test_polls_of_the_view_are_answered_as_soon_as_another_worker_makes_a_move(
    watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor
) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    etag = other_worker.get(table.path, token=table.tokens[1]).headers["ETag"]
    polls = [crowd.submit(poll, watched, table, "?after=2&wait=25", seat) for seat in (None, 0, 0)]
    polls.append(crowd.submit(poll, watched, table, "?after=2&wait=25", 1, If_None_Match=etag))
    watched.until(4)
    version = make_move(other_worker, table)
    for seat, each in zip((None, 0, 0, 1), polls, strict=True):
        answer = each.result(PATIENCE)
        assert (answer.get_json(), answer.get_json()["version"]) == (other_worker.view(table, seat), version)


def test_a_poll_lasts_until_its_version_is_past(watched: Watched, other_worker: Api, crowd: ThreadPoolExecutor) -> None:
    table = other_worker.create("domino", 2, seed=SEED)
    waiting = crowd.submit(poll, watched, table, "?after=4&wait=25", 0)
    watched.until(1)
    while make_move(other_worker, table) <= 4:
        pass
    assert waiting.result(PATIENCE).get_json() == other_worker.view(table, 0)


@pytest.mark.parametrize("ahead", [0, 1000])
def test_after_its_wait_a_poll_shows_a_view_or_no_change(watched: Watched, saved_games: SavedGames, ahead: int) -> None:
    saved_game = saved_games.at("domino", "early")
    query = f"?after={saved_game.snapshot.version + ahead}&wait=1"
    answer = poll(watched, saved_game.table, query, 0)
    assert (answer.status_code, answer.get_json()) == (200, watched.api.view(saved_game.table, 0))
    again = poll(watched, saved_game.table, query, 0, If_None_Match=answer.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")


def test_a_finished_match_is_not_waited_for_and_head_never_waits(watched: Watched, saved_games: SavedGames) -> None:
    finished = saved_games.at("domino", "finished")
    query = f"?after={finished.snapshot.version}&wait=25"
    assert poll(watched, finished.table, query).get_json() == watched.api.view(finished.table)
    early = saved_games.at("domino", "early")
    answer = watched.api.head(f"{early.table.path}?after={early.snapshot.version}&wait=25")
    assert (answer.status_code, answer.data) == (200, b"")


def test_polls_of_the_view_count_as_streams_and_end_when_the_worker_drains(
    games: GamesFacade, saved_games: SavedGames, crowd: ThreadPoolExecutor
) -> None:
    saved_game = saved_games.at("domino", "early")
    query = f"?after={saved_game.snapshot.version}&wait=25"
    for limits in (StreamLimits(1), StreamLimits(by_game=1), StreamLimits(by_address=1)):
        watched = Watched(games, limits)
        waiting = crowd.submit(poll, watched, saved_game.table, query)
        watched.until(1)
        assert status_and_code(watched.api.get(saved_game.table.path + query)) == (503, "too_many_streams")
        assert watched.api.get(saved_game.table.path).status_code == 200
        watched.app.drain()
        assert waiting.result(PATIENCE).get_json() == watched.api.view(saved_game.table)
        assert watched.api.get(saved_game.table.path + query).status_code == 503
        watched.until(0)


def test_a_poll_of_a_game_that_is_deleted_meanwhile_is_not_found(
    watched: Watched, other_worker: Api, server: redis.Redis, feed: RedisEventFeed, crowd: ThreadPoolExecutor
) -> None:
    table = other_worker.create("domino", 2)
    waiting = crowd.submit(poll, watched, table, "?after=2&wait=25")
    watched.until(1)
    server.delete(*keys.of_game(table.id))
    feed._notify(keys.state(table.id), None)  # as after any fault
    assert waiting.result(PATIENCE).status_code == 404


def test_the_query_of_a_view_is_looked_at_last(api: Api, saved_games: SavedGames) -> None:
    path = f"{saved_games.at('domino', 'early').table.path}?wait=26"
    assert invalid_fields(api.get(path)) == ["wait"]
    assert (api.get(path, token="wrong").status_code, api.get("/v1/games/none?wait=26").status_code) == (401, 404)
    assert api.get(path, headers={"Accept": "text/html"}).status_code == 406
