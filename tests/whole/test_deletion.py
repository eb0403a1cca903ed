"""A deleted game under real processes: streams of both workers end, computer players stop, the log has no name."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from service.games.store.codec import encode_tombstone
from service.redis import keys
from service.redis.shards import shard_of
from service.web.http.streams import KEEPALIVE_SECONDS
from tests.storage.servers import RealServer
from tests.support.serving import Service
from tests.support.waiting import PATIENCE
from tests.whole.stream_reader import NDJSON, SSE, StreamReader
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

IN_TIME = KEEPALIVE_SECONDS
"""Seconds within which every stream ends: one that has not noticed writes then."""
NAMES = ("Ada Lovelace", "Bob Bernoulli")
REFS = ("user-4711", "user-4712", "match-0815")


@pytest.fixture(scope="module")
def own(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with Service(folder, REDIS_URL=server.url, LOG_LEVEL="debug") as running:
        yield running


@pytest.fixture
def client(own: Service) -> Iterator[httpx.Client]:
    with connect(own.url) as client:
        yield client


@pytest.fixture
def key(own: Service) -> str:
    return own.new_key()


def authorized(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def owned(client: httpx.Client, key: str, **more: Any) -> Table:
    players = [{"name": name, "ref": ref} for name, ref in zip(NAMES, REFS, strict=False)]
    body = {"variant": "domino", "players": players, "ref": REFS[2], **more}
    return Table(client, client.post("/v1/games", json=body, headers=authorized(key)).raise_for_status().json())


def delete(client: httpx.Client, table: Table, key: str) -> int:
    return client.delete(table.path, headers=authorized(key)).status_code


def last_of(stream: StreamReader) -> tuple[str, float]:
    """The type of the last item of a stream, and when the stream ended."""
    return [each["type"] for each in stream.events()][-1], time.monotonic()


@pytest.mark.parametrize("told", [True, False])
def test_the_streams_of_both_workers_end_in_time_whether_a_notification_tells_them_or_not(
    client: httpx.Client, server: RealServer, key: str, *, told: bool
) -> None:
    table = owned(client, key)
    with ExitStack() as stack:
        streams = [
            stack.enter_context(StreamReader(table, seat, media_type=kind))
            for seat in (0, 1, None)
            for kind in (SSE, NDJSON)
            for _ in range(3)
        ]
        for stream in streams:
            stream.take(2)
        threads = stack.enter_context(ThreadPoolExecutor(len(streams)))
        ends = [threads.submit(last_of, stream) for stream in streams]
        if told:
            assert delete(client, table, key) == 204
            deleted = time.monotonic()
        else:
            # As the script does it, but without its notification.
            shard = shard_of(table.id)
            assert shard is not None
            deleted = time.monotonic()
            state = keys.state(table.id)
            server.admin.set(state, b"99 %b" % encode_tombstone(key[4:28]), keepttl=True)
            server.admin.delete(keys.part(b"events", table.id))
            now = server.admin.time()
            server.admin.zadd(keys.DELETED[shard], {table.id: now[0] * 1000 + now[1] // 1000})
        for end in ends:
            last, at = end.result(PATIENCE)
            assert last == "deleted"
            assert at - deleted < IN_TIME
    for _ in range(10):
        with connect(str(client.base_url)) as another:  # of either worker
            assert another.get(table.path).status_code == 410


def test_games_of_computer_players_are_deleted_while_they_play(service: Service, http: httpx.Client) -> None:
    before = len(service.lines)
    key = service.new_key()
    players = [{"name": NAMES[0], "ref": REFS[0]}, {"bot": "greedy"}, {"bot": "expert"}]
    tables = [owned(http, key, players=players, pace=0, clock={"turn": 5}) for _ in range(20)]
    for attempt, table in enumerate(tables):
        http.put(f"{table.path}/players/0/presence", json={"away": True}, headers=table.headers(0))
        time.sleep(0.02 * (attempt % 5))
        assert delete(http, table, key) == 204
    time.sleep(1)  # a worker that is about to move does it now
    assert {http.get(table.path).status_code for table in tables} == {410}
    assert not [line for line in service.lines[before:] if "Traceback" in line or "failed" in line]


def test_no_line_of_the_log_has_a_name_a_ref_or_a_key(client: httpx.Client, own: Service, key: str) -> None:
    table = owned(client, key)
    client.post("/v1/games", json={"variant": "domino", "players": [{"name": NAMES[0], "ref": 7}]})
    client.get(table.path, params={"player_ref": REFS[0]}, headers=authorized(key))
    client.post(f"{table.path}/players", json={"name": NAMES[1], "join_code": "A" * 16})
    table.client.make_legal_move(table, random.Random(1))
    for _ in range(2):
        delete(client, table, key)
    client.post(f"{table.path}/moves", json={"action": "pass"}, headers=table.headers(0))
    assert any("deleteGame" in line or "/v1/games/<game>" in line for line in own.lines)
    for line in own.lines:
        for each in (*NAMES, *REFS, key, table.id, *table.tokens.values()):
            assert each not in line
