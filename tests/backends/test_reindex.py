"""Indexes that are rebuilt from the games, on a real server while a messenger may run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.backends.index.reindex import Progress, Reindexer
from service.backends.outbox import Outbox
from service.games.store.all_games import RedisStoredGames
from service.games.store.codec import encode_tombstone
from service.redis import keys
from service.redis.scan import RedisScan
from service.redis.topology import Topology, open_topology
from tests.backends.owned import APP, Owned, Published, application, listing_of, outbox_of
from tests.storage.servers import SERVERS, RealServer
from tests.support.background import Background
from tests.support.stores.redis_stores import redis_calls, redis_reminders, redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

TTL = 86_400


class Table(Owned):
    """Games on a real server, which are followed on demand."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.reminders = redis_reminders(topology)
        super().__init__(redis_store(topology, TTL), self.reminders.server_time)
        self.published = Published(topology, TTL)
        self.index = self.published.index
        self.outbox: Outbox = outbox_of(self, self.published)
        self.scan = RedisScan(topology)
        self.stored = RedisStoredGames(redis_calls(topology))

    def publish(self) -> None:
        """Follow all games that are due."""
        while taken := self.reminders.take("outbox", 100, 10_000):
            for each in taken:
                again = self.outbox.publish(each.tenant, each.game).again
                self.reminders.reschedule("outbox", [(each, again)])

    def reindex(self, app: str | None = None) -> Progress:
        repository = self.new_repository()
        return Reindexer(repository, self.index, self.reminders, self.clock, report=lambda _: None).run(self.scan, app)

    def lose_index(self, app: str = APP) -> None:
        """Delete all that is known of the games of an application."""
        (found,) = self.topology.call(keys.part(b"index", app), (b"KEYS", keys.state(app) + b":*"))
        for key in found:
            self.topology.call(key, (b"DEL", key))

    def feed(self, app: str = APP) -> int:
        """The number of items in the feed."""
        return len(self.published.items(app))

    def listed(self, games: list[str], app: str = APP) -> bool:
        """Whether the listing is that of these games."""
        return self.published.games(app) == listing_of([self.game(game) for game in games], app)


@pytest.fixture(scope="module", params=["redis", "cluster"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as server:
        yield server.url


@pytest.fixture
def table(url: str) -> Iterator[Table]:
    table = Table(open_topology(url))
    table.publish()
    yield table
    for game in list(table.scan.games()):
        for key in keys.of_game(game):
            table.topology.call(key, (b"DEL", key))
    for app in list(table.scan.applications()):
        table.lose_index(app)
    table.publish()


def test_a_lost_index_is_rebuilt_and_tells_nothing_again(table: Table) -> None:
    games = [table.create((f"person {number}", "ben"), ref="club") for number in range(12)]
    nobodys, other = table.create(app=None), table.create(app=application(2))
    for game in games:
        table.play(game)
    table.publish()
    table.lose_index()
    assert table.published.games() == []
    progress = table.reindex()
    assert (progress.indexed, progress.removed) == (13, 0)
    assert table.listed(games)
    assert table.published.ids(player_ref="person 3") == [games[3]]
    assert table.published.ids(application(2)) == [other]
    assert nobodys not in table.published.ids()
    assert table.feed() == 0
    table.play(games[0])
    table.publish()
    assert table.feed() == 1
    assert table.listed(games)


def test_what_was_not_told_yet_is_left_to_the_messenger(table: Table) -> None:
    known, new = table.create(), table.create()
    taken = table.reminders.take("outbox", 100, 10_000)
    (mine,) = [each for each in taken if each.game == known]
    table.outbox.publish(table.owner(known), known)
    table.reminders.reschedule("outbox", [(mine, None)])
    for each in taken:
        if each.game == new:
            table.reminders.reschedule("outbox", [(each, each.due)])
    before = table.feed()
    table.play(known)
    assert table.reindex().indexed == 0
    assert table.published.ids() == [known]
    table.publish()
    assert table.listed([known, new])
    assert table.feed() == before + 2 + table.game(known).version - 2


def test_a_game_whose_reminder_was_lost_too_is_followed(table: Table) -> None:
    game = table.create()
    table.publish()
    table.play(game)
    (taken,) = table.reminders.take("outbox", 100, 10_000)
    table.reminders.reschedule("outbox", [(taken, None)])
    table.reindex()
    table.publish()
    assert table.listed([game])


def test_a_game_that_does_not_exist_any_more_is_removed(table: Table) -> None:
    kept, lost = table.create(), table.create()
    table.publish()
    for key in keys.of_game(lost):
        table.topology.call(key, (b"DEL", key))
    assert table.reindex().removed == 1
    assert table.listed([kept])


def test_a_deleted_game_stays_deleted(table: Table) -> None:
    kept, deleted = table.create(), table.create()
    table.publish()
    table.store.delete(deleted, encode_tombstone(APP), table.clock(), APP)
    table.publish()
    assert table.reindex().removed == 0
    assert table.listed([kept])


def test_a_deleted_game_whose_reminder_was_lost_is_listed_no_more(table: Table) -> None:
    kept, deleted = table.create(), table.create()
    table.publish()
    published = table.feed()
    table.store.delete(deleted, encode_tombstone(APP), table.clock(), APP)
    (taken,) = table.reminders.take("outbox", 100, 10_000)
    table.reminders.reschedule("outbox", [(taken, None)])
    table.reindex()
    table.publish()
    assert table.listed([kept])
    table.reindex()
    table.publish()
    assert table.feed() == published + 1


def test_the_index_of_all_games_is_rebuilt_too(table: Table) -> None:
    owned, nobodys, deleted = table.create(), table.create(app=None), table.create()
    table.publish()
    table.store.delete(deleted, encode_tombstone(APP), table.clock(), APP)
    for key in keys.STORED:
        table.topology.call(key, (b"DEL", key))
    assert list(table.stored.games()) == []
    table.reindex()
    assert {each.id for each in table.stored.games()} == {owned, nobodys}
    assert [each.id for each in table.stored.games({APP})] == [owned]


def test_damaged_lists_are_repaired(table: Table) -> None:
    game = table.create(("anna", "ben"))
    table.publish()
    for kind in ("player", "waiting"):
        for ref in ("anna", "ben"):
            key = keys.listed(APP, kind, ref)
            table.topology.call(key, (b"DEL", key))
    table.reindex()
    assert table.published.ids(player_ref="anna") == table.published.ids(player_ref="ben") == [game]


def test_one_application_is_rebuilt_alone(table: Table) -> None:
    mine, theirs = table.create(), table.create(app=application(2))
    table.publish()
    table.lose_index()
    table.lose_index(application(2))
    assert table.reindex(APP).indexed == 1
    assert (table.published.ids(), table.published.ids(application(2))) == ([mine], [])
    table.reindex()
    assert table.published.ids(application(2)) == [theirs]


def test_games_go_on_while_an_index_is_rebuilt(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    games = [table.create() for _ in range(5)]
    table.publish()
    table.lose_index()
    put = table.index.put
    raced = iter(games)

    def late(*arguments: object, **more: object) -> Any:
        for game in raced:  # another process is faster once
            table.play(game)
            monkeypatch.setattr(table.index, "put", put)
            table.publish()
            monkeypatch.setattr(table.index, "put", late)
            break
        return put(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(table.index, "put", late)
    table.reindex()
    monkeypatch.setattr(table.index, "put", put)
    table.publish()
    assert table.listed(games)


def test_the_command_says_what_it_has_done(tmp_path: Path) -> None:
    with RealServer(tmp_path / "redis") as server:
        table = Table(open_topology(server.url))
        table.create()
        table.publish()
        table.lose_index()
        with Background("reindex", server.url, tmp_path) as command:
            assert command.process.wait(PATIENCE) == 0
        assert "done: 2 entries and games looked at, 1 indexed, 0 removed" in command.log.read_text()
        assert len(table.published.ids()) == 1
