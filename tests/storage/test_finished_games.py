"""The size of finished matches: whole matches, played through the codec into a real server."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import median

import pytest

from service.devserver.embedded import CannotServe
from service.engine.referee import legal_moves
from service.engine.variants import variants
from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from tests.laws.matches import SHORTENED
from tests.storage.conftest import TTL
from tests.storage.servers import RealServer
from tests.support.games import build_games
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_store

pytestmark = pytest.mark.gate

SEATS = 4
MATCHES = 7
MAX_MOVES = 5000
KIB = 1024


def play_match(store: RedisStore, variant: str, seed: str) -> str:
    """Play a whole match of double-six with some seconds between moves; returns the id of the game."""
    random = Random(seed)
    now = 1_767_728_000.0
    games = build_games(
        store,
        MemoryStore(TTL),
        clock=lambda: int(now * 1000),
        random_bytes=random.randbytes,
        secrets=[b"secret"],
        ttl_seconds=TTL,
    )
    people = tuple(
        [SeatRequest("human", f"Player {seat}") for seat in range(max(SEATS, variants()[variant].players.low))]
    )
    created = games.commands.create(GameRequest(variant, people, dict(SHORTENED.get(variant, ())))).answer
    for _ in range(MAX_MOVES):
        game = games.access.authenticate(created.view.id, None).game
        if game.status == "finished":
            return game.id
        seat = game.state.active_seats()[0] if game.state.turn is None else game.state.turn
        now += random.lognormvariate(1.6, 0.8)
        move = random.choice(legal_moves(game.rules, game.state, seat))
        games.commands.make_move(Access(game, seat), MoveCommand(move))
    raise AssertionError("the match did not end")


@pytest.fixture(scope="module")
def bundled_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """The server that is installed with the tests: sizes depend on the allocator of the server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        try:
            server = RealServer(tmp_path_factory.mktemp("bundled"))
        except CannotServe as failure:
            pytest.skip(str(failure))
    yield server
    server.stop()


@pytest.mark.parametrize("variant", in_lane(list(variants()), quick=GATE_VARIANTS))
def test_a_finished_double_six_match_takes_four_kib(variant: str, bundled_server: RealServer) -> None:
    with connect(bundled_server.url) as client:
        store = redis_store(SingleNodeTopology(client), TTL)
        sizes = []
        for number in range(MATCHES):
            game = play_match(store, variant, f"{variant} {number}")
            key_sizes = [
                bundled_server.admin.memory_usage(key, samples=0)
                for key in (keys.state(game), keys.part(b"events", game))
            ]
            sizes.append(sum([size or 0 for size in key_sizes]))
    kibs = 4.25 if variant == "cochon" else 4  # its matches have the most rounds
    assert median(sizes) <= kibs * KIB, sizes
    assert max(sizes) <= 5 * KIB, sizes
