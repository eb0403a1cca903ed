"""The store goes away under a running service, and comes back: nobody waits long, nothing is lost, nobody need act."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from prometheus_client.parser import text_string_to_metric_families

from service.games.store.stats import VALID_MS
from tests.storage.servers import (
    RealServer,
    fill,
    frozen,
    full,
    read_only,
    too_few_replicas,
    unable_to_save,
    write_before_answering,
)
from tests.support.contract import PROBLEM
from tests.support.processes import free_ports
from tests.support.serving import ALONE, Service
from tests.support.waiting import PATIENCE, until
from tests.whole.table import TLS, Table, connect

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def hurt(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose store the tests may hurt."""
    metrics_port = str(free_ports(1)[0])
    with Service(tmp_path_factory.mktemp("hurt"), REDIS_URL=server.url, METRICS_PORT=metrics_port) as running:
        yield running


@pytest.fixture(scope="module")
def client(hurt: Service) -> Iterator[httpx.Client]:
    with connect(hurt.url) as client:
        yield client


Ask = Callable[[], httpx.Response]


class Scene:
    """A running game and one with an open seat, with everything that can be asked of them."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.table = Table.create(http, "dominospiel", 3)
        self.open = Table.create(http, "domino", [{"name": "Ada"}, {"open": True}])
        self.view = self.table.view()
        self.seat = self.table.to_move(self.view)
        self.body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}

    def reads(self) -> list[Ask]:
        table, seat = self.table, self.seat
        return [
            table.get,
            lambda: table.get(seat=seat, If_None_Match='"1-s"'),
            lambda: table.get("/moves", seat),
            lambda: table.get("/score", seat),
        ]

    def writes(self) -> list[Ask]:
        join = {"name": "Bo", "join_code": self.open.join_code}
        move = self.view_of_mover["legal_moves"][0]
        return [
            lambda: self.http.post("/v1/games", json=self.body),
            lambda: self.http.post(f"{self.open.path}/players", json=join),
            lambda: self.table.move(self.seat, move),
        ]

    def look(self) -> None:
        self.view_of_mover = self.table.view(self.seat)

    def is_as_it_was(self) -> None:
        """Every read and write works at once, and nothing changed meanwhile. The service soon says that it is ready."""
        assert self.table.view(self.seat) == self.view_of_mover
        assert self.open.view()["status"] == "waiting"
        assert [ask().status_code for ask in self.writes()] == [201, 201, 201]
        until_every_worker(self.http, lambda answer: answer.status_code == 200)


@pytest.fixture
def scene(client: httpx.Client) -> Scene:
    scene = Scene(client)
    scene.look()
    return scene


def until_every_worker(http: httpx.Client, condition: Callable[[httpx.Response], bool]) -> None:
    """Wait until all answers of /readyz on new connections, so that any worker may answer, are as they should be.

    A worker keeps an answer of the store for ``VALID_MS``: only after that does every worker know what has changed
    before this call, also one that accepted none of the connections.
    """
    url = http.base_url.join("/readyz")
    known_to_all = time.monotonic() + VALID_MS / 1000
    until(
        lambda: (
            all(condition(httpx.get(url, timeout=PATIENCE, verify=TLS)) for _ in range(8))
            and time.monotonic() > known_to_all
        )
    )


def not_ready(http: httpx.Client) -> None:
    """All workers soon say that they are not ready, and still do."""
    until_every_worker(http, lambda answer: answer.status_code == 503)
    unavailable(lambda: http.get("/readyz"))


def all_unavailable(asks: list[Ask], http: httpx.Client) -> None:
    """Each, one after the other and all at once, is refused in time; the service lives and is not ready."""
    for ask in asks:
        unavailable(ask)
    with ThreadPoolExecutor(len(asks)) as threads:
        list(threads.map(unavailable, asks))
    assert http.get("/healthz").status_code == 200
    assert http.get("/v1/variants").status_code == 200
    not_ready(http)


def unavailable(ask: Ask) -> None:
    answer = ask()
    assert answer.status_code == 503, (str(answer.request.url), answer.text)
    assert answer.headers["Content-Type"] == PROBLEM
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (503, "storage_unavailable")
    assert int(answer.headers["Retry-After"]) == problem["retry_after"] >= 1


def test_a_server_that_was_killed(scene: Scene, server: RealServer) -> None:
    write_before_answering(server.admin)
    server.kill()
    try:
        all_unavailable([*scene.reads(), *scene.writes()], scene.http)
    finally:
        server.start()
    scene.is_as_it_was()


def test_a_server_that_does_not_answer(scene: Scene, server: RealServer) -> None:
    with frozen(server):
        all_unavailable(scene.reads(), scene.http)
    scene.is_as_it_was()


def test_a_move_that_nobody_heard_of_is_not_made_twice(scene: Scene, server: RealServer) -> None:
    """A write that a frozen server reads later may or may not happen, but the version lets it happen once."""
    with frozen(server):
        answer = scene.writes()[2]()
    # A worker that remembers the game asks for the write at once; another one does not come beyond reading it.
    assert (answer.status_code, answer.json()["code"]) in {(503, "outcome_unknown"), (503, "storage_unavailable")}
    assert scene.writes()[2]().status_code in (201, 412)
    assert scene.table.view()["version"] > scene.view["version"]
    assert scene.writes()[2]().status_code == 412


def test_a_server_that_is_full(scene: Scene, server: RealServer) -> None:
    with full(server):
        all_unavailable(scene.writes(), scene.http)
        for ask in scene.reads():
            assert ask().status_code == 200
    scene.is_as_it_was()


def test_a_server_that_is_almost_full_takes_moves_and_no_new_games(scene: Scene, server: RealServer) -> None:
    fill(server.admin, 95)
    create, join, move = scene.writes()
    try:
        # On a connection of its own each, so that both workers are asked; each looks at the memory once a second.
        url = scene.http.base_url.join("/v1/games")
        fresh: list[Ask] = [lambda: httpx.post(url, json=scene.body, timeout=PATIENCE, verify=TLS)] * 8
        until(lambda: all(ask().status_code == 503 for ask in [create, *fresh]))
        unavailable(create)
        assert [join().status_code, move().status_code] == [201, 201]
        for _ in scene.table.play(1):
            pass
        until_every_worker(scene.http, lambda answer: answer.status_code == 200)
    finally:
        server.configure(maxmemory="0")
        server.admin.delete("ballast")
    until(lambda: all(ask().status_code == 201 for ask in [create, *fresh]))


@pytest.mark.nightly
@pytest.mark.parametrize("stale", ["yes", "no"])
def test_a_server_that_only_copies_another(scene: Scene, server: RealServer, stale: str) -> None:
    """It answers reads only if it may tell what it has."""
    server.configure(replica_serve_stale_data=stale)
    with read_only(server):
        all_unavailable([*scene.writes(), *(scene.reads() if stale == "no" else ())], scene.http)
    server.configure(replica_serve_stale_data="yes")
    scene.is_as_it_was()


@pytest.mark.nightly
def test_a_server_that_insists_on_copies(scene: Scene, server: RealServer) -> None:
    with too_few_replicas(server):
        all_unavailable(scene.writes(), scene.http)
    scene.is_as_it_was()


@pytest.mark.parametrize(
    ("disturb", "reason"),
    [(full, "OOM"), (read_only, "READONLY"), (too_few_replicas, "NOREPLICAS"), (unable_to_save, "MISCONF")],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_the_metrics_say_why_the_service_is_not_ready(
    scene: Scene, hurt: Service, server: RealServer, disturb: Callable[[RealServer], contextlib.ExitStack], reason: str
) -> None:
    before = write_errors(hurt)
    with disturb(server):
        not_ready(scene.http)
        after = write_errors(hurt)
        assert after.pop(reason) > before.pop(reason, 0)
        assert after == before
    scene.is_as_it_was()


def test_without_the_replica_that_is_wanted_the_service_is_not_ready(server: RealServer, tmp_path: Path) -> None:
    metrics_port = str(free_ports(1)[0])
    replicated = Service(tmp_path, REDIS_URL=server.url, DURABILITY="replicated", METRICS_PORT=metrics_port)
    with replicated as service, connect(service.url) as http:
        not_ready(http)
        assert {reason for reason, count in write_errors(service).items() if count} == {"no replica"}


def write_errors(service: Service) -> dict[str, float]:
    """The writes that failed so far, by the reason."""
    return {
        sample.labels["reason"]: sample.value
        for family in text_string_to_metric_families(
            httpx.get(f"{service.metrics_url}/metrics", timeout=PATIENCE, verify=TLS).text
        )
        for sample in family.samples
        if sample.name == "domino_store_write_errors_total"
    }


@pytest.mark.nightly
def test_a_server_that_is_busy_with_a_script(scene: Scene, server: RealServer) -> None:
    server.configure(busy_reply_threshold="50")
    busy: Any = server.admin.connection_pool.make_connection()
    try:
        busy.connect()
        busy.send_command("EVAL", "while true do end", 0)
        until_busy(server.admin)
        try:
            all_unavailable([*scene.reads(), *scene.writes()], scene.http)
        finally:
            server.admin.script_kill()
            with pytest.raises(redis.ResponseError, match="killed"):
                busy.read_response()  # only then is the server free again
    finally:
        busy.disconnect()
    scene.is_as_it_was()


def until_busy(client: redis.Redis) -> None:
    """Wait until the server refuses commands because a script runs."""

    def is_busy() -> bool:
        try:
            client.ping()
        except redis.ResponseError as error:
            return "busy" in str(error)
        return False

    until(is_busy)


@pytest.mark.nightly
def test_connections_that_the_server_has_cut_and_scripts_that_it_has_forgotten(
    scene: Scene, server: RealServer
) -> None:
    server.admin.client_kill_filter(_type="normal", skipme=True)
    server.admin.script_flush()
    scene.is_as_it_was()


@pytest.mark.nightly
def test_the_games_are_there_after_a_restart(tmp_path: Path) -> None:
    service = Service(tmp_path, WORKERS="1", **ALONE)
    with service, connect(service.url) as http:
        scene = Scene(http)
        scene.look()
        etag = scene.table.get(seat=scene.seat).headers["ETag"]
        score = scene.table.get("/score").json()
    with service, connect(service.url) as http:
        scene.http = scene.table.http = scene.open.http = http
        assert scene.table.get(seat=scene.seat, If_None_Match=etag).status_code == 304
        assert scene.table.get("/score").json() == score
        scene.is_as_it_was()
        for _ in scene.table.play(1):
            pass
        assert scene.table.view()["status"] == "finished"
