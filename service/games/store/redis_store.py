"""The store of games in Redis or Valkey: one script for each kind of write, one command to read a game.

Owns the commands and the parsing of answers, also for recent deletions and the games of computer players alone. Does
not depend on what a state or an event means, nor on where the servers are (``service.redis.topology``).

A caller that repeats a write sends the same id, so that the script recognises it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, get_args
from zlib import crc32

from service.games.ports import (
    DELETIONS_KEPT_MS,
    IDEMPOTENCY_TTL,
    NO_CODES,
    Codes,
    Commit,
    Deletions,
    EventNotification,
    EventRange,
    GameExists,
    GamesOfBots,
    GameWithEvents,
    IdempotencyRecord,
    JoinCodeTaken,
    PriorWrite,
    RecentDeletions,
    Store,
    StoredGame,
    WriteRequest,
)
from service.games.reminders import NO_REMINDERS, NOT_OF_GAMES, ReminderKind, Reminders
from service.games.store.checksums import SUM_CHARS, WITH_SUM, with_sum, without_sum
from service.games.store.compression import compress, decompress
from service.games.store.open_tables import RedisOpenTables
from service.limits.memory import MemoryReserve
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.shards import shard_of

# The events of a game: as entries of its list in Redis, and as published.


_COMPACTED: Final = b"*"
"""The first byte of an entry that is a block of compressed events."""


def frame(write: bytes, events: Sequence[bytes]) -> list[bytes]:
    """Return the entries of a write: the id of the write before the first event, nothing before the others."""
    entries = [b" " + event for event in events]
    entries[0] = write + entries[0]
    return [WITH_SUM % (entry, crc32(entry)) for entry in entries]


def events_of(entries: Sequence[bytes]) -> list[bytes]:
    """Return the events of consecutive entries, including those of a block. Raises ``Damaged``."""
    contents = [without_sum(entry) for entry in entries]
    block = contents.pop(0) if contents and contents[0].startswith(_COMPACTED) else b""
    events = [content.partition(b" ")[2] for content in contents]
    return [*decompress(block.removeprefix(_COMPACTED)), *events] if block else events


def last_write(entries: Sequence[bytes]) -> int:
    """Return the index of the first entry of the last write; 0 if no entry after the first has the id of a write."""
    return next((index for index in range(len(entries) - 1, 0, -1) if not entries[index].startswith(b" ")), 0)


def block_of(entries: Sequence[bytes]) -> bytes | None:
    """Return one entry with the events of these entries; ``None`` for fewer than two, or if compression fails."""
    block = compress(events_of(entries)) if len(entries) > 1 else None
    return None if block is None else with_sum(_COMPACTED + block)


def parse_notification(message: bytes) -> EventNotification:
    """Return the notification of a message.

    The script ``commit`` publishes ``<version before> `` and the entries, one per line; ``delete`` only a version.
    """
    after, _, entries = message.partition(b" ")
    if not entries:
        return EventNotification(int(after), ())
    write, _, _ = entries.partition(b" ")
    events = [entry[:-SUM_CHARS].partition(b" ")[2] for entry in entries.split(b"\n")]
    return EventNotification(int(after), tuple(events), write)


CHECK_TTL: Final = 1000
"""Milliseconds that a key written by ``check`` lives."""

_FENCE: Final = b"fence---"
"""Replaces the id of a write in an idempotency record that prevents a write."""
_IDEMPOTENCY_TTL: Final = b"%d" % IDEMPOTENCY_TTL


_CODE_TAKEN: Final = -1
"""The result of a script if another game has the join code."""
_REMOVED_KINDS: Final = [kind for kind in get_args(ReminderKind) if kind not in NOT_OF_GAMES and kind != "outbox"]
"""The kinds of reminders that a deletion removes. It leaves ``outbox``, which publishes the deletion."""


class RedisStore(Store):
    """Stores games in Redis or Valkey (7.0 or newer).

    ``ttl_seconds``: the lifetime of a game after a write, unless the write has a shorter one.
    ``calls``: if they are ``replicated``, a write that too few replicas confirm has an unknown outcome.
    ``memory_reserve``: new games are refused while their server has only this reserve left.
    """

    def __init__(self, calls: RedisCalls, ttl_seconds: int, memory_reserve: MemoryReserve) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for at least one second")
        self._calls = calls
        self._ttl = ttl_seconds
        self._memory_reserve = memory_reserve
        self.tables = RedisOpenTables(self._calls)

    def create(
        self,
        game: str,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        reminders: Reminders = NO_REMINDERS,
        tenant: str = "",
        code: bytes | None = None,
    ) -> PriorWrite | None:
        version, shard = len(events), shard_of(game)
        index: tuple[bytes, ...] = ()
        index_entry = (b"", b"")
        if shard is not None:
            index, index_entry = (keys.STORED[shard],), (game.encode(), tenant.encode())
        names, identity, tail = _write_args(
            game, version, events, write, tenant=tenant, reminders=reminders, codes=(None, code), index=index
        )
        head = (b"%d %b" % (version, state), min(write.ttl or self._ttl, self._ttl))
        self._memory_reserve.require_space(names[0])
        answer = self._calls.write("create", names, *head, *identity, *index_entry, *tail)
        if answer == 0:
            raise GameExists(game)
        if answer == _CODE_TAKEN:
            raise JoinCodeTaken(game)
        return None if answer == 1 else _parse_prior(answer[0])

    def read(self, game: str) -> StoredGame | None:
        key = keys.of_game(game)[0]
        (value,) = self._calls.read_all("read", key, (b"GET", key))
        return None if value is None else parse_stored(value)

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        expected, state, events, write, prefix, reminders, tenant, codes = commit
        version = expected + len(events)
        names, identity, tail = _write_args(
            game, version, events, write, tenant=tenant, reminders=reminders, codes=codes
        )
        values = (b"%d %b" % (expected, prefix), b"%d %b" % (version, state), min(write.ttl or self._ttl, self._ttl))
        answer = self._calls.write("commit", names, *values, *identity, b"%d" % again, *tail)
        if answer == 1:
            return None
        if answer == 0:
            raise OutcomeUnknown("compacted")
        if answer == _CODE_TAKEN:
            raise JoinCodeTaken(game)
        if answer is None:
            raise KeyError(game)
        return _parse_prior(answer[0]) if isinstance(answer, list) else parse_stored(answer)

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        names = keys.all_of_game(game)
        shard = shard_of(game)
        if shard is not None:
            others = [keys.reminders(kind, shard, tenant) for kind in _REMOVED_KINDS]
            names += (keys.DELETED[shard], keys.STORED[shard], keys.reminder_sets("outbox")[shard], *others)
        values = (tombstone, game.encode("utf-8", "surrogatepass"), due, DELETIONS_KEPT_MS, tenant.encode())
        answer = self._calls.write("delete", names, *values)
        return None if answer is None else int(answer[0])

    def register(self, game: str, tenant: str) -> None:
        shard = shard_of(game)
        if shard is not None:
            self._calls.write("note", (keys.STORED[shard],), game.encode(), tenant.encode(), command=b"HSET")

    def fence(self, game: str, record: IdempotencyRecord) -> PriorWrite:
        value = with_sum(b"%b 0 %b" % (_FENCE, record.fingerprint))
        names = (keys.idempotency(game, record.name),)
        return _parse_prior(self._calls.write("reserve", names, value, _IDEMPOTENCY_TTL)[0])

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        answer = self._calls.write("find_write", (*keys.of_game(game), keys.idempotency(game, name)))
        return None if answer is None else _parse_prior(answer[0])

    def find_code(self, shard: int, code: bytes) -> str | None:
        key = keys.join_code(shard, code)
        (game,) = self._calls.read_all("find_code", key, (b"GET", key))
        return None if game is None else bytes(game).decode()

    def reserve(self, name: str, value: str) -> str:
        key = keys.reservation(name)
        self._memory_reserve.require_space(key)
        (first,) = self._calls.write("reserve", (key,), value.encode(), IDEMPOTENCY_TTL)
        return bytes(first).decode()

    def reserved(self, name: str) -> str | None:
        key = keys.reservation(name)
        (value,) = self._calls.read_all("reserved", key, (b"GET", key))
        return None if value is None else bytes(value).decode()

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        if not versions:
            return []
        answer = self._calls.read("events", keys.of_game(game), *versions)
        if not answer or not isinstance(answer[0], int):  # the entries of these versions
            return events_of([entry for entry in answer if entry is not None])
        newest, *entries = answer  # all stored entries, because some of these versions may be in a block
        by_version = dict(zip(range(newest, 0, -1), reversed(events_of(entries)), strict=False))
        return [by_version[version] for version in versions if version in by_version]

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        answer = self._calls.read("event_range", keys.of_game(game), after, limit)
        return None if answer is None else _parse_range(answer, after, limit)

    def read_with_events(self, game: str, after: int, limit: int) -> GameWithEvents | None:
        names = keys.all_of_game(game)
        commands = (b"GET", names[0]), evalsha("event_range", names[:2], after, limit), evalsha("game_size", names)
        value, events, size = self._calls.read_all("read_with_events", names[0], *commands)
        if value is None or events is None:
            return None
        return GameWithEvents(parse_stored(value), _parse_range(events, after, limit), int(size))

    def size(self, game: str) -> int:
        return int(self._calls.read("game_size", keys.all_of_game(game)))

    def compact(self, game: str) -> None:
        key = keys.part(b"events", game)
        (entries,) = self._calls.read_all("compact", key, (b"LRANGE", key, 0, -1))
        last = last_write(entries)
        block = block_of(entries[:last])
        if block is not None:
            self._calls.write("compact", (key,), len(entries), len(entries) - last, entries[last], block)

    def check(self) -> None:
        """Write a key that soon expires to every primary. Raises ``StorageUnavailable`` if all of them fail."""
        checks = self._calls.one_for_each_primary(keys.CHECKS)
        with ThreadPoolExecutor(len(checks)) as threads:  # so that the timeouts of unavailable servers overlap
            errors = list(threads.map(self._write_check, checks))
        failed = [error for error in errors if error is not None]
        if len(failed) == len(errors):
            raise failed[0]

    def _write_check(self, key: bytes) -> StorageUnavailable | None:
        """Write one key for ``check``; return the error if it fails."""
        try:
            self._calls.write("check", (key,), 1, b"PX", CHECK_TTL, command=b"SET")
        except StorageUnavailable as error:
            return error
        except OutcomeUnknown as error:
            return StorageUnavailable(error.reason, error.retry_after)
        return None


def parse_stored(value: bytes) -> StoredGame:
    """Return the game of a value in the store: its version and its state."""
    version, _, state = value.partition(b" ")
    return StoredGame(int(version), state)


def _parse_range(answer: list[Any], after: int, limit: int) -> EventRange:
    """Parse the answer of the script ``event_range``."""
    version, first, *entries = answer
    events = events_of(entries)
    if first is None:  # the list begins with a block, so that the script returned all stored events
        oldest = version - len(events) + 1
        first = max(after + 1, oldest)
        events = events[first - oldest :]
    return EventRange(first, tuple(events[:limit]), version)


def _write_args(
    game: str,
    version: int,
    events: Sequence[bytes],
    write: WriteRequest,
    *,
    tenant: str,
    reminders: Reminders,
    codes: Codes,
    index: tuple[bytes, ...] = (),
) -> tuple[tuple[bytes, ...], tuple[bytes, ...], tuple[bytes | int, ...]]:
    """Return the common arguments of the scripts that write a game, in three parts.

    * the keys: the game, the idempotency record, the join codes, the ``index`` of games, the sets of its reminders;
    * the id of the write as it precedes the first event, the value of the record, and its lifetime;
    * the number of sets, the change of the codes (``_code_args``), the events, the tenant, the game, and when each
      reminder is due.
    """
    names, record = keys.of_game(game), (b"", b"")
    if write.idempotency is not None:
        names += (keys.idempotency(game, write.idempotency.name),)
        prior = b"%b %d %b" % (write.id, version, write.idempotency.fingerprint)
        record = (WITH_SUM % (prior, crc32(prior)), _IDEMPOTENCY_TTL)
    sets: tuple[bytes, ...] = ()
    due: tuple[bytes, ...] = ()
    shard = shard_of(game) if reminders else None
    if shard is not None:
        sets = tuple([keys.reminder_sets(kind)[shard] for kind in reminders])
        due = (tenant.encode(), game.encode(), *[b"" if at is None else b"%d" % at for at in reminders.values()])
    code_keys, change = ((), 0) if codes == NO_CODES else _code_args(game, codes)
    names += (*code_keys, *index, *sets)
    return names, (write.id + b" ", *record), (len(sets), change, *frame(write.id, events), *due)


def _code_args(game: str, codes: Codes) -> tuple[tuple[bytes, ...], int]:
    """Return the keys of the join codes that a write sets or removes, and the number of the change.

    1: set the only code. -1: remove it. 2: replace the first by the second. 0: no change.
    """
    shard = shard_of(game)
    if shard is None:
        return (), 0
    names = tuple([keys.join_code(shard, code) for code in dict.fromkeys(codes) if code is not None])
    return names, -1 if codes[1] is None else len(names)


def _parse_prior(value: bytes) -> PriorWrite:
    """Return the write of an idempotency record. Raises ``Damaged``."""
    write_id, version, fingerprint = without_sum(value).split(b" ", 2)
    return PriorWrite(int(version), fingerprint, write_id)


# Recently deleted games: one script for all shards, or with several servers one for each shard.


_ERASED: Final = " erased"
"""Follows the id of a game from which a player was erased."""


class RedisDeletions(Deletions):
    """The recent deletions of the games in the ``RedisStore`` on the same servers."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def deleted(self, within: int) -> RecentDeletions:
        shards = [keys.DELETED] if self._calls.topology.scripts_span_slots else [(key,) for key in keys.DELETED]
        calls = [(shard[0], evalsha("deleted", shard, within)) for shard in shards]
        answers = self._calls.run_each("deleted", calls)
        noted = [entry.decode() for answer in answers for entry in answer or ()]
        games = tuple([entry for entry in noted if not entry.endswith(_ERASED)])
        erased = tuple([entry.removesuffix(_ERASED) for entry in noted if entry.endswith(_ERASED)])
        return RecentDeletions(games, erased, None not in answers)

    def record_erasure(self, game: str) -> None:
        shard = shard_of(game)
        if shard is not None:
            self._calls.write("note_erasure", (keys.DELETED[shard],), (game + _ERASED).encode(), DELETIONS_KEPT_MS)


# The games that can go on with computer players alone: a sorted set for each tenant.


class RedisGamesOfBots(GamesOfBots):
    """Lists of these games, by tenant. A list expires ``ttl_seconds`` after the last game was added."""

    def __init__(self, calls: RedisCalls, ttl_seconds: int) -> None:
        self._calls = calls
        self._ttl = ttl_seconds

    def add(self, tenant: str, game: str, at: int) -> bool:
        key = keys.part(b"alone", tenant)
        added = self._calls.write("games_of_bots", (key,), b"NX", at, game.encode(), command=b"ZADD")
        self._calls.write("games_of_bots", (key,), self._ttl, command=b"EXPIRE")
        return bool(added)

    def all(self, tenant: str) -> dict[str, int]:
        key = keys.part(b"alone", tenant)
        (flat,) = self._calls.read_all("games_of_bots", key, (b"ZRANGE", key, 0, -1, b"WITHSCORES"))
        return {game.decode(): int(at) for game, at in zip(flat[::2], flat[1::2], strict=True)}

    def remove(self, tenant: str, games: list[str]) -> None:
        key = keys.part(b"alone", tenant)
        self._calls.write("games_of_bots", (key,), *[game.encode() for game in games], command=b"ZREM")
