"""Where tiles lie is computed when a table is asked for, tile by tile, and never for a move or a view."""

from __future__ import annotations

from random import Random

import pytest

from service.web.quotas import PLACES_PER_READ
from tests.api.client import Api, Table, status_and_code
from tests.api.saved_games import SEED, some_seats, variants_in_lane
from tests.support.application import create_app, rate_limits
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore
from tests.support.table import match_finished

pytestmark = pytest.mark.gate

TTL_SECONDS = 3600


class Worker:
    """The application of one process, and how often it let others run: after each tile and each end of a geometry."""

    def __init__(self, store: MemoryStore, read: int = 0) -> None:
        games = build_games(store, store, [b"secret"], TTL_SECONDS)
        limits = rate_limits(read=read, clock=lambda: 60.0)
        app = create_app(games, limits=limits, yield_control=self._count)
        self.api = Api(app.test_client(use_cookies=False))
        self.yields = 0

    def _count(self) -> None:
        self.yields += 1

    def cost_of(self, path: str) -> int:
        """What computing the places for this request took: the number of tiles and ends."""
        before = self.yields
        assert self.api.get(path).status_code == 200
        return self.yields - before


def size_of(worker: Worker, table: Table) -> tuple[int, int]:
    """The number of tiles and of ends on the table."""
    shown = worker.api.view(table)["board"]
    return len(shown["tiles"]), len(shown["ends"])


def play(worker: Worker, table: Table, tiles: int, random: Random) -> None:
    """Play until so many more tiles are on the table."""
    reached = size_of(worker, table)[0] + tiles
    worker.api.play_until(table, lambda view: len(view["board"]["tiles"]) == reached, random)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_match_is_played_and_viewed_without_computing_where_tiles_lie(variant: str) -> None:
    worker = Worker(MemoryStore(TTL_SECONDS))
    table = worker.api.create(variant, some_seats(variant), seed=SEED)
    worker.api.play_until(table, lambda view: view["version"] > 30 or match_finished(view), Random(SEED))
    for resource in ("", "/moves", "/score", "/events?view=true"):
        worker.api.get(table.path + resource)
    assert worker.yields == 0


def test_one_more_tile_costs_one_tile_and_the_places_at_the_ends() -> None:
    worker, random = Worker(MemoryStore(TTL_SECONDS)), Random(SEED)
    table = worker.api.create("fido", 3, seed=SEED)
    play(worker, table, 8, random)
    tiles, ends = size_of(worker, table)
    assert worker.cost_of(f"{table.path}/board.json") == tiles + ends
    for _ in range(4):
        play(worker, table, 1, random)
        assert worker.cost_of(f"{table.path}/board.json") == 1 + size_of(worker, table)[1]


def test_every_form_of_a_table_has_its_places_from_the_first_one() -> None:
    worker, random = Worker(MemoryStore(TTL_SECONDS)), Random(SEED)
    table = worker.api.create("fido", 3, seed=SEED)
    play(worker, table, 8, random)
    assert worker.cost_of(f"{table.path}/board.json") > 0
    for form in ("board.json", "board.svg", "board.json?from=3", "board.json?text=true"):
        assert worker.cost_of(f"{table.path}/{form}") == 0
    assert worker.cost_of(f"{table.path}/board.json?aspect=0.6") > 0
    assert worker.cost_of(f"{table.path}/board.txt?version=5") == 0, "a text needs no places"


def test_a_table_that_another_process_has_changed_costs_the_tiles_laid_since() -> None:
    store, random = MemoryStore(TTL_SECONDS), Random(SEED)
    one, other = Worker(store), Worker(store)
    table = one.api.create("fido", 3, seed=SEED)
    play(one, table, 6, random)
    other.cost_of(f"{table.path}/board.json")
    play(one, table, 3, random)
    assert other.cost_of(f"{table.path}/board.json") == 3 + size_of(one, table)[1]


def test_the_places_of_tiles_and_ends_count_as_reads_by_address() -> None:
    reads = 20
    worker, random = Worker(MemoryStore(TTL_SECONDS), read=reads), Random(SEED)
    table = worker.api.create("fido", 3, seed=SEED)
    play(worker, table, 10, random)
    tiles, ends = size_of(worker, table)
    admitted = reads // ((tiles + ends) // PLACES_PER_READ)
    answers = [worker.api.get(f"{table.path}/board.json?aspect={aspect / 10}") for aspect in range(10, 20)]
    assert [answer.status_code for answer in answers] == [200] * admitted + [429] * (10 - admitted)
    assert status_and_code(answers[-1]) == (429, "rate_limited")
    assert worker.api.get(f"{table.path}/board.json?aspect=1").status_code == 200, "nothing is computed for it"


def test_one_more_tile_counts_with_the_places_at_all_ends() -> None:
    worker, random = Worker(MemoryStore(TTL_SECONDS), read=1), Random(SEED)
    table = worker.api.create("fido", 3, seed=SEED)
    refused = 0
    for _ in range(20):
        play(worker, table, 1, random)
        refused += worker.api.get(f"{table.path}/board.json").status_code == 429
    assert size_of(worker, table)[1] >= PLACES_PER_READ
    assert refused
