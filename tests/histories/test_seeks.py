"""Simulated races of strangers for seats: whatever fails, and whoever leaves, fills or asks twice, nobody gets two.

One seed is one race: its seekers, of two forms of tables, ask several workers at once, whose calls to the store of
games and to the lists of tables in a real Redis are interleaved at random, fail, are repeated or come late. More races
than in the lane: ``DOMINO_RACES=100000 pytest tests/histories/test_seeks.py``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
import redis
from greenlet import getcurrent, greenlet

from service.devserver.embedded import EmbeddedServer
from service.engine.errors import Refusal
from service.games.commands.seek import SeekCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.errors import NotFound
from service.games.model.game import Game
from service.games.model.seats import OPEN_SEAT
from service.games.model.seeking import listings_of
from service.games.store.idempotency import IdempotencyKey
from service.games.store.open_tables import RedisOpenTables
from service.games.tables import ListedTable, Listing, OpenTables, Place, Seeker
from service.redis.connection import connect
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import SingleNodeTopology
from tests.conftest import Figures
from tests.histories.checker import Verdict, read_game
from tests.histories.faults import FaultyStore, SimulatedTime
from tests.histories.simulation import FAULT_RATES, TTL
from tests.support import lanes
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_calls

pytestmark = pytest.mark.gate

RACES = int(os.environ.get("DOMINO_RACES", lanes.fewer(300)))
MAX_TRIES = 60
WORKERS = 3
FORMS = (("domino", 2), ("domino", 3))


class Sat(NamedTuple):
    """The answer that a seeker got."""

    game: str
    seat: int
    token: str


class FaultyTables(OpenTables):
    """The lists of tables behind the same unreliable connection as the games."""

    def __init__(self, tables: OpenTables, store: FaultyStore) -> None:
        self._tables = tables
        self._store = store
        self.opened: list[tuple[Listing, str]] = []

    def claim(self, listing: Listing, seeker: Seeker, new: ListedTable, *, leaving: str = "") -> Place:
        def claim() -> Place:
            place = self._tables.claim(listing, seeker, new, leaving=leaving)
            if place.game == new.game:
                self.opened.append((listing, new.game))
            return place

        return self._store._write(claim)

    def put(self, listing: Listing, table: ListedTable, *, seen_at: int | None = None) -> None:
        self._store._write(lambda: self._tables.put(listing, table, seen_at=seen_at))

    def mark_seen(self, game: str, seats: Sequence[int], at: int) -> None:
        self._store._write(lambda: self._tables.mark_seen(game, seats, at))

    def last_seen(self, game: str) -> Mapping[int, int]:
        return self._store._read(lambda: self._tables.last_seen(game))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    folder: Path = tmp_path_factory.mktemp("redis")
    with EmbeddedServer(folder) as embedded:
        yield connect(embedded.url)


def yield_to_others() -> None:
    scheduler = getcurrent().parent
    assert scheduler is not None
    scheduler.switch()


class Race:
    """One race; ``calm``: nobody leaves or fills, and nothing fails."""

    def __init__(self, seed: int, server: redis.Redis, *, calm: bool) -> None:
        server.flushdb()
        self.random = random = Random(seed)
        self.truth = MemoryStore(TTL)
        self.injected: Counter[str] = Counter()
        self.calm = calm
        time = SimulatedTime()
        self.store = FaultyStore(
            self.truth,
            random,
            0.0 if calm else random.choice(FAULT_RATES[:3]),
            time=time,
            pause=yield_to_others,
            injected=self.injected,
        )
        self.tables = FaultyTables(RedisOpenTables(redis_calls(SingleNodeTopology(server))), self.store)
        self.store.tables = self.tables
        self.workers = [
            build_games(
                self.store,
                self.truth,
                clock=lambda: int(time.now),
                random_bytes=random.randbytes,
                secrets=[b"secret"],
                ttl_seconds=TTL,
            )
            for _ in range(WORKERS)
        ]
        self.asked: dict[str, tuple[str, int]] = {}
        self.told: dict[str, set[Sat]] = {}
        self.left: set[str] = set()

    def run(self) -> None:
        running: list[greenlet] = []
        for number in range(self.random.randint(2, 8)):
            name = f"P{number}"
            self.asked[name] = self.random.choice(FORMS)
            self.told[name] = set()
            keyed = self.random.random() < 0.8
            requests = 2 if keyed and self.random.random() < 0.3 else 1
            running += [greenlet(self._act_of(name, keyed)) for _ in range(requests)]
        while running:
            one = self.random.choice(running)
            one.switch()
            if one.dead:
                running.remove(one)
            if self.random.random() < 0.2:
                self.store.deliver()
        self.store.deliver_all()

    def _act_of(self, name: str, keyed: bool) -> Callable[[], None]:
        return lambda: self._act(name, keyed=keyed)

    def _act(self, name: str, *, keyed: bool) -> None:
        sat = self._seek(name, keyed=keyed)
        if sat is None or self.calm:
            return
        self.told[name].add(sat)
        what = self.random.random()
        worker = self.random.choice(self.workers)
        for _ in range(MAX_TRIES):
            with suppress(StorageUnavailable, OutcomeUnknown, Refusal):
                access = worker.access.authenticate(sat.game, sat.token)
                if what < 0.3:
                    self.left.add(name)  # perhaps: its outcome may be unknown
                    worker.commands.free_seat(access, sat.seat)
                elif what < 0.4:
                    worker.commands.fill_seat(access, self.random.randrange(len(access.game.seats)), "casual")
                elif what < 0.5:
                    worker.commands.start(access)
                return
            yield_to_others()

    def _seek(self, name: str, *, keyed: bool) -> Sat | None:
        variant, players = self.asked[name]
        request = GameRequest(variant, (SeatRequest(OPEN_SEAT),) * players, {})
        key = IdempotencyKey(name, name.encode()) if keyed else None
        for _ in range(MAX_TRIES):
            worker = self.random.choice(self.workers)
            try:
                joined = worker.commands.seek(SeekCommand(request, name, key=key)).answer.joined
            except StorageUnavailable:
                pass
            except OutcomeUnknown:
                if key is None:
                    return None
            except NotFound:
                return None  # it has left by another answer to the same request
            else:
                sat = Sat(joined.view.id, joined.seat.seat, joined.seat.token)
                self.told[name].add(sat)
                return sat
            yield_to_others()
        raise AssertionError("no answer")

    def games(self) -> dict[str, Game]:
        verdict = Verdict()
        read = {game: read_game(self.truth, game, verdict) for game in sorted(self.store.created)}
        assert verdict.complaints == []
        return {game: each[0] for game, each in read.items() if each is not None}

    def check(self) -> None:
        games = self.games()
        seated: dict[str, list[tuple[str, int]]] = {name: [] for name in self.asked}
        for game in games.values():
            for seat, each in enumerate(game.seats):
                if each.name in seated:
                    seated[each.name].append((game.id, seat))
        for name, places in seated.items():
            told = self.told[name]
            assert len(told) <= 1, "one request has one answer"
            assert len(places) <= 1, "nobody has two seats"
            if told and name not in self.left:
                (sat,) = told
                assert [game for game, _ in places] == [sat.game], "nobody is lost"
                access = build_games(self.truth, self.truth, [b"secret"], TTL).access
                assert access.authenticate(sat.game, sat.token).seat == places[0][1]
            for place, _ in places:
                found = games[place]
                assert found.room is not None
                assert (found.variant.key, found.room.places or len(found.seats)) == self.asked[name]

    def check_tables(self) -> None:
        """No table was opened while another one of its form had a seat that nobody was sent to."""
        waiting = Counter([listings_of(game)[0] for game in self.games().values() if game.seats.are_open])
        opened = Counter([listing for listing, _ in self.tables.opened])
        for listing, count in opened.items():
            players = next(len(game.seats) for game in self.games().values() if listings_of(game)[0] == listing)
            seekers = sum([self.asked[name] == ("domino", players) for name in self.asked])
            assert count == -(-seekers // players), "as many tables as are needed"
            assert waiting[listing] <= 1


def test_nobody_gets_two_seats_whatever_fails(server: redis.Redis, figures: Figures) -> None:
    found: Counter[str] = Counter()
    for seed in range(RACES):
        race = Race(seed, server, calm=False)
        race.run()
        race.check()
        found.update(race.injected)
        found["seekers"] += len(race.asked)
        found["tables"] += len(race.store.created)
    figures("races for seats", found)


def test_as_many_tables_are_opened_as_are_needed(server: redis.Redis) -> None:
    for seed in range(max(RACES // 4, 1)):
        race = Race(seed, server, calm=True)
        race.run()
        race.check()
        race.check_tables()
