"""The feed of an application over HTTP: a page, a long poll, and two streams."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from threading import Thread
from time import monotonic
from typing import Any

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.backends.index import feed
from service.engine.tiles import TILES
from service.games.facade import GamesFacade
from service.games.store.notifications import RedisEventFeed
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.web.app import Application
from service.web.http.streams import StreamLimits, Streams
from tests.api.client import Api, Table, causes_of, check_item, invalid_fields, status_and_code, told
from tests.api.followers import LINES, PATIENCE, SSE, lines_in
from tests.api.saved_games import shortest
from tests.support.application import build_backends, build_streams, create_app
from tests.support.waiting import until

Publish = Callable[[], None]
Item = dict[str, Any]
SEATS = ({"name": "Ada", "ref": "user-ada"}, {"name": "Bob", "ref": "user-bob"})


def create(api: Api, key: str | None, variant: str = "domino", **more: Any) -> Table:
    return api.create(variant, SEATS, key=key, **more)


def page(api: Api, key: str, **query: Any) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return told(api.get(f"/v1/feed?{asked}" if asked else "/v1/feed", token=key))


def versions(items: list[Item]) -> list[int]:
    return [item["version"] for item in items]


def stream(api: Api, key: str, headers: Mapping[str, str], query: str = "", last: str | None = None) -> TestResponse:
    more = {} if last is None else {"Last-Event-ID": last}
    answer = api.ask_unchecked("GET", f"/v1/feed{query}", token=key, headers={**headers, **more}, buffered=False)
    assert answer.status_code == 200, answer.text
    return answer


def items_in(text: str) -> list[Item]:
    """The items in a piece of a stream, in either format; the id of a server-sent one is its cursor."""
    if "data: " not in text:
        return lines_in(text.encode())
    items = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            item = json.loads(fields["data"])
            assert fields.get("id") == (None if item["type"] == "closing" else item["cursor"])
            assert set(fields) <= {"id", "data", "retry"}
            check_item(item)
            items.append(item)
    return items


def read(chunks: Iterator[bytes], count: int) -> list[Item]:
    """The next items of a stream, so many of them."""
    items: list[Item] = []
    for _ in range(100):
        if len(items) >= count:
            return items
        items += items_in(next(chunks).decode())
    raise AssertionError("they never came")


def rest(chunks: Iterator[bytes]) -> str:
    """The rest of a stream, which must end."""
    sent = list(islice(chunks, 200))
    assert len(sent) < 200, "it does not end"
    return b"".join(sent).decode()


@pytest.fixture
def streams() -> Streams:
    return build_streams(StreamLimits(100), keepalive_seconds=0.2)


@pytest.fixture
def worker(games: GamesFacade, backends: BackendsFacade, streams: Streams) -> Application:
    """A worker with a limit of streams and fast keep-alives."""
    return create_app(games, streams, backends=backends)


@pytest.fixture
def watching(worker: Application) -> Api:
    return Api(worker.test_client(use_cookies=False))


def told_of(api: Api, table: Table, **more: Any) -> list[Item]:
    """Return the items that the feed must have about a game, made from its events."""
    events = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
    kept = ("version", "type", "at", "seat", "to_act")
    items = [{name: event[name] for name in kept if name in event} for event in events]
    for item in items:
        item |= {"game_id": table.id, "cursor": "", **more}
        item["waiting_for"] = [{"seat": seat, "ref": SEATS[seat]["ref"]} for seat in item["to_act"]]
    return items


def test_a_page_tells_each_event_of_each_game(api: Api, app_key: str, publish: Publish) -> None:
    assert page(api, app_key) == {"items": [], "cursor": "0-0", "more": False}
    one, two = create(api, app_key, ref="one"), create(api, app_key)
    for table in (one, two, one):
        table.make_legal_move()
        publish()
    told = page(api, app_key)
    assert told["cursor"] == told["items"][-1]["cursor"]
    for table, more in ((one, {"ref": "one"}), (two, {})):
        items = [item for item in told["items"] if item["game_id"] == table.id]
        assert [{**item, "cursor": ""} for item in items] == told_of(api, table, **more)


def test_turns_that_play_themselves_are_told_one_by_one(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, variant="draw", seed="a rainy evening", auto=True, options=shortest("draw"))
    for _ in table.play(1):
        publish()
    events = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
    assert [event for event in events if event["data"].get("auto")]
    items, expected = page(api, app_key, limit=200)["items"], told_of(api, table)
    expected[-1] |= {name: items[-1][name] for name in ("winners", "players")}  # of a match that is over
    assert [{**item, "cursor": ""} for item in items] == expected


def test_an_item_tells_the_deadline_of_the_view(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, clock={"turn": 60})
    publish()
    assert page(api, app_key)["items"][-1]["deadline"] == table.view()["turn"]["deadline"]


def test_pages_lead_to_each_other(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    for _ in range(5):
        table.make_legal_move()
    publish()
    count = table.view()["version"]
    found: list[int] = []
    query: dict[str, Any] = {}
    for _ in range(count):
        told = page(api, app_key, limit=3, **query)
        found += versions(told["items"])
        query = {"after": told["cursor"]}
        if not told["more"]:
            break
    assert found == list(range(1, count + 1))
    assert page(api, app_key, **query) == {"items": [], "cursor": query["after"], "more": False}


def test_after_the_latest_comes_only_what_is_new(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    publish()
    latest = page(api, app_key, after="latest")
    assert (latest["items"], latest["more"]) == ([], False)
    table.make_legal_move()
    publish()
    assert versions(page(api, app_key, after=latest["cursor"])["items"]) == [3]


def test_a_long_poll_answers_when_something_happens(
    api: Api, watching: Api, app_key: str, publish: Publish, crowd: ThreadPoolExecutor
) -> None:
    table = create(api, app_key)
    publish()
    cursor = page(api, app_key, after="latest")["cursor"]
    began = monotonic()
    waiting = crowd.submit(page, watching, app_key, after=cursor, wait=25, limit=1)
    table.make_legal_move()
    publish()
    told = waiting.result(PATIENCE)
    assert monotonic() - began < PATIENCE
    assert versions(told["items"]) == [3]
    assert told["cursor"] == told["items"][0]["cursor"]


def test_a_long_poll_ends_after_its_time(api: Api, app_key: str) -> None:
    began = monotonic()
    assert page(api, app_key, wait=1) == {"items": [], "cursor": "0-0", "more": False}
    assert monotonic() - began >= 1


@pytest.mark.parametrize("headers", [SSE, LINES], ids=["sse", "lines"])
def test_a_stream_tells_past_and_future(
    api: Api, watching: Api, app_key: str, publish: Publish, headers: Mapping[str, str]
) -> None:
    table = create(api, app_key)
    publish()
    with closing(stream(watching, app_key, headers)) as answer:
        assert (answer.headers["Content-Type"], answer.headers["X-Accel-Buffering"]) == (headers["Accept"], "no")
        chunks = answer.iter_encoded()
        first = read(chunks, 2)
        assert versions(first) == [1, 2]
        for version in (3, 4, 5):
            table.make_legal_move()
            publish()
            (item,) = read(chunks, 1)
            assert (item["game_id"], item["version"]) == (table.id, version)
    assert first == page(api, app_key, limit=2)["items"]
    resumed = stream(watching, app_key, headers, last=first[0]["cursor"])
    with closing(resumed):
        assert versions(read(resumed.iter_encoded(), 4)) == [2, 3, 4, 5]


def test_a_hint_of_the_messenger_wakes_a_stream(
    api: Api, watching: Api, app_key: str, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "POLL_SECONDS", 1000.0)  # without a hint nothing would come
    table = create(api, app_key)
    with closing(stream(watching, app_key, SSE)) as answer:
        chunks = answer.iter_encoded()
        publish()
        assert versions(read(chunks, 2)) == [1, 2]
        for version in (3, 4):
            table.make_legal_move()
            publish()
            assert versions(read(chunks, 1)) == [version]


def test_a_stream_from_the_latest_says_where_that_is(api: Api, watching: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    publish()
    cursor = page(api, app_key, after="latest")["cursor"]
    with closing(stream(watching, app_key, SSE, "?after=latest")) as answer:
        chunks = answer.iter_encoded()
        assert next(chunks).decode() == f"retry: 1000\nid: {cursor}\n\n"
        table.make_legal_move()
        publish()
        assert versions(read(chunks, 1)) == [3]


@pytest.mark.parametrize(("headers", "keepalive"), [(SSE, b":\n"), (LINES, b"\n")], ids=["sse", "lines"])
def test_quiet_streams_are_kept_alive(
    watching: Api, app_key: str, headers: Mapping[str, str], keepalive: bytes
) -> None:
    with closing(stream(watching, app_key, headers)) as answer:
        chunks = answer.iter_encoded()
        next(chunks)
        began = monotonic()
        assert [next(chunks) for _ in range(3)] == [keepalive] * 3
        assert 0.5 < monotonic() - began < PATIENCE


def test_last_event_id_overrides_after(api: Api, app_key: str, publish: Publish) -> None:
    create(api, app_key)
    publish()
    first, second = page(api, app_key)["items"]
    answer = api.get(f"/v1/feed?after={second['cursor']}", token=app_key, headers={"Last-Event-ID": first["cursor"]})
    assert answer.get_json()["items"] == [second]


def test_another_worker_takes_a_cursor(api: Api, app_key: str, publish: Publish, redis_url: str, app: Flask) -> None:
    table = create(api, app_key)
    publish()
    cursor = page(api, app_key)["cursor"]
    nodes = SingleNodeTopology(connect(redis_url))
    with closing(RedisEventFeed(nodes)) as notifications:
        restarted = build_backends(nodes, notifications=notifications)
        games = app.extensions["domino"].games
        other = Api(create_app(games, backends=restarted).test_client(use_cookies=False))
        with closing(stream(other, app_key, SSE, last=cursor)) as answer:
            chunks = answer.iter_encoded()
            next(chunks)
            table.make_legal_move()
            publish()
            assert versions(read(chunks, 1)) == [3]


def test_where_items_are_gone_the_first_says_so(api: Api, app_key: str, publish: Publish, server: redis.Redis) -> None:
    table = create(api, app_key)
    publish()
    first = page(api, app_key, limit=1)["cursor"]
    for _ in range(4):
        table.make_legal_move()
    publish()
    server.xtrim(keys.part(b"feed", app_key[4:28]), maxlen=2, approximate=False)
    told = page(api, app_key, after=first)
    (reset,) = told["items"]
    assert (reset["type"], reset["cursor"], told["more"]) == ("reset", told["cursor"], True)
    kept = page(api, app_key, after=told["cursor"])["items"]
    assert versions(kept) == [5, 6]
    assert page(api, app_key)["items"] == kept
    with closing(stream(api, app_key, LINES, f"?after={first}")) as answer:
        items = read(answer.iter_encoded(), 3)
    assert items[0]["type"] == "reset"
    assert items[1:] == kept


def test_a_deleted_game_is_told_and_its_refs_are_told_no_more(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, ref="match-1")
    publish()
    assert "match-1" in api.get("/v1/feed", token=app_key).text
    assert api.delete(table.path, token=app_key).status_code == 204
    publish()
    text = api.get("/v1/feed", token=app_key).text
    assert not any(ref in text for ref in ("match-1", "user-ada", "user-bob"))
    items = page(api, app_key)["items"]
    assert [item["type"] for item in items] == ["created", "dealt", "deleted"]
    assert (items[-1]["game_id"], items[-1]["version"]) == (table.id, 3)


def test_the_feed_stores_the_id_of_a_game_alone(api: Api, app_key: str, publish: Publish, server: redis.Redis) -> None:
    table = create(api, app_key, ref="match-1")
    publish()
    items: Any = server.xrange(keys.part(b"feed", app_key[4:28]))
    stored = b"".join(fields[b"item"] for _, fields in items)
    assert table.id.encode() in stored
    assert not any(secret in stored for secret in (b"match-1", b"user-ada", b"Ada"))


def test_no_application_is_told_of_another_ones_games(api: Api, app_key: str, other_key: str, publish: Publish) -> None:
    create(api, app_key)
    api.create("domino", 2)
    publish()
    cursor = page(api, app_key, limit=1)["cursor"]
    assert page(api, other_key)["items"] == []
    assert [item["type"] for item in page(api, other_key, after=cursor)["items"]] == ["reset"]
    assert page(api, other_key, after="latest")["cursor"] == "0-0"
    for token in (None, "tok_" + "x" * 43, "app_" + "x" * 24 + "_" + "y" * 43, other_key[:-1] + "-"):
        assert status_and_code(api.get("/v1/feed", token=token)) == (401, "unauthorized")


def test_no_item_tells_a_tile_a_name_or_a_secret(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    while table.view()["status"] == "playing":
        table.make_legal_move()
    publish()
    text = api.get("/v1/feed?limit=1000", token=app_key).text
    assert not any(f'"{tile.name}"' in text for tile in TILES)
    assert not any(secret in text for secret in ("Ada", "Bob", *table.tokens.values(), app_key, app_key[4:28]))


@pytest.mark.parametrize(
    "after",
    [
        *("", "0", "-1", "1-", "x", "0-0-0", "1_0-0", "%00", "%ed%a0%80", "9" * 19 + "-0", "1-%D9%A3", "LATEST"),
        *("latest%0A", "(1-1", "%2B", "$", "1-1%20", "9" * 5000),
    ],
)
def test_a_text_that_is_no_cursor_is_refused(api: Api, app_key: str, after: str) -> None:
    assert causes_of(api.get(f"/v1/feed?after={after}", token=app_key)) == [("after", "not_a_cursor")]


def test_a_header_that_is_no_cursor_is_refused(api: Api, app_key: str) -> None:
    for headers in ({}, SSE, LINES):
        answer = api.get("/v1/feed", token=app_key, headers={**headers, "Last-Event-ID": "7"})
        assert invalid_fields(answer) == ["Last-Event-ID"]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "wait=-1", "wait=26", "view=true"])
def test_other_parameters_are_refused(api: Api, app_key: str, query: str) -> None:
    assert status_and_code(api.get(f"/v1/feed?{query}", token=app_key)) == (422, "invalid")


def test_a_cursor_from_the_future_is_answered_by_a_reset(api: Api, app_key: str, publish: Publish) -> None:
    create(api, app_key)
    publish()
    told = page(api, app_key, after="9" * 18 + "-0")
    assert [item["type"] for item in told["items"]] == ["reset"]
    assert told["cursor"] == page(api, app_key, after="latest")["cursor"]


def test_head_waits_for_nothing(watching: Api, app_key: str) -> None:
    for headers in ({}, SSE, LINES):
        answer = watching.head("/v1/feed?wait=25", token=app_key, headers=headers)
        assert (answer.status_code, answer.data) == (200, b"")


def test_streams_count_by_their_key(games: GamesFacade, backends: BackendsFacade, app_key: str, other_key: str) -> None:
    limited = create_app(games, build_streams(StreamLimits(100, by_game=2)), backends=backends)
    api = Api(limited.test_client(use_cookies=False))
    for _ in range(2):  # a closed stream leaves its place to another one
        open_ones = [stream(api, app_key, SSE), stream(api, app_key, LINES)]
        for query, headers in (("", SSE), ("?wait=1", {})):
            answer = api.get(f"/v1/feed{query}", token=app_key, headers=headers)
            assert status_and_code(answer) == (503, "too_many_streams")
        for each in (*open_ones, stream(api, other_key, SSE)):
            each.close()


def test_a_draining_worker_ends_streams_and_polls(
    worker: Application, watching: Api, app_key: str, crowd: ThreadPoolExecutor, streams: Streams
) -> None:
    sse, lines = stream(watching, app_key, SSE), stream(watching, app_key, LINES)
    client = Api(worker.test_client(use_cookies=False))
    poll = crowd.submit(page, client, app_key, wait=25)
    until(lambda: len(streams._open) == 3)
    worker.drain()
    assert poll.result(PATIENCE)["items"] == []
    for answer in (sse, lines):
        with closing(answer):
            (closing_item,) = items_in(rest(answer.iter_encoded()))
        assert (closing_item["type"], closing_item["cursor"]) == ("closing", "0-0")
    assert not streams._open


@pytest.mark.parametrize("headers", [SSE, LINES], ids=["sse", "lines"])
@pytest.mark.parametrize("moves", [False, True])
def test_a_revoked_key_ends_its_streams_and_is_told_nothing(
    backends: BackendsFacade,
    api: Api,
    watching: Api,
    *,
    app_key: str,
    publish: Publish,
    headers: Mapping[str, str],
    moves: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not moves:
        monkeypatch.setattr("service.web.events.stream.CHECK_SECONDS", 0.1)
    table = create(api, app_key)
    publish()
    with closing(stream(watching, app_key, headers, "?after=latest")) as answer:
        chunks = answer.iter_encoded()
        next(chunks)
        backends.keys.revoke(app_key[4:28])
        if moves:
            table.make_legal_move()
            publish()
        assert items_in(rest(chunks)) == []


def test_a_key_that_is_revoked_ends_its_long_poll(
    backends: BackendsFacade, watching: Api, app_key: str, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.web.http.streams.CHECK_SECONDS", 0.1)
    answers: list[TestResponse] = []
    poll = Thread(target=lambda: answers.append(watching.get("/v1/feed?wait=25", token=app_key)))
    poll.start()
    until(lambda: len(streams._open) == 1)
    backends.keys.revoke(app_key[4:28])
    poll.join(PATIENCE)
    (answer,) = answers
    assert status_and_code(answer) == (401, "unauthorized")
    assert not streams._open
