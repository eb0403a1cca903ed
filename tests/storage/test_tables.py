"""The tables at which strangers are sat down, on one server and on a Cluster, also while a primary is killed."""

from __future__ import annotations

import os
import secrets
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from service.games.commands.seek import SeekCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.seats import OPEN_SEAT
from service.games.model.seeking import EVERYBODY
from service.games.store.idempotency import IdempotencyKey
from service.games.store.notifications import RedisEventFeed
from service.games.store.open_tables import RedisOpenTables
from service.games.tables import HOLD_MS, UNSEEN_MS, ListedTable, Listing, Place, Seeker
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.shards import with_shard
from service.redis.topology import Topology, open_topology
from tests.conftest import Figures
from tests.storage.clusters import Cluster
from tests.storage.conftest import TTL
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_calls, redis_store

pytestmark = pytest.mark.gate

NOW = 1_800_000_000_000
SEEKERS = int(os.environ.get("DOMINO_RACES", "400"))
"""In the race on a Cluster; give another number for more."""


@pytest.fixture
def tables(topology: Topology) -> RedisOpenTables:
    return RedisOpenTables(redis_calls(topology))


@pytest.fixture(params=["", "an application"])
def listing(request: pytest.FixtureRequest) -> Listing:
    """A list that no other test has, of everybody and of an application."""
    owner = with_shard(secrets.token_urlsafe(16)[:22]) if request.param else ""
    return Listing(owner, secrets.token_urlsafe(8))


def seek(
    tables: RedisOpenTables, listing: Listing, game: str, claim: str = "", *, at: int = NOW, leaving: str = ""
) -> Place:
    """Send a seeker to a table of two, or to a new one with this name."""
    new = ListedTable(game, 0, (False, False), at)
    return tables.claim(listing, Seeker(claim or secrets.token_hex(4), 60_000), new, leaving=leaving)


def test_seats_are_held_one_after_another_and_the_oldest_table_comes_first(
    tables: RedisOpenTables, listing: Listing
) -> None:
    assert [seek(tables, listing, game) for game in "abcd"] == [
        *(Place("a", 0, offered=True), Place("a", 1, offered=True)),
        *(Place("c", 0, offered=True), Place("c", 1, offered=True)),
    ]
    assert seek(tables, listing, "e", at=NOW + HOLD_MS) == Place("a", 0, offered=True), "nobody has come"


def test_a_claim_is_known_again_and_holds_no_second_seat(tables: RedisOpenTables, listing: Listing) -> None:
    claim = secrets.token_hex(4)
    first = seek(tables, listing, "a", claim)
    assert [seek(tables, listing, game, claim) for game in "bc"] == [first, first]
    tables.put(listing, ListedTable("a", 2, (True, False), NOW))
    seek(tables, listing, "d", claim)
    assert seek(tables, listing, "e") == Place("a", 1, offered=True)
    assert seek(tables, listing, "f", claim, leaving="a") == Place("f", 0, offered=True)


def test_a_table_is_offered_while_somebody_looks_at_it(tables: RedisOpenTables, listing: Listing) -> None:
    claim = secrets.token_hex(4)
    seek(tables, listing, "a", claim)
    late = NOW + UNSEEN_MS
    assert seek(tables, listing, "b", claim, at=late) == Place("a", 0, offered=False)
    assert seek(tables, listing, "b", at=late) == Place("b", 0, offered=True)
    tables.put(listing, ListedTable("a", 1, (False, False), NOW), seen_at=late)
    assert seek(tables, listing, "c", at=late).game == "a"


def test_an_older_version_tells_nothing_and_a_full_table_leaves_the_list(
    tables: RedisOpenTables, listing: Listing
) -> None:
    seek(tables, listing, "a")
    tables.put(listing, ListedTable("a", 3, (True, False), NOW))
    tables.put(listing, ListedTable("a", 2, (False, True), NOW), seen_at=NOW)
    assert seek(tables, listing, "b") == Place("a", 1, offered=True)
    tables.put(listing, ListedTable("a", 4, (False, True), NOW))
    assert seek(tables, listing, "b") == Place("a", 0, offered=True), "who sat there has left"
    tables.put(listing, ListedTable("a", 5, (True, True), NOW))
    tables.put(listing, ListedTable("a", 5, (True, False), NOW))
    assert seek(tables, listing, "b") == Place("b", 0, offered=True)


def test_looks_are_told_by_seat(tables: RedisOpenTables) -> None:
    game = with_shard(secrets.token_urlsafe(16)[:22])
    tables.mark_seen(game, (0, 2), NOW)
    tables.mark_seen(game, (2,), NOW + 1)
    assert tables.last_seen(game) == {0: NOW, 2: NOW + 1}


@pytest.mark.nightly
def test_seekers_on_a_cluster_get_one_seat_each_while_a_primary_is_killed(tmp_path: Path, figures: Figures) -> None:
    with Cluster(tmp_path) as cluster:
        topology = open_topology(cluster.url)
        store, feed = redis_store(topology, TTL, replicated=True), RedisEventFeed(topology)
        workers = [build_games(store, feed, [b"a secret"], TTL) for _ in range(2)]
        request = GameRequest("domino", (SeatRequest(OPEN_SEAT),) * 3, {})
        half_way = threading.Event()
        done = Counter[str]()

        def seek(number: int) -> tuple[str, int, str]:
            """Seek under a key until there is an answer, the first half of all before the primary is killed."""
            if number > SEEKERS // 2:
                half_way.set()
            command = SeekCommand(request, f"P{number}", key=IdempotencyKey(f"key {number}", b""))
            while True:
                with suppress(StorageUnavailable, OutcomeUnknown):
                    found = workers[number % 2].commands.seek(command).answer.joined
                    return found.view.id, found.seat.seat, found.seat.token
                done["asked again"] += 1
                half_way.wait(0.02)

        def kill() -> None:
            half_way.wait()
            cluster.fail_over(keys.tables(EVERYBODY, "")[0])

        with ThreadPoolExecutor(9) as threads:
            killed = threads.submit(kill)
            answers = list(threads.map(seek, range(SEEKERS)))
            killed.result()
        assert len({(game, seat) for game, seat, _ in answers}) == SEEKERS, "no seat is given to two"
        tables = Counter([game for game, _, _ in answers])
        for game, seat, token in answers:
            assert workers[0].access.authenticate(game, token).seat == seat, "nobody is lost"
        seated = [each.name for game in tables for each in workers[0].access.authenticate(game, None).game.seats]
        named = Counter([name for name in seated if name is not None])
        assert set(named.values()) == {1}, "nobody has two seats"
        figures("seekers on a Cluster", done + Counter(tables=len(tables), seekers=SEEKERS))
