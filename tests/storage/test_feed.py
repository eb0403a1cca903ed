"""The feed, as an index writes it, on one server and on a Cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.backends.index import store as redis_index
from service.backends.values import IndexEntry, IndexPosition
from service.redis import keys
from service.redis.topology import Topology, open_topology
from tests.storage.servers import RealServer
from tests.storage.test_index import Harness as IndexHarness
from tests.storage.test_index import new_id

pytestmark = pytest.mark.gate

NO_CURSORS = (
    *("", "-", "0", "latest", "1-", "-1", "1-1-1", "1_000-1", "+1-1", " 1-1", "1-1\n", "1.0-1"),
    *("1-٣", "(1-1", "$", "+", "0" * 19 + "-0", "1-" + "9" * 19, "9" * 5000 + "-1", "\ud800-1"),
)


class Harness(IndexHarness):
    """An index, the feed that it writes, and an application."""

    def lose(self, items: int) -> None:
        """Lose the newest items of the application, as servers do that have failed over."""
        key = keys.part(b"feed", self.app)
        kept = self.call(key, b"XRANGE", key, b"-", b"+")[:-items]
        self.call(key, b"DEL", key)
        for at, fields in kept:
            self.call(key, b"XADD", key, at, *fields)


@pytest.fixture
def harness(topology: Topology) -> Harness:
    return Harness(topology)


def write(harness: Harness, *items: bytes, game: str = "game", summary: bytes = b'{"ref":"club"}', **entry: Any) -> str:
    """Have the index write items of a game; returns the cursor after them."""
    position = harness.index.position(harness.app, game)
    version = position.version + 1
    written = IndexEntry(
        game, version, f"w{version}", harness.now(), harness.now() + 86_400_000, None, {}, "domino", "playing", summary
    )
    stored = [orjson.dumps({"game_id": game, "n": item.decode()}) for item in items]
    assert harness.index.put(harness.app, written._replace(**entry), stored, (), position=position) == ()
    return harness.feed.newest(harness.app)


def read(harness: Harness, after: str | None = None, limit: int = 1000) -> list[str]:
    """What the items say after a cursor."""
    found = harness.feed.read(harness.app, after, limit)
    assert not found.lost
    assert not found.items or found.items[-1].cursor == found.cursor
    return [orjson.loads(item.json)["n"] for item in found.items]


def test_items_come_in_order_each_after_the_cursor_of_the_one_before(harness: Harness) -> None:
    write(harness, b"1", b"2", b"3")
    write(harness, b"4", b"5", game="other")
    assert read(harness) == ["1", "2", "3", "4", "5"]
    found = harness.feed.read(harness.app, None, 1000)
    assert [item.game for item in found.items] == ["game"] * 3 + ["other"] * 2
    for number, item in enumerate(found.items, 1):
        assert read(harness, item.cursor) == ["1", "2", "3", "4", "5"][number:]
        assert read(harness, item.cursor, 2) == ["1", "2", "3", "4", "5"][number : number + 2]


def test_the_cursor_of_a_page_without_items_leads_to_what_comes(harness: Harness) -> None:
    empty = harness.feed.read(harness.app, None, 10)
    assert (empty.items, empty.lost) == ((), False)
    newest = harness.feed.newest(harness.app)
    write(harness, b"1")
    assert read(harness, empty.cursor) == read(harness, newest) == ["1"]
    at_the_end = harness.feed.read(harness.app, harness.feed.newest(harness.app), 10)
    assert at_the_end.items == ()
    write(harness, b"2")
    assert read(harness, at_the_end.cursor) == ["2"]


def test_the_newest_cursor_comes_after_all_items(harness: Harness) -> None:
    for number in range(5):
        cursor = write(harness, b"%d" % number)
        assert cursor == harness.feed.read(harness.app, None, 10).items[-1].cursor
        assert read(harness, cursor) == []


def test_a_cursor_before_what_is_kept_has_lost_something(harness: Harness) -> None:
    first = write(harness, b"1")
    second = write(harness, b"2")
    for number in range(3, 9):
        write(harness, b"%d" % number)
    harness.keep(harness.app, 4)
    found = harness.feed.read(harness.app, first, 10)
    assert (found.items, found.lost) == ((), True)
    assert read(harness, found.cursor) == read(harness) == ["5", "6", "7", "8"]
    assert harness.feed.read(harness.app, second, 10).cursor == found.cursor
    assert harness.feed.read(harness.app, "0-0", 10).lost
    harness.keep(harness.app, 2)
    again = harness.feed.read(harness.app, found.cursor, 10)
    assert again.lost
    assert read(harness, again.cursor) == ["7", "8"]


def test_what_is_left_of_a_feed_without_items_is_its_end(harness: Harness) -> None:
    first = write(harness, b"1")
    last = write(harness, b"2")
    harness.keep(harness.app, 0)
    assert read(harness) == read(harness, last) == []
    found = harness.feed.read(harness.app, first, 10)
    assert (found.lost, found.cursor) == (True, last)
    write(harness, b"3")
    assert read(harness) == ["3"]


def test_a_cursor_that_no_item_has_had_yet_is_none_to_go_on_from(harness: Harness) -> None:
    kept = write(harness, b"1")
    lost = write(harness, b"2", b"3")
    harness.lose(2)
    found = harness.feed.read(harness.app, lost, 10)
    assert (found.items, found.lost, found.cursor) == ((), True, kept)
    assert read(harness, found.cursor) == []
    for future in ("9" * 18 + "-" + "9" * 18, "9" * 18 + "-0"):
        assert harness.feed.read(harness.app, future, 10) == found


def test_a_feed_of_which_nothing_is_left_begins_anew(harness: Harness) -> None:
    found = harness.feed.read(harness.app, "1800000000000-7", 10)
    assert (found.items, found.lost) == ((), True)
    write(harness, b"1")
    assert read(harness, found.cursor) == ["1"]


@pytest.mark.parametrize("cursor", NO_CURSORS, ids=repr)
def test_a_text_that_is_no_cursor_is_refused(harness: Harness, cursor: str) -> None:
    write(harness, b"1")
    with pytest.raises(ValueError, match="no cursor"):
        harness.feed.read(harness.app, cursor, 10)


def test_items_come_with_what_the_index_knows_of_their_games(harness: Harness) -> None:
    write(harness, b"1", b"2", game="first", summary=b'{"ref":"a\\nb"}')
    write(harness, b"3", game="second", summary=b"{}")
    assert harness.feed.read(harness.app, None, 10).summaries == {"first": b'{"ref":"a\\nb"}', "second": b"{}"}
    assert harness.feed.read(harness.app, None, 2).summaries == {"first": b'{"ref":"a\\nb"}'}
    write(harness, b"4", game="first", summary=b'{"ref":"c"}')
    assert harness.feed.read(harness.app, None, 1).summaries == {"first": b'{"ref":"c"}'}


def test_nothing_is_known_of_a_game_that_was_deleted_or_forgotten(harness: Harness) -> None:
    write(harness, b"1", game="deleted", summary=b'{"ref":"a"}')
    write(harness, b"2", game="forgotten", summary=b'{"ref":"b"}')
    write(harness, b"3", game="deleted", summary=b"", status="deleted")
    harness.index.remove(harness.app, "forgotten", position=harness.index.position(harness.app, "forgotten"))
    found = harness.feed.read(harness.app, None, 10)
    assert [item.game for item in found.items] == ["deleted", "forgotten", "deleted"]
    assert not any(found.summaries.values())


def test_a_write_to_an_index_that_has_gone_on_appends_nothing(harness: Harness) -> None:
    write(harness, b"1")
    entry = IndexEntry("game", 2, "w2", 2, 2, None, {}, "domino", "playing", b"{}")
    assert harness.index.put(harness.app, entry, [b'{"n":"2"}'], (), position=IndexPosition(0, "")) is None
    assert read(harness) == ["1"]


def test_no_application_reads_what_is_told_to_another(harness: Harness) -> None:
    cursor = write(harness, b"1")
    other = new_id()
    assert harness.feed.read(other, None, 10).items == ()
    assert harness.feed.read(other, cursor, 10).items == ()
    assert harness.feed.newest(other) != cursor


def test_no_feed_grows_without_end(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_index, "FEED_ITEMS", 100)
    first = write(harness, b"first")
    for _ in range(20):
        write(harness, *[b"more"] * 50)
    kept = read(harness)
    assert 100 <= len(kept) <= 300
    assert harness.feed.read(harness.app, first, 10).lost


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[RealServer]:
    with RealServer(tmp_path, appendonly="yes", appendfsync="always") as server:
        yield server


def test_a_cursor_survives_the_restart_of_the_server(restarted: RealServer) -> None:
    topology = open_topology(restarted.url)
    harness = Harness(topology)
    write(harness, b"1", b"2", b"3")
    harness.keep(harness.app, 2)
    cursor = harness.feed.read(harness.app, None, 1).cursor
    before = harness.feed.read(harness.app, None, 10)
    restarted.kill()
    restarted.start()
    assert harness.feed.read(harness.app, None, 10) == before
    assert read(harness, cursor) == ["3"]
    assert harness.feed.read(harness.app, "0-0", 10).lost
    assert harness.index.position(harness.app, "game") == IndexPosition(1, "w1")
