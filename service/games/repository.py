"""The repository: games loaded from the store, cached, and changed by transactions.

Owns the way from a game to bytes and back, what is tried again and what is not, and the games that this process
remembers. A remembered game may be old, and is never trusted: a decision is tried on it, and the store alone accepts
it. Does not depend on what is decided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial, reduce
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from service.engine.errors import Refusal
from service.engine.replay import replay
from service.engine.state import FINISHED
from service.games.codec import NewerFormat, decode_event, decode_game, encode_event, encode_game, state_prefix
from service.games.errors import MoveRefused, NotFound
from service.games.game import (
    OPEN_SEAT,
    Created,
    EventEnvelope,
    Game,
    GameEvent,
    GameStatus,
    Joined,
    Seat,
    TokenChanged,
    commitments_after,
)
from service.games.idempotency import check_same_request
from service.games.ports import (
    Clock,
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
)
from service.games.tokens import new_write_id

CACHE_SIZE: Final = 1000
"""Games that a process remembers."""

_log = logging.getLogger(__name__)

_UPGRADE_SECONDS: Final = 30
MAX_ATTEMPTS: Final = 16
"""How often a decision is made again because another write came first."""
RETRY_BUDGET_MS: Final = 1500
"""Milliseconds after which nothing is tried again, so that an answer comes within three seconds."""
SLOW_MS: Final = 300
"""Milliseconds from which a write counts as slow: a slow store is not asked to compact a game as well."""
_PAGE: Final = 1000
"""Events read at a time."""

T = TypeVar("T")

Decision = tuple[Game, Sequence[GameEvent]]
"""What a game becomes, and the events on the way; version and times are set by the repository."""
Decide = Callable[[Game], Decision]
"""Decides on a game, perhaps several times. Raises a refusal."""


class Committed(NamedTuple):
    """A write that was committed: the game just after it, and its events.

    ``status_before`` is ``None`` for a new game. If ``replayed``, it was committed for an earlier request under the
    same idempotency key, and the events are all up to that write.
    """

    after: Game
    events: Sequence[GameEvent]
    status_before: GameStatus | None = None
    replayed: bool = False


class GameRepository:
    """The games of a store. Finished games are compacted by ``run_later``; ``observe`` is called with every write."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        random_bytes: RandomBytes,
        run_later: RunLater,
        observe: Callable[[Committed], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._random_bytes = random_bytes
        self._run_later = run_later
        self._observe = observe
        self._remembered: dict[str, tuple[Game, bytes]] = {}
        self._lock = Lock()

    def load(self, game_id: str) -> Game | None:
        """The stored game, ``None`` if there is none."""
        stored = self._store.read(game_id)
        return None if stored is None else self._decode(game_id, stored)

    def reload(self, game_id: str) -> Game:
        """The same for a game that existed a moment ago. Raises ``NotFound``."""
        game = self.load(game_id)
        if game is None:
            raise _gone()
        return game

    def cached(self, game_id: str) -> Game | None:
        """The game as this process saw it last; the stored one may be newer, or gone."""
        known = self._remembered.get(game_id)
        return None if known is None else known[0]

    def create(self, game: Game, events: Sequence[GameEvent], record: IdempotencyRecord | None) -> Committed:
        """Store a new game, at the version that its first events lead to. Raises ``KeyReused``."""
        write = WriteRequest(new_write_id(self._random_bytes), record)
        game = game.with_events(events, game.created_at, write.id.decode())
        state = encode_game(game)
        data = [encode_event(event, 0) for event in events]
        send = partial(self._store.create, game.id, state, data, write)
        try:
            prior = send()
        except OutcomeUnknown as unknown:
            if self._clock() - game.created_at > RETRY_BUDGET_MS:
                raise
            prior = _send_again(send, unknown)
        if prior is not None:
            return self.replay(game.id, prior, record)
        return self._accept(Committed(game, events), state)

    def transact(
        self, game: Game, decide: Decide, record: IdempotencyRecord | None = None, *, from_store: bool = True
    ) -> Committed:
        """Decide on a game and store what comes of it; again on the stored game whenever another write came first.

        A write without an answer is sent once more. What was committed for the same idempotency record before is
        replayed. Raises what ``decide`` raises on the stored game, ``NotFound`` when the game is gone, ``KeyReused``.
        ``from_store`` is false for a game that was cached.
        """
        write = WriteRequest(new_write_id(self._random_bytes), record)
        began = now = self._clock()
        for _ in range(MAX_ATTEMPTS):
            try:
                after, events = decide(game)
            except (Refusal, MoveRefused):
                if not from_store:
                    game, from_store = self.reload(game.id), True
                    continue
                prior = None if record is None else self._store.find_write(game.id, record.name)
                if prior is None:
                    raise
                return self.replay(game.id, prior, record)
            now = max(now, game.updated_at)
            after = after.with_events(events, now, write.id.decode())
            state = encode_game(after)
            data = [encode_event(event, now - game.created_at) for event in events]
            send = partial(self._store.commit, game.id, game.version, state, data, write, after=state_prefix(game))
            try:
                found = send()
            except KeyError:
                raise _gone() from None
            except OutcomeUnknown as unknown:
                if self._clock() - began > RETRY_BUDGET_MS:
                    raise
                found = _send_again(partial(send, again=True), unknown)
            if found is None:
                committed = self._accept(Committed(after, events, game.status), state)
                if after.state.phase == FINISHED and self._clock() - began <= SLOW_MS:
                    self._run_later(partial(self._compact, after.id))
                return committed
            if isinstance(found, PriorWrite):
                return self.replay(game.id, found, record)
            # Another write came first. A copy of this one that is still under way will find the same, and do nothing.
            now = self._clock()
            if now - began > RETRY_BUDGET_MS:
                break
            game, from_store = self._decode(game.id, found), True
        raise StorageUnavailable("contention")

    def find_write(self, game_id: str, name: str) -> PriorWrite | None:
        """What was committed for the idempotency record of that name in the last 24 hours."""
        return self._store.find_write(game_id, name)

    def reserve(self, name: str, game_id: str) -> str:
        """The id for the game under that name: this one, or the one that the first request got."""
        try:
            return self._store.reserve(name, game_id)
        except OutcomeUnknown as error:
            # An id may be reserved or not: no game is created.
            raise StorageUnavailable(error.reason, error.retry_after) from error

    def replay(self, game_id: str, prior: PriorWrite, record: IdempotencyRecord | None) -> Committed:
        """The game just after an earlier write, and all events up to it.

        Raises ``KeyReused`` if that write was another request's. As the write is committed, whatever fails now, a store
        that cannot answer is ``OutcomeUnknown``.
        """
        check_same_request(prior, record)
        try:
            game = self.reload(game_id)
            history = self.history(game)
        except StorageUnavailable as error:
            raise OutcomeUnknown(error.reason, error.retry_after) from error
        events = [each.event for each in history[: prior.version]]
        return Committed(rebuild_game(game, history, prior.version), events, replayed=True)

    def events(self, game: Game, versions: Sequence[int]) -> list[GameEvent]:
        """The events of these versions. Raises ``NotFound`` if one has expired."""
        if not versions:
            return []
        found = self._store.events(game.id, versions)
        if len(found) != len(versions):
            raise _gone()
        return [decode(version, game.created_at, data).event for version, data in zip(versions, found, strict=True)]

    def event_range(self, game_id: str, after: int, limit: int) -> EventRange:
        """At most ``limit`` events after a version, still as bytes. Raises ``NotFound``."""
        events = self._store.event_range(game_id, after, limit)
        if events is None:
            raise _gone()
        return events

    def history(self, game: Game) -> list[EventEnvelope]:
        """All events of the game up to its version, and perhaps some that came since."""
        history: list[EventEnvelope] = []
        while len(history) < game.version:
            page = self.event_range(game.id, len(history), _PAGE)
            if page.first != len(history) + 1 or not page.events:
                raise StorageUnavailable("events are missing")
            history += [decode(version, game.created_at, data) for version, data in enumerate(page.events, page.first)]
        return history

    def ping(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._store.check()

    def _accept(self, committed: Committed, state: bytes) -> Committed:
        """Remember and observe what was just committed."""
        self._remember(committed.after, state)
        self._observe(committed)
        return committed

    def _compact(self, game_id: str) -> None:
        """Compact the events of a finished game. The write is committed, so nobody is told if this fails."""
        try:
            self._store.compact(game_id)
        except (StorageUnavailable, OutcomeUnknown):
            pass
        except Exception:
            _log.exception("a finished game could not be compacted")

    def _decode(self, game_id: str, stored: StoredGame) -> Game:
        known = self._remembered.get(game_id)
        if known is not None and known[0].version == stored.version and known[1] == stored.state:
            return known[0]
        try:
            game = decode_game(game_id, stored.version, stored.state)
        except NewerFormat:
            raise _newer() from None
        self._remember(game, stored.state)
        return game

    def _remember(self, game: Game, state: bytes) -> None:
        """Cache a game; the one that was changed longest ago makes room for it."""
        with self._lock:
            self._remembered.pop(game.id, None)
            self._remembered[game.id] = (game, state)
            if len(self._remembered) > CACHE_SIZE:
                del self._remembered[next(iter(self._remembered))]


def _send_again(send: Callable[[], T], unknown: OutcomeUnknown) -> T:
    """Send a write a second time. If that one was surely not made, the outcome of the first is unknown still."""
    try:
        return send()
    except KeyError:
        raise _gone() from None
    except (StorageUnavailable, GameExists):
        raise unknown from None


def rebuild_game(game: Game, history: Sequence[EventEnvelope], version: int) -> Game:
    """The game as it stood at ``version``; ``history`` is all its events.

    Its tokens and its deck are those of now: no view depends on them.
    """
    joined_later = {each.event.seat for each in history[version:] if isinstance(each.event, Joined)}
    earlier = [each.event for each in history[:version]]
    return game._replace(
        seats=tuple([Seat(OPEN_SEAT) if seat in joined_later else each for seat, each in enumerate(game.seats)]),
        version=version,
        updated_at=history[version - 1].at,
        state=replay(game.rules, [each for each in earlier if not isinstance(each, Created | Joined | TokenChanged)]),
        commitments=reduce(commitments_after, earlier, ()),
    )


def decode(version: int, created_at: int, data: bytes) -> EventEnvelope:
    """A stored event. Raises ``StorageUnavailable`` for one of a newer service."""
    try:
        return decode_event(version, created_at, data)
    except NewerFormat:
        raise _newer() from None


def _gone() -> NotFound:
    return NotFound("There is no such game any more.")


def _newer() -> StorageUnavailable:
    # Another machine runs a newer service already; soon this one will, too.
    return StorageUnavailable("newer format", retry_after=_UPGRADE_SECONDS)
