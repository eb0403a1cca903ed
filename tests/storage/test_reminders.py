"""The contract of every queue of reminders, tested with Redis, with a Cluster and in memory."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, get_args

import pytest
import redis

from service.games.ports import Commit, IdempotencyRecord, Store, StoredGame, WriteRequest
from service.games.reminders import NO_ALLOWANCE, ClockReading, LeasedReminder, ReminderKind, ReminderQueue, Reminders
from service.games.store.reminder_queue import MAX_TENANTS_OF_A_SHARD
from service.redis import keys
from service.redis.connection import Command, NotSent
from service.redis.errors import StorageUnavailable
from service.redis.shards import SHARDS, shard_of, with_shard
from service.redis.topology import SingleNodeTopology, open_topology
from tests.storage.clusters import Cluster
from tests.storage.conftest import TTL
from tests.storage.write_requests import write
from tests.support import reminders
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.support.stores.simulated_clock import under_clock

pytestmark = pytest.mark.gate

KINDS: list[ReminderKind] = ["bots", "clock"]
LEASE = 20_000
AGO, LATER = 2_000, 1_000_000
"""How long ago a reminder was due, or will be; milliseconds. The clocks of the tests below stand still."""


class Harness(Protocol):
    """A store, its queue, and a clock that can be moved."""

    store: Store
    queue: ReminderQueue

    def beat(self) -> None:
        """Note that players can move."""

    def scores(self, kind: ReminderKind) -> dict[str, float]:
        """The reminders of this kind, by game."""

    def pass_time(self, milliseconds: int) -> None:
        """Let so much time pass for the reminders and the heartbeats."""


class MemoryHarness:
    def __init__(self) -> None:
        self.time = 1_800_000_000.0
        self.memory = MemoryStore(TTL, lambda: self.time)
        self.store: Store = self.memory
        self.queue: ReminderQueue = self.memory
        self.beat = self.memory.beat

    def scores(self, kind: ReminderKind) -> dict[str, float]:
        return dict(self.memory._reminders[kind])

    def pass_time(self, milliseconds: int) -> None:
        self.time += milliseconds / 1000


class RedisHarness:
    """Its clock stands still, too, so that no machine is too slow for a test."""

    def __init__(self, servers: redis.Redis | Cluster) -> None:
        self.time = 1_800_000_000_000
        topology = open_topology(servers.url) if isinstance(servers, Cluster) else SingleNodeTopology(servers)
        self.topology = under_clock(topology, lambda: self.time)
        self.store: Store = redis_store(self.topology, TTL)
        reminders = redis_reminders(self.topology)
        self.queue: ReminderQueue = reminders
        self.heartbeats = reminders.heartbeats

    def beat(self) -> None:
        self.heartbeats.beat()

    def scores(self, kind: ReminderKind) -> dict[str, float]:
        return reminders.stored(self.topology, kind)

    def pass_time(self, milliseconds: int) -> None:
        self.time += milliseconds

    def tenants(self, kind: ReminderKind) -> int:
        """How many tenants are known."""
        return sum([self.topology.call(key, (b"ZCARD", key))[0] for key in keys.reminder_sets(kind)])

    def clear(self) -> None:
        for kind in get_args(ReminderKind):
            reminders.clear(self.topology, kind)
        for key in keys.HEARTBEATS:
            self.topology.call(key, (b"DEL", key))


@pytest.fixture(params=["memory", "redis", "cluster"])
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    if request.param == "memory":
        yield MemoryHarness()
        return
    harness = RedisHarness(request.getfixturevalue("shared_client" if request.param == "redis" else "shared_cluster"))
    harness.clear()
    yield harness
    harness.clear()


def test_a_reminder_is_set_until_it_is_removed(harness: Harness) -> None:
    game = new_game()
    assert not harness.queue.is_set("bots", game, "")
    harness.queue.restore("bots", game, "", harness.queue.server_time())
    assert harness.queue.is_set("bots", game, "")
    assert not harness.queue.is_set("clock", game, "")
    (taken,) = harness.queue.take("bots", 9, LEASE)
    assert harness.queue.is_set("bots", game, "")
    harness.queue.reschedule("bots", [(taken, None)])
    assert not harness.queue.is_set("bots", game, "")
    assert not harness.queue.is_set("bots", "an old id", "")


def new_game() -> str:
    return with_shard(secrets.token_urlsafe(16))


def create(harness: Harness, kind: ReminderKind, due: int | None, game: str | None = None) -> str:
    """A new game with a reminder of one kind, so many milliseconds from now."""
    name = new_game() if game is None else game
    at = None if due is None else harness.queue.server_time() + due
    due_at: Reminders = {kind: at}
    assert harness.store.create(name, b"s", [b"e1"], write(), reminders=due_at) is None
    return name


def take(harness: Harness, kind: ReminderKind, limit: int = 100) -> set[str]:
    return {taken.game for taken in harness.queue.take(kind, limit, LEASE)}


# ── Written with the game ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("names", [(), ("name", "other")], ids=["plain", "with a key"])
def test_a_creation_and_a_commit_write_both_reminders(harness: Harness, names: tuple[str, ...]) -> None:
    game, store = new_game(), harness.store
    records = [IdempotencyRecord(name, b"fingerprint") for name in names] if names else [None, None]
    store.create(game, b"s", [b"e1"], write(records[0]), reminders={"bots": 5_000, "clock": 7_000})
    assert (harness.scores("bots"), harness.scores("clock")) == ({game: 5_000}, {game: 7_000})
    commit = Commit(1, b"t", [b"e2"], write(records[1]), reminders={"bots": None, "clock": 8_000})
    assert store.commit(game, commit) is None
    assert (harness.scores("bots"), harness.scores("clock")) == ({}, {game: 8_000})
    assert store.read(game) == StoredGame(2, b"t")
    assert store.events(game, [1, 2, 3]) == [b"e1", b"e2"]
    found = [store.find_write(game, name) for name in names]
    assert [each and each[:2] for each in found] == [(number, b"fingerprint") for number, _ in enumerate(names, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_removes_the_reminder_that_it_does_not_have(harness: Harness, kind: ReminderKind) -> None:
    game = create(harness, kind, LATER)
    assert set(harness.scores(kind)) == {game}
    harness.store.commit(game, Commit(1, b"t", [b"e2"], write(), reminders={"bots": None, "clock": None}))
    assert harness.scores(kind) == {}


def test_a_write_without_reminders_or_one_that_is_refused_leaves_them_as_they_are(harness: Harness) -> None:
    game = new_game()
    harness.store.create(game, b"s", [b"e1"], write(), reminders={"bots": 5_000, "clock": 6_000})
    refused = harness.store.commit(game, Commit(7, b"t", [b"e2"], write(), reminders={"bots": 1, "clock": 2}))
    assert refused == StoredGame(1, b"s")
    with pytest.raises(KeyError):
        harness.store.commit(new_game(), Commit(1, b"t", [b"e2"], write(), reminders={"bots": 3, "clock": 4}))
    assert harness.store.commit(game, Commit(1, b"t", [b"e2"], write())) is None
    assert (harness.scores("bots"), harness.scores("clock")) == ({game: 5_000}, {game: 6_000})


@pytest.mark.parametrize("record", [None, IdempotencyRecord("name", b"fingerprint")], ids=["plain", "with a key"])
def test_a_repeated_write_does_not_touch_the_reminders(harness: Harness, record: IdempotencyRecord | None) -> None:
    game, creation = new_game(), write()
    commit = WriteRequest(b"commit--", record)
    harness.store.create(game, b"s", [b"e1"], creation, reminders={"bots": 1_000, "clock": 1_000})
    harness.store.commit(game, Commit(1, b"t", [b"e2"], commit, reminders={"bots": 2_000, "clock": 2_000}))
    harness.store.commit(game, Commit(2, b"u", [b"e3"], write(), reminders={"bots": 3_000, "clock": None}))
    assert harness.store.create(game, b"s", [b"e1"], creation, reminders={"bots": 1_000, "clock": 1_000}) is None
    repeated = harness.store.commit(
        game, Commit(1, b"t", [b"e2"], commit, reminders={"bots": 2_000, "clock": 2_000}), again=True
    )
    assert repeated is None
    assert (harness.scores("bots"), harness.scores("clock")) == ({game: 3_000}, {})


def test_a_game_without_a_shard_has_no_reminders(harness: Harness) -> None:
    game = secrets.token_urlsafe(16)
    assert shard_of(game) is None
    harness.store.create(game, b"s", [b"e1"], write(), reminders={"bots": 1, "clock": 1})
    assert harness.store.commit(game, Commit(1, b"t", [b"e2"], write(), reminders={"bots": 2, "clock": 2})) is None
    assert harness.store.read(game) == StoredGame(2, b"t")
    assert (harness.scores("bots"), harness.scores("clock")) == ({}, {})
    assert harness.queue.reschedule("bots", [(LeasedReminder(game, 1, 1.5, ClockReading(1)), 5)]) == 0
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE


# ── Taken ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_game_is_taken_when_it_is_due_and_not_before(harness: Harness, kind: ReminderKind) -> None:
    game, _ = create(harness, kind, -AGO), create(harness, kind, LATER)
    (taken,) = harness.queue.take(kind, 100, LEASE)
    assert taken.game == game
    assert taken.due < harness.queue.server_time() < taken.leased


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_taken_by_itself(harness: Harness, kind: ReminderKind) -> None:
    game = create(harness, kind, -AGO)
    assert all(take(harness, other) == set() for other in KINDS if other != kind)
    assert take(harness, kind) == {game}


def test_a_leased_game_is_not_given_again_before_the_lease_is_over(harness: Harness) -> None:
    game = create(harness, "bots", -AGO)
    assert take(harness, "bots") == {game}
    assert take(harness, "bots") == set()
    harness.pass_time(LEASE - 5_000)
    assert take(harness, "bots") == set()
    harness.pass_time(6_000)
    assert take(harness, "bots") == {game}
    assert take(harness, "bots") == set()


def test_a_write_ends_a_lease_even_one_with_its_score(harness: Harness) -> None:
    game = create(harness, "bots", -AGO)
    (taken,) = harness.queue.take("bots", 1, LEASE)
    now = harness.queue.server_time()
    for number, due in enumerate((int(taken.leased), int(taken.leased) + 1, now - 1), 1):
        harness.store.commit(game, Commit(number, b"t", [b"e"], write(), reminders={"bots": due, "clock": None}))
        assert harness.queue.reschedule("bots", [(taken, None)]) == 0
    assert take(harness, "bots") == {game}


@pytest.mark.parametrize("due", [LATER, None], ids=["at another time", "removed"])
def test_a_leased_reminder_is_rescheduled_once(harness: Harness, due: int | None) -> None:
    game = create(harness, "bots", -AGO)
    (taken,) = harness.queue.take("bots", 1, LEASE)
    now = harness.queue.server_time()
    assert harness.queue.reschedule("bots", [(taken, None if due is None else now + due)]) == 1
    after = {} if due is None else {game: now + due}
    assert harness.scores("bots") == after
    assert harness.queue.reschedule("bots", [(taken, now)]) == 0
    assert harness.scores("bots") == after


def test_who_was_too_slow_does_not_touch_the_lease_of_the_next_one(harness: Harness) -> None:
    create(harness, "bots", -AGO)
    (slow,) = harness.queue.take("bots", 1, LEASE)
    harness.pass_time(LEASE + 1_000)
    (next_one,) = harness.queue.take("bots", 1, LEASE)
    assert harness.queue.reschedule("bots", [(slow, None)]) == 0
    assert harness.queue.reschedule("bots", [(next_one, None)]) == 1


def test_no_more_are_taken_than_wanted_and_each_of_them_once(harness: Harness) -> None:
    games = {create(harness, "bots", -AGO) for _ in range(20)}
    taken = [harness.queue.take("bots", 6, LEASE) for _ in range(5)]
    assert [len(each) for each in taken] == [6, 6, 6, 2, 0]
    assert {reminder.game for each in taken for reminder in each} == games


def test_the_earliest_come_first(harness: Harness) -> None:
    expected = [create(harness, "bots", -due) for due in (5_000, 4_000, 3_000, 2_000, 1_000)]
    assert [taken.game for taken in harness.queue.take("bots", 100, LEASE)] == expected


def test_games_of_every_shard_are_taken(harness: Harness) -> None:
    by_shard: dict[int | None, str] = {}
    while len(by_shard) < SHARDS:
        game = new_game()
        by_shard.setdefault(shard_of(game), game)
    for game in by_shard.values():
        create(harness, "clock", -AGO, game)
    assert take(harness, "clock", SHARDS) == set(by_shard.values())
    assert take(harness, "clock", SHARDS) == set()


def test_no_shard_waits_for_ever_behind_the_others(harness: Harness) -> None:
    """The games that were taken are due again at once, as where nobody can keep up."""
    games = {create(harness, "bots", -AGO) for _ in range(3)}
    taken: set[str] = set()
    for _ in range(SHARDS):
        for reminder in harness.queue.take("bots", 1, LEASE):
            taken.add(reminder.game)
            harness.queue.reschedule("bots", [(reminder, harness.queue.server_time() - 1)])
    assert taken == games


def test_where_nobody_can_keep_up_every_game_has_its_turn_before_any_has_two(harness: Harness) -> None:
    games: dict[int | None, str] = {}
    while len(games) < 40:
        game = new_game()
        games.setdefault(shard_of(game), game)
    for game in games.values():
        create(harness, "bots", -AGO, game)
    taken: list[str] = []
    for _ in range(10):
        for reminder in harness.queue.take("bots", 4, LEASE):
            taken.append(reminder.game)
            harness.queue.reschedule("bots", [(reminder, harness.queue.server_time() - 1)])
    assert sorted(taken) == sorted(games.values())


def test_tenants_have_their_turns_however_many_games_each_has(harness: Harness) -> None:
    """The games of one are in nearly all shards, and were due long before those of the others."""
    held: dict[str, str] = {}
    due: Reminders = {"bots": harness.queue.server_time() - AGO}
    for tenant, games in (("hog", 300), ("one", 1), ("two", 2)):
        for _ in range(games):
            game = new_game()
            held[game] = tenant
            harness.store.create(game, b"s", [b"e"], write(), reminders=due, tenant=tenant)
        due = {"bots": harness.queue.server_time() - 1}
    first, second, third = [[held[each.game] for each in harness.queue.take("bots", 3, LEASE)] for _ in range(3)]
    assert sorted(first) == ["hog", "one", "two"]
    assert sorted(second) == ["hog", "hog", "two"]
    assert sorted(third) == ["hog", "hog", "hog"]


@pytest.mark.parametrize("harness", ["redis", "cluster"], indirect=True)
def test_tenants_of_a_shard_that_were_not_considered_come_next(harness: RedisHarness) -> None:
    due: Reminders = {"bots": harness.queue.server_time() - AGO}
    game = new_game()
    for number in range(MAX_TENANTS_OF_A_SHARD + 3):
        while shard_of(other := new_game()) != shard_of(game):
            pass
        harness.store.create(other, b"s", [b"e"], write(), reminders=due, tenant=f"tenant {number}")
    assert [len(take(harness, "bots")) for _ in range(3)] == [MAX_TENANTS_OF_A_SHARD, 3, 0]


def test_a_tenant_gets_no_more_than_the_taker_wants(harness: Harness) -> None:
    for tenant in ("hog", "hog", "hog", "one"):
        due: Reminders = {"bots": harness.queue.server_time() - AGO}
        harness.store.create(new_game(), b"s", [b"e"], write(), reminders=due, tenant=tenant)
    most = {"hog": 2, "one": 2}
    taken = harness.queue.take("bots", 100, LEASE, most.__getitem__)
    assert sorted([each.tenant for each in taken]) == ["hog", "hog", "one"]
    assert harness.queue.take("bots", 100, LEASE, lambda _: 0) == []
    (last,) = harness.queue.take("bots", 100, LEASE)
    assert last.tenant == "hog"


def test_a_lease_is_renewed_until_it_has_ended(harness: Harness) -> None:
    create(harness, "bots", -AGO)
    (taken,) = harness.queue.take("bots", 1, LEASE)
    harness.pass_time(LEASE - 5_000)
    stale = taken._replace(leased=taken.leased - 1)
    assert harness.queue.renew("bots", stale, LEASE) is None
    (moved,) = harness.scores("bots").values()
    renewed = harness.queue.renew("bots", taken._replace(leased=moved), LEASE)
    assert renewed is not None
    harness.pass_time(LEASE - 5_000)
    assert take(harness, "bots") == set()
    harness.pass_time(6_000)
    assert take(harness, "bots") == {taken.game}
    assert harness.queue.renew("bots", renewed, LEASE) is None


def test_nothing_is_left_of_a_tenant_without_reminders(harness: Harness) -> None:
    create(harness, "bots", -AGO)
    (taken,) = harness.queue.take("bots", 1, LEASE)
    harness.queue.reschedule("bots", [(taken, None)])
    harness.pass_time(LEASE + 1_000)
    assert take(harness, "bots") == set()
    assert harness.scores("bots") == {}
    if isinstance(harness, RedisHarness):
        assert harness.tenants("bots") == 0


@pytest.mark.parametrize("harness", ["redis", "cluster"], indirect=True)
def test_a_look_is_one_command_for_each_primary(harness: RedisHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    call_each = harness.topology.call_each

    def counted(calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        sent.append(len(calls))
        return call_each(calls)

    primaries = len(harness.topology.by_primary(keys.CHECKS))
    create(harness, "bots", LATER)
    assert take(harness, "bots") == set()  # now each primary knows the script
    monkeypatch.setattr(harness.topology, "call_each", counted)
    assert take(harness, "bots") == set()
    games = {create(harness, "bots", -AGO) for _ in range(5)}
    assert take(harness, "bots") == games
    assert sent == [primaries, primaries]
    for _ in range(5):
        create(harness, "bots", -AGO)
    assert len(take(harness, "bots", 3)) == 3
    assert sent[2] == primaries
    assert 1 <= sum(sent[3:]) <= 4  # some are leased, with the source of the script where it is not known


@pytest.mark.parametrize("harness", ["cluster"], indirect=True)
def test_what_was_leased_is_given_even_if_a_server_fails_then(
    harness: RedisHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    games: dict[str, list[str]] = {}
    while min(map(len, games.values()), default=0) < 3 or len(games) < 3:
        game = new_game()
        games.setdefault(harness.topology.node(keys.state(game)), []).append(game)
    one, several, _ = games.values()
    for game in (one[0], *several[:3]):
        create(harness, "bots", -AGO, game)
    call_each, looks = harness.topology.call_each, list[object]()

    def fail_after_a_look(calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        if looks:
            error = NotSent()
            error.__cause__ = redis.ConnectionError()
            return [error] * len(calls)
        looks.append(calls)
        return call_each(calls)

    assert take(harness, "bots", 1) <= {one[0], *several}  # now each primary knows the scripts
    harness.pass_time(LEASE + 1_000)
    monkeypatch.setattr(harness.topology, "call_each", fail_after_a_look)
    assert take(harness, "bots", 3) == {one[0]}
    with pytest.raises(StorageUnavailable):
        take(harness, "bots", 3)


# ── Told ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_time_of_the_store_goes_on(harness: Harness) -> None:
    first = harness.queue.server_time()
    assert first > 1_700_000_000_000
    assert harness.queue.server_time() >= first


@pytest.mark.parametrize("kind", KINDS)
def test_all_games_with_a_reminder_are_known_leased_or_not(harness: Harness, kind: ReminderKind) -> None:
    assert harness.queue.reminded(kind, "") == []
    leased, waiting, _ = create(harness, kind, -AGO), create(harness, kind, LATER), create(harness, kind, None)
    assert take(harness, kind) == {leased}
    assert sorted(harness.queue.reminded(kind, "")) == sorted([leased, waiting])
    assert harness.queue.reminded("outbox", "") == []


# ── Lost ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_reminder_that_was_lost_is_restored_and_one_that_exists_stays_as_it_is(
    harness: Harness, kind: ReminderKind
) -> None:
    leased, waiting, lost = create(harness, kind, -AGO), create(harness, kind, LATER), create(harness, kind, None)
    assert take(harness, kind) == {leased}
    before = harness.scores(kind)
    for game in (leased, waiting, lost, "old"):  # one without a shard has none
        harness.queue.restore(kind, game, "", 5_000)
    assert harness.scores(kind) == before | {lost: 5_000}
