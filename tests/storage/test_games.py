"""The Redis store alone: what it sends, its keys, and their size."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

import service.redis
from service.games.ports import Commit, EventRange, GameExists, IdempotencyRecord, PriorWrite, StoredGame
from service.games.store.checksums import with_sum
from service.games.store.redis_store import CHECK_TTL, RedisStore
from service.redis import keys
from service.redis.connection import Command
from service.redis.errors import OutcomeUnknown
from service.redis.topology import SingleNodeTopology
from tests.storage.conftest import TTL
from tests.storage.servers import RealServer
from tests.storage.write_requests import usual, write
from tests.support.stores.redis_stores import redis_store

pytestmark = pytest.mark.gate

GAME = "an-id-of-22-characters"


@pytest.fixture(autouse=True)
def empty(shared_server: RealServer) -> None:
    shared_server.admin.flushall()


@pytest.fixture
def store(shared_client: redis.Redis) -> RedisStore:
    return redis_store(SingleNodeTopology(shared_client), TTL)


def commands_run(server: RealServer) -> dict[str, int]:
    """How often each command ran since the last CONFIG RESETSTAT, those that scripts ran included."""
    stats: dict[str, Any] = server.admin.info("commandstats")
    ran = {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in stats.items()}
    return {name: calls for name, calls in ran.items() if name not in ("info", "config|resetstat")}


def test_a_read_is_one_command_and_a_write_one_script(store: RedisStore, shared_server: RealServer) -> None:
    admin = shared_server.admin
    store.create("first", b"s", [b"e"], write())
    store.commit("first", Commit(1, b"t", [b"f"], write()))

    admin.config_resetstat()
    store.read("first")
    assert commands_run(shared_server) == {"get": 1}

    admin.config_resetstat()
    store.commit("first", Commit(2, b"u", [b"g"], write()))
    commands = ("evalsha", "getrange", "rpush", "expire", "set", "spublish")
    assert commands_run(shared_server) == dict.fromkeys(commands, 1)

    admin.config_resetstat()
    store.commit("first", Commit(2, b"late", [b"late"], write()))
    assert commands_run(shared_server) == {"evalsha": 1, "getrange": 1, "get": 1, "lindex": 1}

    admin.config_resetstat()
    store.create("second", b"s", [b"e"], write())
    assert commands_run(shared_server) == {"evalsha": 1, "exists": 1, "del": 1, "rpush": 1, "expire": 1, "set": 1}

    admin.config_resetstat()
    store.check()
    assert commands_run(shared_server) == {"set": 1}


def test_a_check_leaves_nothing_behind(store: RedisStore, shared_server: RealServer) -> None:
    store.check()
    assert set(shared_server.admin.keys("domino:check*")) <= {keys.CHECKS[0]}
    assert shared_server.admin.pttl(keys.CHECKS[0]) <= CHECK_TTL  # and -2 if it has expired already


def test_a_server_without_the_scripts_is_sent_each_source_once(store: RedisStore, shared_server: RealServer) -> None:
    shared_server.admin.script_flush()
    store.create(GAME, b"s", [b"e1"], write())
    assert store.commit(GAME, Commit(1, b"t", [b"e2"], write())) is None
    shared_server.admin.script_flush()
    shared_server.admin.config_resetstat()
    assert store.commit(GAME, Commit(2, b"u", [b"e3"], write())) is None
    assert store.commit(GAME, Commit(3, b"v", [b"e4"], write())) is None
    assert commands_run(shared_server)["eval"] == 1
    assert store.events(GAME, [1, 2, 3, 4]) == [b"e1", b"e2", b"e3", b"e4"]


def test_the_keys_are_as_documented(store: RedisStore, shared_server: RealServer) -> None:
    store.create(GAME, b"state", [b"e1", b"e2"], write())
    admin = shared_server.admin
    state, events = b"domino:{%b}" % GAME.encode(), b"domino:{%b}:events" % GAME.encode()
    assert set(admin.keys()) == {state, events}
    assert admin.get(state) == b"2 state"
    entries: Any = admin.lrange(events, 0, -1)
    first, second = entries
    assert re.fullmatch(rb"[\w-]{8} e1[0-9a-f]{8}", first)
    assert second == with_sum(b" e2")


def test_versions_stay_right_when_old_events_are_dropped_or_all_are_lost(
    store: RedisStore, shared_server: RealServer
) -> None:
    store.create(GAME, b"s", [b"e%d" % version for version in range(1, 11)], write())
    shared_server.admin.ltrim(keys.part(b"events", GAME), -3, -1)
    assert store.events(GAME, range(1, 12)) == [b"e8", b"e9", b"e10"]
    shared_server.admin.delete(keys.part(b"events", GAME))
    assert store.events(GAME, range(1, 12)) == []
    assert store.commit(GAME, Commit(10, b"t", [b"e11", b"e12"], write())) is None
    assert store.events(GAME, range(1, 14)) == [b"e11", b"e12"]
    assert shared_server.admin.ttl(keys.part(b"events", GAME)) == pytest.approx(TTL, abs=1)


def test_events_left_over_from_a_lost_game_do_not_appear_in_a_new_one(
    store: RedisStore, shared_server: RealServer
) -> None:
    store.create(GAME, b"s", [b"old1", b"old2"], write())
    shared_server.admin.delete(keys.state(GAME))
    assert store.events(GAME, [1, 2]) == []
    store.create(GAME, b"t", [b"new1"], write())
    assert store.events(GAME, [1, 2]) == [b"new1"]


def test_a_key_of_the_wrong_type_is_an_error_of_the_program_and_changes_nothing(
    store: RedisStore, shared_server: RealServer
) -> None:
    store.create(GAME, b"s", [b"e1"], write())
    shared_server.admin.set(keys.part(b"events", GAME), b"not a list")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        store.commit(GAME, Commit(1, b"t", [b"e2"], write()))
    assert store.read(GAME) == StoredGame(1, b"s")


@pytest.mark.parametrize(
    ("versions", "state_bytes", "limit"), [(40, 1_500, 4 * 1024), (190 * 2, 6_000, 40 * 1024)], ids=["usual", "longest"]
)
def test_a_finished_game_is_small(
    store: RedisStore, shared_server: RealServer, versions: int, state_bytes: int, limit: int
) -> None:
    store.create(GAME, secrets.token_bytes(state_bytes), [secrets.token_bytes(30)], write())
    for version in range(1, versions):
        store.commit(GAME, Commit(version, secrets.token_bytes(state_bytes), [secrets.token_bytes(30)], write()))
    size = sum(
        shared_server.admin.memory_usage(key, samples=0) or 0 for key in (keys.state(GAME), keys.part(b"events", GAME))
    )
    assert size < limit


SCRIPTS = sorted(Path(service.redis.__file__).parent.glob("scripts/*.lua"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_names_every_key_and_argument_and_its_answer(script: Path) -> None:
    head, body = re.split(r"\n(?=[^-\n])", script.read_text(), maxsplit=1)
    assert head.startswith("#!lua"), "so that a script is rejected as a whole"
    assert "-- Returns " in head
    for used in set(re.findall(r"(?:KEYS|ARGV)\[\d\]", body)):
        assert f"-- {used}" in head
    takes_a_list = re.search(r"ARGV\[(?:\d \* )?i\b|ARGV[,)]", body)
    assert bool(takes_a_list) == bool(re.search(r"-- ARGV\[\d?…\]", head)), "a list comes last"


def test_a_ttl_of_zero_is_rejected(shared_client: redis.Redis) -> None:
    with pytest.raises(ValueError, match="second"):
        redis_store(SingleNodeTopology(shared_client), 0)


# ── Compaction ───────────────────────────────────────────────────────────────────────────────────────────────────────


class InterruptedTopology(SingleNodeTopology):
    """A server on which something else happens after the first call."""

    def __init__(self, client: redis.Redis, happens: Callable[[], object]) -> None:
        super().__init__(client)
        self._happens: Callable[[], object] | None = happens

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        answers = super().call(key, *commands)
        happens, self._happens = self._happens, None
        if happens is not None:
            happens()
        return answers


def create_with_three_writes(store: RedisStore) -> None:
    store.create(GAME, b"s", usual(1, 6), write())
    store.commit(GAME, Commit(6, b"t", usual(7, 7), write()))
    store.commit(GAME, Commit(7, b"u", usual(8, 9), write()))


def compact_while(client: redis.Redis, happens: Callable[[RedisStore], object]) -> RedisStore:
    """Compact a game of three writes while something else happens to its store, which is returned."""
    store = redis_store(SingleNodeTopology(client), TTL)
    create_with_three_writes(store)
    redis_store(InterruptedTopology(client, lambda: happens(store)), TTL).compact(GAME)
    return store


def entries(server: RealServer) -> list[bytes]:
    answer: Any = server.admin.lrange(keys.part(b"events", GAME), 0, -1)
    return list(answer)


def test_compacted_events_are_one_entry_before_those_of_the_last_write(
    store: RedisStore, shared_server: RealServer
) -> None:
    """Made by a read and a script, or a read alone if nothing is left to do."""
    create_with_three_writes(store)
    last_write = entries(shared_server)[-2:]
    store.compact(GAME)
    block, *others = entries(shared_server)
    assert (block[:1], others) == (b"*", last_write)
    store.commit(GAME, Commit(9, b"v", usual(10, 10), write()))
    for ran in ({"lrange": 1, "evalsha": 1, "llen": 1, "lindex": 1, "lset": 1, "ltrim": 1}, {"lrange": 1}):
        shared_server.admin.config_resetstat()
        store.compact(GAME)
        assert commands_run(shared_server) == ran
        assert len(entries(shared_server)) == 2


def test_a_write_during_compaction_is_kept(shared_client: redis.Redis, shared_server: RealServer) -> None:
    commit = Commit(9, b"v", usual(10, 10), write())
    store = compact_while(shared_client, lambda store: store.commit(GAME, commit))
    assert len(entries(shared_server)) == 10
    assert store.events(GAME, range(1, 12)) == usual(1, 10)


def test_of_two_compactions_at_once_only_the_first_changes_anything(
    shared_client: redis.Redis, shared_server: RealServer
) -> None:
    store = compact_while(shared_client, lambda store: store.compact(GAME))
    assert len(entries(shared_server)) == 3
    assert store.events(GAME, range(1, 11)) == usual(1, 9)


def test_what_is_dropped_or_lost_during_compaction_does_not_come_back(
    shared_client: redis.Redis, shared_server: RealServer
) -> None:
    store = compact_while(shared_client, lambda _: shared_client.ltrim(keys.part(b"events", GAME), -4, -1))
    assert store.events(GAME, range(1, 11)) == usual(6, 9)
    shared_server.admin.flushall()
    compact_while(shared_client, lambda _: shared_server.admin.flushall())
    assert shared_server.admin.dbsize() == 0


def test_compaction_leaves_the_events_of_another_history_alone(
    shared_client: redis.Redis, shared_server: RealServer
) -> None:
    """A failover may lose moves, and the game reach the same version by other moves."""
    others = [b"[%d,%d]" % (number, number) for number in range(1, 10)]

    def fail_over(store: RedisStore) -> None:
        shared_server.admin.flushall()
        store.create(GAME, b"s", others[:6], write())
        store.commit(GAME, Commit(6, b"t", others[6:7], write()))
        store.commit(GAME, Commit(7, b"u", others[7:], write()))

    store = compact_while(shared_client, fail_over)
    assert len(entries(shared_server)) == 9
    assert store.events(GAME, range(1, 10)) == others


def test_versions_stay_right_when_old_events_are_dropped_and_the_rest_is_compacted(
    store: RedisStore, shared_server: RealServer
) -> None:
    create_with_three_writes(store)
    shared_server.admin.ltrim(keys.part(b"events", GAME), -5, -1)
    store.compact(GAME)
    assert len(entries(shared_server)) == 3
    assert store.events(GAME, range(-1, 12)) == usual(5, 9)
    for after in range(-1, 4):
        assert store.event_range(GAME, after, 2) == EventRange(5, tuple(usual(5, 6)), 9)
    assert store.event_range(GAME, 5, 3) == EventRange(6, tuple(usual(6, 8)), 9)


# ── Replication ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_replica_a_write_has_an_unknown_outcome_and_a_rejected_one_is_reported(
    shared_client: redis.Redis,
) -> None:
    unreplicated = redis_store(SingleNodeTopology(shared_client), TTL)
    replicated = redis_store(SingleNodeTopology(shared_client), TTL, replicated=True)
    sent = write(IdempotencyRecord("key", b"request"))
    unreplicated.create(GAME, b"s", [b"e1"], write())
    assert replicated.commit(GAME, Commit(7, b"t", [b"e2"], write())) == StoredGame(1, b"s")
    assert replicated.find_write(GAME, "key") is None
    with pytest.raises(GameExists):
        replicated.create(GAME, b"t", [b"e1"], write())
    with pytest.raises(KeyError):
        replicated.commit("none", Commit(1, b"t", [b"e2"], write()))
    with pytest.raises(OutcomeUnknown):
        replicated.commit(GAME, Commit(1, b"t", [b"e2"], sent))
    with pytest.raises(OutcomeUnknown):
        replicated.find_write(GAME, "key")
    assert unreplicated.find_write(GAME, "key") == PriorWrite(2, b"request", sent.id)
