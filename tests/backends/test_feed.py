"""The feed in this process: what an application is told, and when a reader looks for more."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore, Event, Thread
from time import monotonic
from typing import Any

import orjson
import pytest
import redis

from service.backends.index import feed as feed_module
from service.backends.index.feed import LATEST, FeedItems, FeedReader, Feeds
from service.engine.tiles import TILES
from service.games.model.clock import ClockSettings
from service.games.model.views import format_rfc3339, standings
from service.games.ports import EventNotification
from service.redis.errors import StorageUnavailable
from tests.backends.owned import APP, START, Followed, application

LONG = 20.0

Listener = Callable[[EventNotification | None], None]


class Table(Followed):
    """Also the feed of the applications, and who listens to it."""

    def __init__(self, server: redis.Redis) -> None:
        super().__init__(server)
        self.listeners: dict[str, list[Listener]] = {}
        self.feeds = Feeds(self.published.feed, self, self.clock)

    def watch(self, app: str, listener: Listener) -> Callable[[], None]:
        self.listeners.setdefault(app, []).append(listener)
        return lambda: self.listeners[app].remove(listener)

    def publish(self, *games: str) -> None:
        for game in games:
            self.outbox.publish(self.owner(game), game)
            for listener in self.listeners.get(self.owner(game), []):
                listener(None)

    def delete(self, game: str) -> None:
        super().delete(game)
        self.publish(game)

    def items(self, app: str = APP, after: str | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        return items_of(self.feeds.page(app, after, limit))


def items_of(page: FeedItems | None) -> list[dict[str, Any]]:
    assert page is not None
    items = [orjson.loads(item) for _, item in page.items]
    assert [item["cursor"] for item in items] == [cursor for cursor, _ in page.items]
    return items


@pytest.fixture
def table(empty_server: redis.Redis) -> Table:
    return Table(empty_server)


def test_an_item_says_what_a_spectator_knows_with_refs(table: Table) -> None:
    game = table.create(("anna", None), ref="club", clock=ClockSettings(turn=60_000))
    table.publish(game)
    dealt = table.items()[-1]
    (seat,) = table.game(game).to_act
    assert dealt == {
        "cursor": table.feeds.page(APP, LATEST).cursor,
        "game_id": game,
        "ref": "club",
        "version": 2,
        "type": "dealt",
        "to_act": [seat],
        "waiting_for": [{"seat": 0, "ref": "anna"} if seat == 0 else {"seat": seat}],
        "deadline": format_rfc3339(START + 60_000),
        "at": format_rfc3339(START),
    }


def test_whoever_is_to_act_is_told_with_the_ref_of_the_seat(table: Table) -> None:
    game = table.create(("anna", "ben"))
    table.publish(game)
    for _ in range(8):
        table.play(game)
        table.publish(game)
        last = table.items()[-1]
        to_act = list(table.game(game).to_act)
        assert last["to_act"] == to_act
        assert last["waiting_for"] == [{"seat": seat, "ref": ("anna", "ben")[seat]} for seat in to_act]


def test_the_item_of_the_end_tells_the_results_with_the_refs_of_now(table: Table) -> None:
    game = table.create(("anna", "ben"))
    while table.game(game).status != "finished":
        table.play(game)
    table.publish(game)
    (finished,) = [item for item in table.items() if item["type"] == "finished"]
    stored = table.game(game)
    assert finished["winners"] == list(stored.state.winners)
    assert finished["players"] == [
        {"seat": each.seat, "ref": ("anna", "ben")[each.seat], "total": each.total, "rank": each.rank}
        for each in sorted(standings(stored), key=lambda each: each.seat)
    ]
    table.delete(game)
    (finished,) = [item for item in table.items() if item["type"] == "finished"]
    assert [list(each) for each in finished["players"]] == [["seat", "total", "rank"]] * 2


def test_pages_lead_to_each_other_and_say_whether_there_is_more(table: Table) -> None:
    game = table.create()
    for _ in range(4):
        table.play(game)
    table.publish(game)
    count = table.game(game).version
    for limit in range(1, count + 2):
        versions, after, more = [], None, True
        while more:
            page = table.feeds.page(APP, after, limit)
            versions += [item["version"] for item in items_of(page)]
            after, more = page.cursor, page.more
        assert versions == list(range(1, count + 1))
        assert table.feeds.page(APP, after, limit) == FeedItems((), page.cursor, more=False)


def test_after_the_latest_only_what_comes_is_told(table: Table) -> None:
    game = table.create()
    table.publish(game)
    page = table.feeds.page(APP, LATEST)
    assert page.items == ()
    table.play(game)
    table.publish(game)
    assert table.items(after=page.cursor)[0]["type"] in ("played", "drew", "passed")


def test_refs_of_a_deleted_game_are_told_no_more(table: Table) -> None:
    deleted, other = table.create(("anna", "ben"), ref="club"), table.create(("carl", None), ref="league")
    table.publish(deleted, other)
    before = table.items()
    table.delete(deleted)
    items = table.items()
    assert items[-1] == {
        "cursor": items[-1]["cursor"],
        "game_id": deleted,
        "version": 3,
        "type": "deleted",
        "at": format_rfc3339(START),
    }
    text = orjson.dumps([item for item in items if item["game_id"] == deleted])
    assert not any(ref in text for ref in (b"anna", b"ben", b"club"))
    of_other = [item for item in items if item["game_id"] == other]
    assert of_other == [item for item in before if item["game_id"] == other]
    assert of_other[0]["ref"] == "league"


def test_no_stored_item_has_a_ref(table: Table) -> None:
    table.publish(table.create(("anna", "ben"), ref="club"))
    stored = b"".join(table.published.items(APP))
    assert not any(ref in stored for ref in (b"anna", b"ben", b"club", b"Player"))


def test_no_item_has_a_tile_or_a_name(table: Table) -> None:
    game = table.create(("anna", "ben"))
    for _ in range(40):
        table.play(game)
    table.publish(game)
    text = orjson.dumps(table.items())
    assert not any(f'"{tile.name}"'.encode() in text for tile in TILES)
    assert b"Player" not in text
    fields = {name for item in table.items() for name in item}
    assert fields <= {"cursor", "game_id", "ref", "version", "type", "seat", "to_act", "waiting_for", "deadline", "at"}


def test_where_items_are_lost_the_first_says_so_and_what_is_kept_follows(table: Table) -> None:
    game = table.create()
    table.publish(game)
    for _ in range(6):
        table.play(game)
    table.publish(game)
    first = table.items()[0]["cursor"]
    table.published.keep(APP, 3)
    table.now += 1000
    page = table.feeds.page(APP, first, 2)
    at = format_rfc3339(START + 1000)
    assert items_of(page) == [{"cursor": page.cursor, "version": 0, "type": "reset", "at": at}]
    assert page.more
    kept = table.items(after=page.cursor)
    assert [item["version"] for item in kept] == list(range(table.game(game).version - 2, table.game(game).version + 1))


def test_an_application_is_told_of_its_own_games_only(table: Table) -> None:
    other = application(2)
    mine, theirs, nobodys = table.create(), table.create(app=other), table.create(app=None)
    table.publish(mine, theirs, nobodys)
    assert {item["game_id"] for item in table.items()} == {mine}
    assert {item["game_id"] for item in table.items(other)} == {theirs}
    assert {item["game_id"] for item in table.items(other, table.items()[0]["cursor"])} == {theirs}


# Readers


def test_a_reader_is_given_each_item_once_and_in_order(table: Table) -> None:
    game = table.create()
    reader = table.feeds.follow(APP, "0-0", limit=3)
    versions: list[int] = []
    for _ in range(5):
        for _ in range(4):
            table.play(game)
        table.publish(game)
        while (page := reader.wait(0.1)) is not None:
            versions += [item["version"] for item in items_of(page)]
    assert versions == list(range(1, table.game(game).version + 1))
    reader.close()


def test_a_hint_wakes_a_reader_at_once(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "POLL_SECONDS", 2 * LONG)
    game = table.create()
    reader = table.feeds.follow(APP, "0-0")
    assert reader.wait(0) is None
    writer = Thread(target=lambda: table.publish(game))
    writer.start()
    assert len(items_of(reader.wait(LONG))) == 2
    writer.join()
    reader.close()
    assert table.listeners[APP] == []
    reader.close()


def test_a_lost_hint_delays_a_reader_by_seconds_only(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "POLL_SECONDS", 0.2)
    game = table.create()
    reader = table.feeds.follow(APP, "0-0")
    assert reader.wait(0) is None
    table.listeners.clear()
    table.publish(game)
    began = monotonic()
    assert len(items_of(reader.wait(LONG))) == 2
    assert monotonic() - began < LONG / 2


class Looks:
    """What a reader reads, counted."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False
        self.listener: Listener = lambda _: None

    def read(self, cursor: str) -> FeedItems:
        self.count += 1
        if self.fails:
            raise StorageUnavailable("away")
        return FeedItems((), cursor, more=False)

    def watch(self, listener: Listener) -> Callable[[], None]:
        self.listener = listener
        return lambda: None


def test_many_hints_do_not_make_a_reader_look_for_each_of_them() -> None:
    looks = Looks()
    reader = FeedReader("0-0", looks.read, looks.watch, slots=BoundedSemaphore(1))
    began, enough = monotonic(), Event()
    hinting = Thread(target=hint_until, args=(looks, enough))
    hinting.start()
    while looks.count < 10:
        assert reader.wait(0.5) is None
    enough.set()
    hinting.join()
    assert looks.count <= (monotonic() - began) / feed_module.PAUSE_SECONDS + 2


def hint_until(looks: Looks, enough: Event) -> None:
    while not enough.is_set():
        looks.listener(None)


def test_a_reader_waits_while_the_store_is_away_and_then_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "POLL_SECONDS", 0.1)
    monkeypatch.setattr("service.games.queries.follower.RETRY_SECONDS", 0.1)
    looks = Looks()
    looks.fails = True
    reader = FeedReader("5-0", looks.read, looks.watch, slots=BoundedSemaphore(1))
    began = monotonic()
    while looks.count < 3:
        assert reader.wait(0.35) is None
    assert looks.count <= (monotonic() - began) / 0.1 + 2
    looks.fails = False
    assert reader.wait(0.2) is None
    assert reader.cursor == "5-0"


def test_a_reader_ends_at_once_when_the_service_stops() -> None:
    looks = Looks()
    reader = FeedReader("0-0", looks.read, looks.watch, slots=BoundedSemaphore(1))
    ended = Thread(target=lambda: reader.wait(LONG))
    ended.start()
    reader.shutdown()
    ended.join(LONG / 2)
    assert not ended.is_alive()
    assert reader.closing
    assert reader.wait(LONG) is None
