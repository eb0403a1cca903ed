"""Streams of a running service with two workers, while clients, Redis and the service stop and restart."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from service.engine.variants import variants
from service.redis import keys
from service.web.http.streams import KEEPALIVE_SECONDS
from tests.api.saved_games import shortest
from tests.storage.servers import RealServer
from tests.support import lanes
from tests.support.contract import Contract
from tests.support.processes import free_ports
from tests.support.serving import Service
from tests.support.waiting import PATIENCE
from tests.whole.stream_reader import NDJSON, SSE, Event, StreamReader
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

CUTS = 100
MAX_STEPS = 4000

LONG = {"limit": 1000}


def everything(table: Table, seat: int | None = None) -> list[Event]:
    """All events, by pages."""
    events: list[Event] = []
    for _ in range(1000):
        page = table.get(f"/events?limit=1000&after={len(events)}", seat).raise_for_status().json()
        events += page["events"]
        if not page["more"]:
            return events
    raise AssertionError("pages without an end")


def make_move(table: Table, rng: random.Random) -> int:
    """Make a legal move; the version then."""
    return int(table.make_legal_move(rng)["version"])


def viewers(table: Table) -> list[int | None]:
    return [None, *table.tokens]


def test_both_kinds_of_streams_send_every_viewer_the_whole_match(http: httpx.Client, contract: Contract) -> None:
    event = contract.operation("GET", "/v1/games/x/events")["responses"]["200"]["content"]["application/json"]
    assert event["schema"]["$ref"].endswith("/EventPage")
    for variant in lanes.in_lane(list(variants()), quick=lanes.GATE_VARIANTS):
        table = Table.create(http, variant, options=shortest(variant), seed="a rainy evening")
        with ExitStack() as stack, ThreadPoolExecutor(16) as crowd:
            listening = [
                (seat, crowd.submit(list, stack.enter_context(StreamReader(table, seat, media_type=kind)).events()))
                for seat in viewers(table)
                for kind in (SSE, NDJSON)
            ]
            for _ in table.play(seed=1):
                pass
            for seat, heard in listening:
                events = everything(table, seat)
                assert heard.result(PATIENCE) == events
                contract.check_value(event["schema"], {"events": events, "version": 1, "more": False})
        assert [each["version"] for each in events] == [*range(1, len(events) + 1)]
        with StreamReader(table, after=len(events)) as again:
            assert (again.answer.status, again.answer.read()) == (204, b"")


def test_a_poll_returns_a_move_made_at_another_worker(http: httpx.Client) -> None:
    table = Table.create(http, "domino", 2, options=LONG)
    rng = random.Random(1)
    with ThreadPoolExecutor(1) as crowd, connect(str(http.base_url)) as own:
        version = table.view()["version"]
        for _ in range(20):  # connections go to both workers
            poll = crowd.submit(
                own.get, f"{table.path}/events?after={version}&wait=25", headers={"Connection": "close"}
            )
            version = make_move(table, rng)
            page = poll.result(PATIENCE).raise_for_status().json()
            assert page["version"] <= version
            assert page["events"]


def test_a_hundred_random_cuts_of_a_stream_lose_nothing_and_repeat_nothing(http: httpx.Client) -> None:
    table = Table.create(http, "dominospiel", 3, options=LONG, seed="cuts")
    rng = random.Random(2)
    stop = threading.Event()

    def play() -> None:
        with connect(str(http.base_url)) as own:
            mine = Table(own, table.created)
            for _ in range(MAX_STEPS):
                if stop.is_set():
                    return
                make_move(mine, random.Random(3))

    with ThreadPoolExecutor(1) as crowd:
        playing = crowd.submit(play)
        try:
            heard: dict[str, list[Event]] = {SSE: [], NDJSON: []}
            for _ in range(CUTS):
                for kind, events in heard.items():
                    with StreamReader(table, 1, after=len(events) or None, media_type=kind) as stream:
                        events.extend(stream.events(most_bytes=rng.choice((1, 20, rng.randrange(1500)))))
            assert not playing.done()
        finally:
            stop.set()
        playing.result(PATIENCE)
    whole = everything(table, 1)
    assert len(whole) > 100
    for kind, events in heard.items():
        with StreamReader(table, 1, after=len(events), media_type=kind) as stream:
            if len(events) < len(whole):
                events.extend(stream.until(len(whole)))
        assert events == whole


def with_few_streams(folder: Path, server: RealServer) -> Service:
    metrics = str(free_ports(1)[0])
    return Service(folder, REDIS_URL=server.url, MAX_STREAMS="4", GRACEFUL_TIMEOUT="600", METRICS_PORT=metrics)


@pytest.fixture(scope="module")
def shared(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with few streams, for tests that leave it as they found it."""
    with with_few_streams(tmp_path_factory.mktemp("shared"), server) as running:
        yield running


@pytest.fixture
def client(shared: Service) -> Iterator[httpx.Client]:
    with connect(shared.url) as client:
        yield client


@pytest.fixture
def own(server: RealServer, tmp_path: Path) -> Iterator[Service]:
    """A service for a test that stops it or its workers."""
    with with_few_streams(tmp_path / "own", server) as running:
        yield running


@pytest.fixture
def own_client(own: Service) -> Iterator[httpx.Client]:
    with connect(own.url) as client:
        yield client


def errors(service: Service) -> list[str]:
    return [line for line in service.lines if "Traceback" in line or " ERROR " in line or "[ERROR]" in line]


def test_a_restart_of_redis_leaves_no_gap_in_a_stream(
    shared: Service, client: httpx.Client, server: RealServer
) -> None:
    table = Table.create(client, "domino", 3, options=LONG)
    rng = random.Random(4)
    with StreamReader(table, 0) as seat, StreamReader(table) as public:
        for stream in (seat, public):
            assert [each["version"] for each in stream.take(2)] == [1, 2]
        reached = 2
        for _ in range(2):
            server.kill()
            assert client.get(table.path).status_code == 503
            server.start()
            before = reached
            reached = make_move(table, rng)
            reached = make_move(table, rng)
            for stream in (seat, public):
                assert [each["version"] for each in stream.until(reached)] == [*range(before + 1, reached + 1)]
    assert not errors(shared)


def test_cut_subscription_connections_leave_no_gap_in_a_stream(client: httpx.Client, server: RealServer) -> None:
    table = Table.create(client, "domino", 3, options=LONG)
    rng = random.Random(5)
    with StreamReader(table, 0) as stream:
        heard = [each["version"] for each in stream.take(2)]
        for _ in range(10):
            server.admin.client_kill_filter(_type="pubsub")
            heard += [each["version"] for each in stream.until(make_move(table, rng))]
    assert heard == [*range(1, len(heard) + 1)]


def test_a_game_that_is_deleted_under_a_stream_is_not_found_when_it_connects_again(
    shared: Service, client: httpx.Client, server: RealServer
) -> None:
    table = Table.create(client, "domino", 2)
    with StreamReader(table, 0) as stream:
        stream.take(2)
        server.admin.delete(keys.state(table.id), keys.part(b"events", table.id))
        server.admin.client_kill_filter(_type="pubsub")  # all resubscribe
        assert list(stream.events()) == []
    with StreamReader(table) as again:
        assert again.answer.status == 404
    assert not errors(shared)


def test_streams_beyond_the_cap_are_refused_while_moves_are_made(client: httpx.Client) -> None:
    table = Table.create(client, "domino", 2, options=LONG)
    with ExitStack() as stack:
        streams = [stack.enter_context(StreamReader(table)) for _ in range(30)]
        statuses = [stream.answer.status for stream in streams]
        assert set(statuses) == {200, 503}
        assert statuses.count(200) <= 8, "four a worker"
        for stream in streams:
            if stream.answer.status == 503:
                assert int(stream.answer.headers["Retry-After"]) >= 1
        version = make_move(table, random.Random(6))
        for stream in streams:
            if stream.answer.status == 200:
                assert len(stream.until(version)) == version


@pytest.mark.parametrize("kind", ["stream", "long poll", "long poll of the view"])
def test_a_client_that_disconnects_leaves_its_place_at_once(kind: str, shared: Service, client: httpx.Client) -> None:
    table = Table.create(client, "domino", 2, options=LONG)
    accept, wait = (SSE, 0) if kind == "stream" else ("application/json", 25)
    resource = "" if kind == "long poll of the view" else "/events"
    target = f"{table.path}{resource}?after={table.view()['version']}&wait={wait}"
    request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode()
    for _ in range(3):
        with ExitStack() as stack:
            for _ in range(100):  # until both workers have all their streams
                connection = socket.create_connection(("127.0.0.1", httpx.URL(shared.url).port or 0), PATIENCE)
                stack.enter_context(connection).sendall(request)
                if open_streams(shared) == 8:
                    break
            else:
                raise AssertionError("the streams of a worker were not used")
        deadline = time.monotonic() + KEEPALIVE_SECONDS / 2
        while open_streams(shared):  # without an event or a keep-alive, whose failure would show it, too
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert not errors(shared)


def open_streams(own: Service) -> int:
    """The open streams of the workers together."""
    metrics = httpx.get(f"{own.metrics_url}/metrics", timeout=PATIENCE).raise_for_status().text
    return int(float(metrics.rpartition("domino_open_streams ")[2].split()[0]))


def test_at_a_stop_streams_get_their_closing_event_and_polls_their_answer(
    own: Service, own_client: httpx.Client, server: RealServer
) -> None:
    table, polled = Table.create(own_client, "domino", 2), Table.create(own_client, "domino", 2)
    version = table.view()["version"]
    with ExitStack() as stack, ThreadPoolExecutor(2) as crowd:
        streams = [stack.enter_context(StreamReader(table, 0, media_type=kind)) for kind in (SSE, NDJSON)]
        for stream in streams:
            stream.take(version)
        poll = crowd.submit(own_client.get, f"{polled.path}/events?after={version}&wait=25")
        until_followed(server, polled)
        own.process.send_signal(signal.SIGTERM)
        for stream in streams:
            (last,) = stream.events()
            assert (last["type"], last["version"], last["data"]) == ("closing", version, {})
        assert poll.result(PATIENCE).json() == {"events": [], "version": version, "more": False}
        assert own.stop() == 0  # long before GRACEFUL_TIMEOUT: it waits for no stream
    assert not errors(own)


def until_followed(server: RealServer, table: Table) -> None:
    """Wait until a worker listens to what happens in the game."""
    deadline = time.monotonic() + PATIENCE
    while not dict(server.admin.pubsub_shardnumsub(keys.state(table.id).decode()))[keys.state(table.id)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_rolling_restart_lets_streams_go_on_elsewhere(own: Service, own_client: httpx.Client) -> None:
    table = Table.create(own_client, "domino", 2, options=LONG)
    rng = random.Random(7)
    with StreamReader(table, 1) as stream:
        stream.take(2)
        own.process.send_signal(signal.SIGHUP)
        *_, last = stream.events()
        assert last["type"] == "closing"
    with connect(own.url) as fresh:
        again = Table(fresh, table.created)
        version = make_move(again, rng)
        followed = [each for each in reconnecting(again, last["version"], version) if each["type"] != "closing"]
        assert [each["version"] for each in followed] == [*range(3, version + 1)]


def reconnecting(table: Table, known: int, version: int) -> Iterator[Event]:
    """Yield the events up to a version, as a client gets them that connects again after ``closing``.

    In a rolling restart a stream may begin on an old worker, which takes connections until it closes its socket.
    """
    for _ in range(50):
        with StreamReader(table, 1, after=known) as stream:
            for event in stream.events():
                yield event
                known = max(known, event["version"])
                if known == version:
                    return
    raise AssertionError("every stream was closed")


def test_a_client_that_reads_nothing_for_a_while_gets_all_in_the_end(http: httpx.Client) -> None:
    table = Table.create(http, "fido", 3, options={"set": 18, "rounds": 100}, seed="slow")
    rng = random.Random(8)
    with StreamReader(table, 0) as stream:
        for _ in range(150):
            version = make_move(table, rng)
        assert [each["version"] for each in stream.until(version)] == [*range(1, version + 1)]
