"""The reader of events for browsers, run by Node: nothing lost, nothing twice, whatever happens to its connections."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import httpx
import pytest

from tests.storage.servers import RealServer
from tests.support.serving import Service
from tests.support.waiting import PATIENCE
from tests.vectors.verifiers import node_or_skip
from tests.whole.table import Table, connect
from tests.whole.test_streams import everything, make_move
from tests.whole.web_proxy import WebProxy

pytestmark = pytest.mark.gate

Item = dict[str, Any]

DRIVER = Path(__file__).with_name("follow.mjs")
MAX_LINES = 70


class Reader(AbstractContextManager["Reader"]):
    """A program that follows a table through the service or proxy at ``url``."""

    def __init__(self, module: Path, url: str, table: Table, seat: int | None = None, speed: int = 1, **options: Any):
        token = {} if seat is None else {"token": table.tokens[seat]}
        self.process = subprocess.Popen(
            [node_or_skip(), DRIVER, module, url + table.path, json.dumps({**token, **options}), str(speed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._items: SimpleQueue[Item] = SimpleQueue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def until(self, condition: Callable[[Item], bool]) -> list[Item]:
        """The next items, up to the first one that fulfils the condition."""
        items: list[Item] = []
        while not items or not condition(items[-1]):
            try:
                items.append(self._items.get(timeout=PATIENCE))
            except Empty:
                raise AssertionError(f"nothing came after {items[-1:]}") from None
        return items

    def end(self) -> list[Item]:
        """The rest, and how it ended; the program ends by itself."""
        items = self.until(lambda item: item["type"] in ("end", "thrown"))
        assert self.process.wait(PATIENCE) == 0
        return items

    def abort(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("abort\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._items.put(json.loads(line))


def shows(version: int) -> Callable[[Item], bool]:
    return lambda item: bool(item["type"] == "view" and item["version"] >= version)


def check(items: list[Item], table: Table, seat: int | None, *, view: bool) -> None:
    """Each event once and in order; the views in order, the last one the view as it is now."""
    *received, end = items
    assert end == {"type": "end"}
    assert [item for item in received if item["type"] != "view"] == everything(table, seat)
    views = [item["version"] for item in received if item["type"] == "view"]
    assert sorted(set(views)) == views
    assert bool(views) == view
    if view:
        assert received[-1]["game"] == table.view(seat)


@pytest.fixture(scope="module")
def module(http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module as the service serves it."""
    path = tmp_path_factory.mktemp("client") / "events.mjs"
    path.write_bytes(http.get("/client/events.js").raise_for_status().content)
    return path


def test_the_module_is_short_cacheable_and_may_be_imported_by_any_page(http: httpx.Client) -> None:
    answer = http.get("/client/events.js", headers={"Origin": "https://example.org"})
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, no-cache"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    without_types = [line for line in answer.text.splitlines() if not line.startswith(" * @")]
    assert len(without_types) <= MAX_LINES
    unchanged = http.get("/client/events.js", headers={"If-None-Match": answer.headers["ETag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert http.head("/client/events.js").headers["ETag"] == answer.headers["ETag"]


@pytest.mark.parametrize("view", [True, False])
def test_a_match_is_followed_over_cut_connections(http: httpx.Client, module: Path, view: bool) -> None:
    table = Table.create(http, "dominospiel", 2, options={"limit": 10}, seed="cuts")
    rng = random.Random(1)
    with WebProxy(str(http.base_url), lambda: rng.choice((1, 400, 900, 15_000 if view else 2000))) as proxy:
        with Reader(module, proxy.url, table, 1, view=view) as reader:
            for _ in table.play(seed=1):
                pass
            check(reader.end(), table, 1, view=view)
        assert len(proxy.paths) > 3
        assert not [path for path in proxy.paths if "wait=" in path], "it still reads streams"


def test_a_view_that_is_lost_after_its_events_is_asked_for_again(http: httpx.Client, module: Path) -> None:
    table = Table.create(http, "domino", 2, options={"limit": 1}, seed="lost")
    for _ in table.play(seed=5):
        pass
    whole = http.get(f"{table.path}/events?view=true", headers={"Accept": "application/x-ndjson"}).content
    pieces = iter([len(whole) - 100, len(whole)])
    with (
        WebProxy(str(http.base_url), lambda: next(pieces)) as proxy,
        Reader(module, proxy.url, table, view=True) as reader,
    ):
        check(reader.end(), table, None, view=True)
        assert len(proxy.paths) == 2


def test_where_a_proxy_holds_streams_back_the_match_is_polled(http: httpx.Client, module: Path) -> None:
    table = Table.create(http, "domino", 2, options={"limit": 1}, seed="polls")
    with (
        WebProxy(str(http.base_url), buffering=True) as proxy,
        Reader(module, proxy.url, table, 0, speed=10, view=True) as reader,
    ):
        items = reader.until(shows(table.view()["version"]))
        for _ in range(3):
            items += reader.until(shows(make_move(table, random.Random(2))))
        for _ in table.play(seed=2):
            pass
        check(items + reader.end(), table, 0, view=True)
        assert [path for path in proxy.paths if "wait=25" in path]


def test_a_reader_that_is_aborted_ends_at_once(http: httpx.Client, module: Path) -> None:
    table = Table.create(http, "domino", 2)
    version = table.view()["version"]
    with Reader(module, str(http.base_url), table, 0, view=True) as reader:
        reader.until(shows(version))
        reader.abort()
        assert reader.end() == [{"type": "end"}]
    with Reader(module, "http://127.0.0.1:1", table) as reader:  # nobody is there: it pauses
        reader.abort()
        assert reader.end() == [{"type": "end"}]


def test_a_refusal_is_thrown_and_a_finished_match_ends_at_once(http: httpx.Client, module: Path) -> None:
    table = Table.create(http, "domino", 2, options={"limit": 1})
    for _ in table.play(seed=3):
        pass
    last = table.view()["version"]
    with Reader(module, str(http.base_url), table, after=last, view=True) as reader:
        assert reader.end() == [{"type": "end"}]
    with Reader(module, str(http.base_url), table, token="wrong") as reader:
        assert reader.end() == [{"type": "thrown", "status": 401, "code": "unauthorized"}]


def test_a_changed_token_ends_the_reading_with_a_refusal(http: httpx.Client, module: Path) -> None:
    table = Table.create(http, "domino", 2)
    with Reader(module, str(http.base_url), table, 0, view=True) as reader:
        reader.until(shows(table.view()["version"]))
        http.post(f"{table.path}/players/0/token", headers=table.headers(0)).raise_for_status()
        changed, thrown = reader.end()
        assert (changed["type"], thrown["status"]) == ("token_changed", 401)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Service]:
    """A service that can be restarted worker by worker."""
    with (
        RealServer(tmp_path) as server,
        Service(tmp_path / "own", REDIS_URL=server.url, GRACEFUL_TIMEOUT="600") as running,
    ):
        yield running


def test_a_match_is_followed_over_a_rolling_restart(own: Service, module: Path) -> None:
    with connect(own.url) as client:
        table = Table.create(client, "domino", 2, options={"limit": 1}, seed="restarts")
        with Reader(module, own.url, table, 1, view=True) as reader:
            items = reader.until(shows(make_move(table, random.Random(4))))
            before = len(own.workers())
            own.process.send_signal(signal.SIGHUP)
            while len(own.workers()) < before + 2:
                items += reader.until(shows(make_move(table, random.Random(4))))
            for _ in table.play(seed=4):
                pass
            check(items + reader.end(), table, 1, view=True)
