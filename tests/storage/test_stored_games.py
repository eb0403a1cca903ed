"""The index of all games, on a real server and on a Cluster: whose a game is, and that none stays in it for ever."""

from __future__ import annotations

import secrets
from collections.abc import Set
from itertools import count
from typing import Any, NamedTuple

import pytest

from service.games.ports import Commit, StoredGame
from service.games.store.all_games import PAGE, RedisStoredGames, SizedGame
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.shards import shard_of, with_shard
from service.redis.topology import Topology
from tests.storage.conftest import TTL
from tests.storage.write_requests import usual, write
from tests.support.stores.redis_stores import redis_calls, redis_store

pytestmark = pytest.mark.gate


class Kept(NamedTuple):
    """Games, and their index."""

    topology: Topology
    store: RedisStore
    stored: RedisStoredGames
    network: str
    """A tenant that no other test has."""

    def create(self, game: str, tenant: str = "") -> str:
        self.store.create(game, b"a state", usual(1, 2), write(), tenant=tenant or self.network)
        return game

    def found(self, tenants: Set[str] | None) -> dict[str, SizedGame]:
        """The games of these tenants by their ids."""
        return {each.id: each for each in self.stored.games(tenants)}

    def expire(self, game: str) -> None:
        """Remove a game as the server does, which tells the index nothing."""
        for key in keys.of_game(game):
            self.call(key, b"DEL", key)

    def indexed(self, shard: int) -> set[str]:
        """The games of a shard that are in the index."""
        return {game.decode() for game in self.call(keys.STORED[shard], b"HKEYS", keys.STORED[shard])}

    def empty(self, shard: int) -> None:
        """Remove the index of a shard, which all tests share."""
        self.call(keys.STORED[shard], b"DEL", keys.STORED[shard])

    def call(self, key: bytes, *command: bytes) -> Any:
        (answer,) = self.topology.call(key, command)
        return answer


@pytest.fixture
def kept(topology: Topology) -> Kept:
    return Kept(topology, redis_store(topology, TTL), RedisStoredGames(redis_calls(topology)), new_tenant())


def new_game(shard: int | None = None) -> str:
    """The id of a game; in this shard."""
    tries = (with_shard(secrets.token_urlsafe(16)) for _ in count())
    return next(each for each in tries if shard is None or shard_of(each) == shard)


def new_tenant() -> str:
    return secrets.token_hex(9)


def test_a_game_is_found_by_its_tenant(kept: Kept) -> None:
    app = new_game()
    owned, nobodys = kept.create(new_game(), app), kept.create(new_game())
    assert set(kept.found({kept.network})) == {nobodys}
    assert set(kept.found({app})) == {owned}
    assert set(kept.found({app, kept.network})) == {owned, nobodys}
    assert kept.found({new_tenant()}) == kept.found({""}) == {}
    assert {owned, nobodys} <= set(kept.found(None))


def test_it_is_found_with_its_value_and_its_size_as_it_is_after_moves(kept: Kept) -> None:
    game = kept.create(new_game())
    before = kept.found({kept.network})[game]
    assert (before.stored, before.bytes) == (StoredGame(2, b"a state"), kept.store.size(game))
    assert kept.store.commit(game, Commit(2, b"another state", usual(3, 60), write())) is None
    after = kept.found({kept.network})[game]
    assert (after.stored, after.bytes) == (StoredGame(60, b"another state"), kept.store.size(game))
    assert after.bytes > before.bytes


def test_many_games_are_found_in_pages(kept: Kept) -> None:
    games = {kept.create(new_game()) for _ in range(PAGE + 100)}
    assert set(kept.found({kept.network})) == games
    of_one_shard = {kept.create(new_game(shard=7)) for _ in range(20)}
    assert set(kept.found({kept.network})) == games | of_one_shard


def test_a_deleted_game_leaves_the_index(kept: Kept) -> None:
    deleted, other = kept.create(new_game()), kept.create(new_game())
    for _ in range(2):
        kept.store.delete(deleted, b"a tombstone", 1_000, kept.network)
        assert set(kept.found({kept.network})) == {other}


def test_a_game_that_has_expired_leaves_the_index_when_that_is_read(kept: Kept) -> None:
    expired, other = kept.create(new_game()), kept.create(new_game())
    kept.expire(expired)
    shard = shard_of(expired)
    assert shard is not None
    assert expired in kept.indexed(shard)
    assert set(kept.found({kept.network})) == {other}
    assert expired not in kept.indexed(shard)


def test_new_games_take_those_that_have_expired_out_of_the_index(kept: Kept) -> None:
    shard = 3
    kept.empty(shard)
    for _ in range(20):
        expired = [kept.create(new_game(shard)) for _ in range(3)]
        assert kept.indexed(shard) == set(expired)
        for each in expired:
            kept.expire(each)
        kept.expire(last := kept.create(new_game(shard)))
        assert kept.indexed(shard) == {last}
        kept.empty(shard)


def test_the_index_does_not_grow_without_bound_while_nobody_reads_it(kept: Kept) -> None:
    shard, most = 5, 30
    kept.empty(shard)
    games: list[str] = []
    for _ in range(20 * most):
        games.append(kept.create(new_game(shard)))
        if len(games) > most:
            kept.expire(games.pop(0))
    # In the long run a third has expired, that is half as many again; this leaves room for chance.
    assert set(games) <= kept.indexed(shard)
    assert len(kept.indexed(shard)) < 4 * most


def test_a_game_that_is_created_again_by_the_same_write_is_not_put_back(kept: Kept) -> None:
    game, same = new_game(), write()
    for _ in range(2):
        kept.store.create(game, b"a state", usual(1, 2), same, tenant=kept.network)
    assert set(kept.found({kept.network})) == {game}
    kept.stored.forget([game])
    assert kept.found({kept.network}) == {}
    kept.store.create(game, b"a state", usual(1, 2), same, tenant=kept.network)
    assert kept.found({kept.network}) == {}
    kept.store.register(game, kept.network)
    assert set(kept.found({kept.network})) == {game}


def test_a_game_without_a_shard_is_in_no_index(kept: Kept) -> None:
    game = secrets.token_urlsafe(16)
    assert shard_of(game) is None
    kept.create(game)
    kept.store.register(game, kept.network)
    kept.stored.forget([game])
    assert kept.found({kept.network}) == {}
