"""The reminder queue in Redis or Valkey: one script for all shards, or with several servers one for each shard.

Owns how reminders are leased and rescheduled, and the turns of tenants. The writes of games write reminders, too
(``service.games.store.redis_store``). Does not depend on the work that is due, nor on the postponement of deadlines
(``service.games.store.heartbeats``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, get_args

from service.games.reminders import (
    NOT_OF_GAMES,
    ClockReading,
    LeasedReminder,
    OutageAllowance,
    ReminderKind,
    ReminderQueue,
    Rescheduled,
    TenantLimit,
)
from service.games.store.heartbeats import RedisHeartbeats, reading_of
from service.limits.fair_queue import Due, Turns
from service.redis import keys
from service.redis.calls import FailureObserver, Observer, RedisCalls, evalsha
from service.redis.connection import Command
from service.redis.shards import SHARDS, shard_of
from service.redis.topology import Topology

_Rows = tuple[Sequence[int], list[Any]]
"""Rows of four: the number of a set, a tenant, its due games, since when it waits; before them the shards by number."""

MAX_TENANTS_OF_A_SHARD: Final = 16
"""The maximum number of tenants of one shard that are considered: those who were served longest ago."""


class RedisReminders(ReminderQueue):
    """The reminders of the games in the ``RedisStore`` on the same servers.

    No replica has to confirm a lease: if a failover loses a lease, the reminder is delivered again.
    """

    def __init__(self, topology: Topology, *, observe: Observer, observe_failure: FailureObserver) -> None:
        self._calls = RedisCalls(topology, observe=observe, observe_failure=observe_failure)
        self._is_one = topology.scripts_span_slots
        self._turns = {kind: Turns() for kind in get_args(ReminderKind)}
        self._first = 0
        self.heartbeats = RedisHeartbeats(topology, observe=observe)
        """The source of clock readings and outage allowances."""

    def take(
        self, kind: ReminderKind, limit: int, lease: int, limit_of: TenantLimit | None = None
    ) -> list[LeasedReminder]:
        """Read first how many reminders of each tenant are due, then lease the share of each tenant.

        If all that are due are those of one tenant in one shard, one round trip does both, unless ``limit_of`` limits
        the tenant, or there are several servers.
        """
        if kind in NOT_OF_GAMES and self._is_one:
            return self._take_any(kind, limit, lease)
        max_tenants = 0 if kind in NOT_OF_GAMES else MAX_TENANTS_OF_A_SHARD
        due, taken = self._due(kind, lease, max_tenants, 0 if limit_of else limit)
        shares = self._turns[kind].share(due, limit, limit_of)
        batches: dict[int, list[tuple[int, str]]] = {}
        for shard, tenant in shares:
            batches.setdefault(0 if self._is_one else shard, []).append((shard, tenant))
        calls = []
        for batch, places in batches.items():
            names = [keys.HEARTBEATS[batch], *[keys.reminder_sets(kind)[shard] for shard, _ in places]]
            counts = [part for place in places for part in (place[1].encode(), shares[place])]
            calls.append((names[0], evalsha("take", names, lease, max_tenants, 0, *counts)))
        answers = [taken] if taken else self._calls.run_each("take", calls)
        reminders = [
            LeasedReminder(game.decode(), int(float(due)), float(leased), reading, tenant)
            for places, answer in zip(batches.values(), answers, strict=True)
            if answer is not None
            for leased, now, heartbeat, *games_by_place in [answer]
            for reading in [reading_of(now, heartbeat) if kind == "clock" else ClockReading(now)]
            for (_, tenant), games in zip(places, games_by_place, strict=True)
            for game, due in zip(games[::2], games[1::2], strict=True)
        ]
        return sorted(reminders, key=attrgetter("due"))

    def _take_any(self, kind: ReminderKind, limit: int, lease: int) -> list[LeasedReminder]:
        """Lease reminders without tenants in one round trip, beginning with another shard each time."""
        sets = keys.reminder_sets(kind)
        self._first = (self._first + 1) % SHARDS
        names = (*sets[self._first :], *sets[: self._first])
        call = names[0], evalsha("take_any", names, lease, limit)
        ((leased, now, *rows),) = self._calls.run_each("take_any", [call])
        reminders = [
            LeasedReminder(name.decode(), int(float(due)), float(leased), ClockReading(now))
            for name, due in zip(rows[::2], rows[1::2], strict=True)
        ]
        return sorted(reminders, key=attrgetter("due"))

    def _due(self, kind: ReminderKind, lease: int, max_tenants: int, limit: int) -> tuple[list[Due], list[Any]]:
        """Return how many reminders of each tenant are due in each shard, and what was leased (script ``take``).

        Raises ``StorageUnavailable`` if no server answers.
        """
        sets = keys.reminder_sets(kind)
        if self._is_one:
            found, batches = list[_Rows](), {0: (keys.HEARTBEATS[0], *sets)}
        else:
            found, unread = self._due_in_cluster(sets, max_tenants)
            batches = {shard: (keys.HEARTBEATS[shard], sets[shard]) for shard in unread}
        arguments = lease, max_tenants, limit if self._is_one else 0
        calls = [(batch[0], evalsha("take", batch, *arguments)) for batch in batches.values()]
        answers = self._calls.run_each("due", calls)
        numbered = zip(batches, answers, strict=True)  # the script numbers the sets from 1
        found += [(range(first - 1, first + SHARDS), answer[0]) for first, answer in numbered if answer is not None]
        due = [
            Due(places[number], tenant.decode(), count, float(since))
            for places, rows in found
            for number, tenant, count, since in zip(*[iter(rows)] * 4, strict=True)  # rows of four
        ]
        return due, answers[0][1:] if self._is_one else []

    def _due_in_cluster(self, sets: Sequence[bytes], max_tenants: int) -> tuple[list[_Rows], list[int]]:
        """Return the answers of the script ``due`` of all primaries, and the shards that could not be read.

        ``sets``: a set for each shard. One script on each primary reads all of its sets: most looks find nothing, and
        a command for each shard takes ten times as long. A set without a known primary cannot be read. Raises
        ``StorageUnavailable`` if no server answers; if some do not, their shards are left out.
        """
        shards = {name: shard for shard, name in enumerate(sets)}
        groups = self._calls.by_primary(sets)
        calls = []
        for group in groups:
            pairs = [part for name in group for part in (keys.HEARTBEATS[shards[name]], name)]
            calls.append((group[0], evalsha("due", group[:1], max_tenants, *pairs)))
        found, unread = list[_Rows](), [shards[name] for name in shards.keys() - set(chain.from_iterable(groups))]
        for group, answer in zip(groups, self._calls.run_each("due", calls), strict=True):
            if answer is not None:
                found.append(([shards[name] for name in group], answer[1:]))
                unread += [shards[group[number]] for number in answer[0]]
        return found, unread

    def reschedule(self, kind: ReminderKind, reminders: Sequence[Rescheduled]) -> int:
        calls = []
        for reminder, at in reminders:
            shard = shard_of(reminder.game)
            if shard is not None:
                names = _names(kind, shard, reminder.tenant)
                game, leased, due = reminder.game.encode(), b"%r" % reminder.leased, b"" if at is None else b"%d" % at
                command = evalsha("reschedule", names, game, leased, due, reminder.tenant.encode())
                calls.append((names[0], command))
        return self._calls.run_each("reschedule", calls).count(1)

    def renew(self, kind: ReminderKind, reminder: LeasedReminder, lease: int) -> LeasedReminder | None:
        shard = shard_of(reminder.game)
        if shard is None:
            return None
        names = _names(kind, shard, reminder.tenant)[0], keys.heartbeat(shard, is_one=self._is_one)
        command = evalsha("renew", names, reminder.game.encode(), b"%r" % reminder.leased, lease)
        (leased,) = self._calls.run_each("renew", [(names[0], command)])
        return None if leased is None else reminder._replace(leased=float(leased))

    def restore(self, kind: ReminderKind, game: str, tenant: str, at: int) -> None:
        shard = shard_of(game)
        if shard is not None:
            key, *sets = _names(kind, shard, tenant)
            add_tenant = [(b"ZADD", tenants, b"LT", at, tenant.encode()) for tenants in sets]
            self._calls.read_all("restore", key, (b"ZADD", key, b"NX", at, game.encode()), *add_tenant)

    def is_set(self, kind: ReminderKind, game: str, tenant: str) -> bool:
        shard = shard_of(game)
        if shard is None:
            return False
        key = _names(kind, shard, tenant)[0]
        (due,) = self._calls.read_all("is_set", key, (b"ZSCORE", key, game.encode()))
        return due is not None

    def reminded(self, kind: ReminderKind, tenant: str) -> list[str]:
        names = [_names(kind, shard, tenant)[0] for shard in range(SHARDS)]
        calls: list[tuple[bytes, Command]] = [(key, (b"ZRANGE", key, 0, -1)) for key in names]
        answers = self._calls.run_each("reminded", calls, complete=True)
        return [game.decode() for games in answers for game in games]

    def server_time(self) -> int:
        return self.heartbeats.server_time()

    def read_clock(self, game: str) -> ClockReading:
        return self.heartbeats.read_clock(game)

    def allowance(self, game: str) -> OutageAllowance:
        return self.heartbeats.allowance(game)


def _names(kind: ReminderKind, shard: int, tenant: str) -> tuple[bytes, ...]:
    """Return the key of the set with a reminder, and for games the key of the set with its tenant."""
    sets = keys.reminder_sets(kind)
    return (sets[shard],) if kind in NOT_OF_GAMES else (keys.reminders(kind, shard, tenant), sets[shard])
