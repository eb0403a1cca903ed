"""The queue of reminders in Redis or Valkey: one script for all shards, or one for each where servers share the games.

Owns how reminders are taken and put back; they are written with the game (``service.storage.games``). Does not
depend on what is done about a game that is due, nor on what postpones a deadline (``service.storage.heartbeats``).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from time import monotonic
from typing import Any, Final, cast

from service.games.model.shards import SHARDS, shard_of
from service.games.ports import StorageUnavailable
from service.games.reminders import JudgedTime, OutageAllowance, ReminderKind, ReminderQueue, TakenReminder
from service.storage import keys
from service.storage.heartbeats import RedisHeartbeats
from service.storage.redis.calls import FailureObserver, Observer, call_scripts, evalsha
from service.storage.redis.connection import Command, MaybeSent, NotSent
from service.storage.redis.errors import as_unavailable, unanswered
from service.storage.redis.topology import Topology

_FIRST_KEY: Final = 3
"""The place of the first key in a command that runs a script."""


class RedisReminders(ReminderQueue):
    """The reminders of the games that a ``RedisStore`` keeps on the same servers.

    No replica has to confirm a lease: one that a failover loses is given again.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        observe: Observer,
        observe_failure: FailureObserver,
    ) -> None:
        self._topology = topology
        self._observe = observe
        self._observe_failure = observe_failure
        self._start = 0
        self.heartbeats = RedisHeartbeats(topology, observe=observe)
        """What judges deadlines, and is kept by those who serve requests."""

    def take(self, kind: ReminderKind, limit: int, lease: int) -> list[TakenReminder]:
        """Games that are due; every call goes on behind the last shard that was served, so that each has its turn."""
        start = self._start
        taken = self._take_from(start, kind, limit, lease)
        last = shard_of(taken[-1].game) if taken and len(taken) == limit else None
        self._start = ((start if last is None else last) + 1) % SHARDS
        return sorted(taken, key=attrgetter("due"))

    def _take_from(self, start: int, kind: ReminderKind, limit: int, lease: int) -> list[TakenReminder]:
        """Games that are due, by shard, beginning with this one."""
        sets = keys.REMINDERS[kind][start:] + keys.REMINDERS[kind][:start]
        if self._topology.scripts_span_slots:
            return _taken(self._run("take", [_take(sets, limit, lease)]))
        looks = [_take((key,), b"", lease) for key in sets]
        commands = []
        for key, due in zip(sets, self._run("take", looks), strict=True):
            if due and limit:
                share = min(due, limit)
                limit -= share
                commands.append(_take((key,), share, lease))
        return _taken(self._run("take", commands)) if commands else []

    def reschedule(self, kind: ReminderKind, game: str, leased: float, at: int | None) -> bool:
        """Change or remove a leased reminder."""
        shard = shard_of(game)
        if shard is None:
            return False
        key = keys.REMINDERS[kind][shard]
        due = b"" if at is None else b"%d" % at
        command = evalsha("reschedule", (key,), game.encode(), repr(leased).encode(), due)
        return self._run("reschedule", [command]) == [1]

    def restore(self, kind: ReminderKind, game: str, at: int) -> None:
        """Add a reminder where there is none."""
        shard = shard_of(game)
        if shard is not None:
            key = keys.REMINDERS[kind][shard]
            self._call("restore", key, (b"ZADD", key, b"NX", at, game.encode()))

    def is_set(self, kind: ReminderKind, game: str) -> bool:
        """Whether the game has a reminder."""
        shard = shard_of(game)
        if shard is None:
            return False
        key = keys.REMINDERS[kind][shard]
        return self._call("is_set", key, (b"ZSCORE", key, game.encode())) != [None]

    def reminded(self, kind: ReminderKind) -> list[str]:
        """All games with a reminder, shard by shard."""
        calls: list[tuple[bytes, Command]] = [(key, (b"ZRANGE", key, 0, -1)) for key in keys.REMINDERS[kind]]
        began = monotonic()
        try:
            answers = self._topology.call_each(calls)
        finally:
            self._observe("reminded", monotonic() - began)
        games = []
        for answer in answers:
            if isinstance(answer, NotSent | MaybeSent):
                raise unanswered(answer)
            if isinstance(answer, Exception):
                raise as_unavailable(answer) or answer from None
            games += [game.decode() for game in answer]
        return games

    def server_time(self) -> int:
        """The time of the server that owns the first shard."""
        return self.heartbeats.server_time()

    def judged(self, game: str) -> JudgedTime:
        """The time of the server of this game, and the outage allowance of its deadlines."""
        return self.heartbeats.judged(game)

    def allowance(self, game: str) -> OutageAllowance:
        """The allowance of the deadlines of this game as this process last learned it."""
        return self.heartbeats.allowance(game)

    def _call(self, operation: str, key: bytes, *commands: Command) -> list[Any]:
        """The answers of the owner of the key to these commands. Raises ``StorageUnavailable``."""
        began = monotonic()
        try:
            answers = self._topology.call(key, *commands)
        except (NotSent, MaybeSent) as error:
            raise unanswered(error) from error
        finally:
            self._observe(operation, monotonic() - began)
        for answer in answers:
            if isinstance(answer, Exception):
                raise as_unavailable(answer) or answer from None
        return answers

    def _run(self, script: str, commands: Sequence[Command]) -> list[Any]:
        """The answers to commands that run this script, each on the owner of its first key.

        ``None`` stands for one that failed. Raises ``StorageUnavailable`` if all of them did, and errors of the program
        as they are.
        """
        began = monotonic()
        try:
            calls = [(cast("bytes", command[_FIRST_KEY]), command) for command in commands]
            answers = call_scripts(self._topology, script, calls)
        finally:
            self._observe(script, monotonic() - began)
        failures = [answer for answer in answers if isinstance(answer, StorageUnavailable)]
        if failures:
            self._observe_failure(failures[0].reason)
            if len(failures) == len(answers):
                raise failures[0]
        return [None if isinstance(answer, StorageUnavailable) else answer for answer in answers]


def _take(sets: Sequence[bytes], limit: int | bytes, lease: int) -> Command:
    """The command that takes games of these sets; an empty limit counts them."""
    return evalsha("take", sets, len(sets), limit, lease)


def _taken(answers: Sequence[Any]) -> list[TakenReminder]:
    """The games in the answers to ``take``, in the same order."""
    taken = []
    for answer in answers:
        if answer is not None:
            leased, *games = answer
            pairs = zip(games[::2], games[1::2], strict=True)
            taken += [TakenReminder(game.decode(), int(float(due)), float(leased)) for game, due in pairs]
    return taken
