"""The reminder queue in Redis or Valkey: a script on each server looks for due reminders in all of its shards.

Owns how reminders are leased and rescheduled, and the turns of tenants. The writes of games write reminders, too
(``service.games.store.redis_store``). Does not depend on the work that is due, nor on the postponement of deadlines
(``service.games.store.heartbeats``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
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
from service.redis.errors import StorageUnavailable
from service.redis.shards import SHARDS, shard_of
from service.redis.topology import Topology

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
        self.heartbeats = RedisHeartbeats(topology, observe=observe)
        """The source of clock readings and outage allowances."""

    def take(
        self, kind: ReminderKind, limit: int, lease: int, limit_of: TenantLimit | None = None
    ) -> list[LeasedReminder]:
        """Lease all due reminders of each server in one round trip, if they are few and there is no ``limit_of``.

        If they are more, read first how many reminders of each tenant are due, then lease the share of each tenant.
        """
        due, reminders = self._look(kind, lease, 0 if limit_of else limit)
        if due:
            shares = self._turns[kind].share(due, limit - len(reminders), limit_of)
            try:
                reminders += self._lease(kind, shares, lease)
            except StorageUnavailable:
                if not reminders:
                    raise
        return sorted(reminders, key=attrgetter("due"))

    def _lease(self, kind: ReminderKind, shares: Mapping[tuple[int, str], int], lease: int) -> list[LeasedReminder]:
        """Lease so many due reminders of each pair of shard and tenant (script ``take``)."""
        batches: dict[int, list[tuple[int, str]]] = {}
        for shard, tenant in shares:
            batches.setdefault(0 if self._is_one else shard, []).append((shard, tenant))
        calls = []
        for batch, places in batches.items():
            names = [keys.HEARTBEATS[batch], *[keys.reminder_sets(kind)[shard] for shard, _ in places]]
            counts = [part for place in places for part in (place[1].encode(), shares[place])]
            calls.append((names[0], evalsha("take", names, lease, int(kind not in NOT_OF_GAMES), *counts)))
        answers = self._calls.run_each("take", calls)
        return [reminder for answer in answers if answer is not None for reminder in _reminders(kind, answer)]

    def _look(self, kind: ReminderKind, lease: int, limit: int) -> tuple[list[Due], list[LeasedReminder]]:
        """Lease the due reminders of each server that has few, ``limit`` in all at most; count those of the others.

        One script on each server reads all of its sets: most looks find nothing, and a command for each shard takes ten
        times as long. A set whose server is unknown, or is just changing, is read by itself. Raises
        ``StorageUnavailable`` if no server answers; if some do not, their sets are left out.
        """
        sets = keys.reminder_sets(kind)
        groups = [sets] if self._is_one else self._calls.by_primary(sets)
        due, reminders, unread = self._look_at(kind, groups, lease, limit // max(len(groups), 1))
        if sum(map(len, groups)) < len(sets):  # some have no known primary
            unread += set(sets).difference(*groups)
        if unread:
            with suppress(StorageUnavailable):
                due += self._look_at(kind, [(name,) for name in unread], lease, 0)[0]
        return due, reminders

    def _look_at(
        self, kind: ReminderKind, groups: Sequence[Sequence[bytes]], lease: int, limit: int
    ) -> tuple[list[Due], list[LeasedReminder], list[bytes]]:
        """Run the script ``due`` for each group of sets, with ``limit`` games for each.

        Returns what is due, what was leased instead, and the sets that could not be read.
        """
        max_tenants = 0 if kind in NOT_OF_GAMES else MAX_TENANTS_OF_A_SHARD
        shards = _shards(kind)
        all_due, reminders, all_unread = list[Due](), list[LeasedReminder](), list[bytes]()
        calls = []
        for group in groups:
            names = (keys.HEARTBEATS[0 if self._is_one else shards[group[0]]],)
            calls.append((names[0], evalsha("due", names, lease, max_tenants, limit, int(self._is_one), *group)))
        for group, answer in zip(groups, self._calls.run_each("due", calls), strict=True):
            if answer is not None:
                unread, due, leased = answer
                all_unread += [group[number] for number in unread]
                for number, tenant, count, since in zip(*[iter(due)] * 4, strict=True):  # rows of four
                    all_due.append(Due(shards[group[number]], tenant.decode(), count, float(since)))
                reminders += _reminders(kind, leased)
        return all_due, reminders, all_unread

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


def _reminders(kind: ReminderKind, rows: Sequence[Any]) -> list[LeasedReminder]:
    """Return what was leased, as the scripts ``due`` and ``take`` return it."""
    return [
        LeasedReminder(game.decode(), int(float(due)), float(score), reading, tenant.decode())
        for tenant, score, now, heartbeat, games in zip(*[iter(rows)] * 5, strict=True)  # rows of five
        for reading in [reading_of(now, heartbeat) if kind == "clock" else ClockReading(now)]
        for game, due in zip(games[::2], games[1::2], strict=True)
    ]


@cache
def _shards(kind: ReminderKind) -> dict[bytes, int]:
    """Return the shard of each set of reminders of this kind."""
    return {name: shard for shard, name in enumerate(keys.reminder_sets(kind))}
