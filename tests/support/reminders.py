"""The reminders that are in Redis, read and changed behind the back of the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import redis

from service.games.reminders import NOT_OF_GAMES, ReminderKind
from service.redis import keys
from service.redis.connection import Command
from service.redis.topology import SingleNodeTopology, Topology

Servers = redis.Redis | Topology


def stored(servers: Servers, kind: ReminderKind) -> dict[str, float]:
    """All reminders of this kind by what they are about, with when that is due."""
    return {name.decode(): at for _, name, at in _members(servers, _sets(servers, kind))}


def end_leases(servers: Servers, kind: ReminderKind) -> None:
    """Make everything due, as if the time of all leases were over: those of the killed, and those of the living."""
    every = {*_sets(servers, kind), *keys.reminder_sets(kind)}
    _each(servers, [(key, (b"ZADD", key, b"XX", b"1", member)) for key, member, _ in _members(servers, every)])


def clear(servers: Servers, kind: ReminderKind) -> None:
    """Remove all reminders of this kind."""
    _each(servers, [(key, (b"DEL", key)) for key in (*_sets(servers, kind), *keys.reminder_sets(kind))])


def _sets(servers: Servers, kind: ReminderKind) -> list[bytes]:
    """The keys of the sets in which these reminders are."""
    names = keys.reminder_sets(kind)
    if kind in NOT_OF_GAMES:
        return list(names)
    return [keys.reminders(kind, names.index(key), tenant.decode()) for key, tenant, _ in _members(servers, names)]


def _members(servers: Servers, names: Any) -> Iterator[tuple[bytes, bytes, float]]:
    """The members of all these sets, with the key of the set and the score."""
    names = list(names)
    answers = _each(servers, [(key, (b"ZRANGE", key, 0, -1, b"WITHSCORES")) for key in names])
    for key, flat in zip(names, answers, strict=True):
        for member, score in zip(flat[::2], flat[1::2], strict=True):
            yield key, member, float(score)


def _each(servers: Servers, calls: list[tuple[bytes, Command]]) -> list[Any]:
    topology = SingleNodeTopology(servers) if isinstance(servers, redis.Redis) else servers
    answers = topology.call_each(calls)
    assert not any(isinstance(answer, Exception) for answer in answers), answers
    return answers
