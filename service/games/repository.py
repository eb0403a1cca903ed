"""Games through the store: read, opened, changed, told of; each change made once, however often it is sent.

Owns the way from a game to bytes and back, what is tried again and what is not, and what this process remembers of
games. What it remembers may be old, and is never believed: a change is tried on it, and the store alone decides.
Must not know what a change is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Final, NamedTuple

from service.engine.errors import Refusal
from service.games.codec import NewerFormat, decode_event, decode_game, encode_event, encode_game, state_prefix
from service.games.errors import MoveRefused, NotFound
from service.games.game import EventEnvelope, Game, GameEvent
from service.games.history import rebuild_game
from service.games.ports import (
    EventRange,
    GameExists,
    IdempotencyRecord,
    OutcomeUnknown,
    PriorWrite,
    RandomBytes,
    RunLater,
    StorageUnavailable,
    Store,
    StoredGame,
    WriteRequest,
    run_inline,
)
from service.games.tokens import new_write_id

CACHE_SIZE: Final = 1000
"""Games whose last known state a process keeps at hand."""

_log = logging.getLogger(__name__)

_UPGRADE_SECONDS: Final = 30
MAX_ATTEMPTS: Final = 16
"""How often a change is tried again because somebody else was first."""
RETRY_BUDGET_MS: Final = 1500
"""Milliseconds after which nothing is tried again, so that an answer comes within three seconds."""
SLOW_MS: Final = 300
"""Milliseconds after which a change that has been made is answered at once: the store is not at its best."""
_PAGE: Final = 1000
"""Events read at a time."""

Decide = Callable[[Game], tuple[Game, list[GameEvent]]]
"""What a game becomes, and what happens on the way; version and times are the ledger's. Raises a refusal."""


class Committed(NamedTuple):
    """A change that was made: the game before and after it, and what has happened."""

    before: Game
    after: Game
    events: Sequence[GameEvent]


class GameRepository:
    """The games of a store. ``now`` is in milliseconds since 1970. Finished games are compacted ``later``."""

    def __init__(
        self, store: Store, now: Callable[[], int], secrets: RandomBytes, later: RunLater = run_inline
    ) -> None:
        self._store = store
        self._now = now
        self._secrets = secrets
        self._run_later = later
        self._cached_games: dict[str, tuple[Game, bytes]] = {}
        self._lock = Lock()

    def load(self, game_id: str) -> Game | None:
        """The game as it is now, ``None`` if there is none."""
        stored = self._store.read(game_id)
        return None if stored is None else self._decode(game_id, stored)

    def reload(self, game_id: str) -> Game:
        """The same for a game that was there a moment ago. Raises ``NotFound``."""
        game = self.load(game_id)
        if game is None:
            raise _gone()
        return game

    def cached(self, game_id: str) -> Game | None:
        """The game as this process saw it last; it may be another by now, or gone."""
        known = self._cached_games.get(game_id)
        return None if known is None else known[0]

    def create(
        self, game: Game, events: Sequence[GameEvent], idempotency: IdempotencyRecord | None
    ) -> Game | PriorWrite:
        """Keep a new game, at the version its first events lead to, or give what was made for the same wish before."""
        write = WriteRequest(new_write_id(self._secrets), idempotency)
        game = game.with_events(events, game.created_at, write.id.decode())
        state = encode_game(game)
        data = [encode_event(event, 0) for event in events]
        try:
            kept = self._store.create(game.id, state, data, write)
        except OutcomeUnknown as unknown:
            if self._now() - game.created_at > RETRY_BUDGET_MS:
                raise
            try:
                kept = self._store.create(game.id, state, data, write)
            except (StorageUnavailable, GameExists):
                raise unknown from None
        if kept is not None:
            return kept
        self._cache(game, state)
        return game

    def transact(
        self, game: Game, decide: Decide, idempotency: IdempotencyRecord | None = None, *, fresh: bool = True
    ) -> Committed | PriorWrite:
        """Make a change, again on the true state whenever somebody else was first.

        A write whose answer is lost is sent once more. Gives what was made for the same wish before, if anything
        was. Raises what ``change`` raises on the true state, ``NotFound`` when the game is gone. ``fresh`` says that
        the game has just been read.
        """
        write = WriteRequest(new_write_id(self._secrets), idempotency)
        began = self._now()
        for _ in range(MAX_ATTEMPTS):
            try:
                changed, events = decide(game)
            except (Refusal, MoveRefused):
                if not fresh:
                    game, fresh = self.reload(game.id), True
                    continue
                kept = None if idempotency is None else self._store.find_write(game.id, idempotency.name)
                if kept is None:
                    raise
                return kept
            now = max(self._now(), game.updated_at)
            changed = changed.with_events(events, now, write.id.decode())
            state = encode_game(changed)
            data = [encode_event(event, now - game.created_at) for event in events]
            true = self._commit(game, state, data, write, began)
            if true is None:
                self._cache(changed, state)
                if changed.status == "finished" and self._now() - began <= SLOW_MS:
                    self._run_later(partial(self._compact, changed.id))
                return Committed(game, changed, events)
            if isinstance(true, PriorWrite):
                return true
            # Somebody else was first. An earlier sending that still waits somewhere will find the same, and do nothing.
            if self._now() - began > RETRY_BUDGET_MS:
                break
            game, fresh = self._decode(game.id, true), True
        raise StorageUnavailable("contention")

    def find_write(self, game_id: str, name: str) -> PriorWrite | None:
        """What was made for the wish of that name in the last 24 hours."""
        return self._store.find_write(game_id, name)

    def reserve(self, name: str, game_id: str) -> str:
        """The id for the game under that name: this one, or the one that it got when it was asked for first."""
        try:
            return self._store.reserve(name, game_id)
        except OutcomeUnknown as error:
            # An id may be reserved or not: no game is made.
            raise StorageUnavailable(error.reason, error.retry_after) from error

    def as_of(self, game_id: str, prior: PriorWrite) -> tuple[Game, Sequence[GameEvent]]:
        """The game just after what was made for a wish, and all that had happened by then.

        It is made, whatever fails now: so a store that is away makes it ``OutcomeUnknown``.
        """
        try:
            game = self.reload(game_id)
            happened = self.history(game)
        except StorageUnavailable as error:
            raise OutcomeUnknown(error.reason, error.retry_after) from error
        return rebuild_game(game, happened, prior.version), [each.event for each in happened[: prior.version]]

    def events(self, game: Game, versions: Sequence[int]) -> list[GameEvent]:
        """The events of these versions. Raises ``NotFound`` if one is not kept."""
        if not versions:
            return []
        kept = self._store.events(game.id, versions)
        if len(kept) != len(versions):
            raise _gone()
        return [decode(version, game.created_at, data).event for version, data in zip(versions, kept, strict=True)]

    def event_range(self, game_id: str, after: int, limit: int) -> EventRange:
        """At most ``limit`` events after a version, still as bytes. Raises ``NotFound``."""
        passage = self._store.event_range(game_id, after, limit)
        if passage is None:
            raise _gone()
        return passage

    def history(self, game: Game) -> list[EventEnvelope]:
        """All that has happened in the game up to its version, and perhaps what has happened since."""
        happened: list[EventEnvelope] = []
        while len(happened) < game.version:
            passage = self.event_range(game.id, len(happened), _PAGE)
            if passage.first != len(happened) + 1 or not passage.events:
                raise StorageUnavailable("events are missing")
            happened += [
                decode(version, game.created_at, data) for version, data in enumerate(passage.events, passage.first)
            ]
        return happened

    def ping(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._store.check()

    def _commit(
        self, game: Game, state: bytes, data: Sequence[bytes], write: WriteRequest, began: int
    ) -> StoredGame | PriorWrite | None:
        unknown: OutcomeUnknown | None = None
        while True:
            try:
                return self._store.commit(
                    game.id, game.version, state, data, write, after=state_prefix(game), again=unknown is not None
                )
            except KeyError:
                raise _gone() from None
            except OutcomeUnknown as fault:
                if unknown is not None or self._now() - began > RETRY_BUDGET_MS:
                    raise
                unknown = fault
            except StorageUnavailable:
                if unknown is not None:
                    raise unknown from None
                raise

    def _compact(self, game_id: str) -> None:
        """Compress the events of a finished game. The change is made, so a failure is only logged, if at all."""
        try:
            self._store.compact(game_id)
        except (StorageUnavailable, OutcomeUnknown):
            pass
        except Exception:
            _log.exception("a finished game could not be compacted")

    def _decode(self, game_id: str, stored: StoredGame) -> Game:
        known = self._cached_games.get(game_id)
        if known is not None and known[0].version == stored.version and known[1] == stored.state:
            return known[0]
        try:
            game = decode_game(game_id, stored.version, stored.state)
        except NewerFormat:
            raise _newer() from None
        self._cache(game, stored.state)
        return game

    def _cache(self, game: Game, state: bytes) -> None:
        """Keep a game at hand, the one that was changed longest ago making room for it."""
        with self._lock:
            self._cached_games.pop(game.id, None)
            self._cached_games[game.id] = (game, state)
            if len(self._cached_games) > CACHE_SIZE:
                del self._cached_games[next(iter(self._cached_games))]


def decode(version: int, created_at: int, data: bytes) -> EventEnvelope:
    """An event of the store. Raises ``StorageUnavailable`` for one of a newer service."""
    try:
        return decode_event(version, created_at, data)
    except NewerFormat:
        raise _newer() from None


def _gone() -> NotFound:
    return NotFound("There is no such game any more.")


def _newer() -> StorageUnavailable:
    # Another machine runs a newer service already; soon this one will, too.
    return StorageUnavailable("newer format", retry_after=_UPGRADE_SECONDS)
