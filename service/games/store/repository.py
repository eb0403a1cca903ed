"""The repository: games loaded from the store, cached, and changed by transactions.

Owns the conversion of games to bytes and back, what is retried, and the cache of games. A cached game may be stale: a
decision on it counts only if the store accepts the write, and a refusal only if the stored game leads to it too. Does
not depend on what is decided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial, reduce
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from service.engine.errors import Refusal
from service.engine.events import Dealt
from service.engine.presence import ALL_PRESENT, PresenceEvent
from service.engine.referee import apply
from service.engine.replay import replay
from service.engine.state import FINISHED, State
from service.games.model.clock import start_clock
from service.games.model.errors import Gone, MoveRefused, NotFound
from service.games.model.game import (
    OPEN_SEAT,
    EventEnvelope,
    Game,
    GameEvent,
    GameStatus,
    HostingEvent,
    Joined,
    Rematched,
    Seat,
    changes_play,
    commitments_after,
    follow,
)
from service.games.model.schedule import reminders
from service.games.model.tokens import new_write_id
from service.games.model.views import forget_seat_views
from service.games.ports import (
    EventRange,
    GameExists,
    IdempotencyRecord,
    OutcomeUnknown,
    PriorWrite,
    Runtime,
    StorageUnavailable,
    Store,
    StoredGame,
    WriteRequest,
)
from service.games.store.codec import (
    NewerFormat,
    decode_event,
    decode_game,
    encode_event,
    encode_game,
    encode_tombstone,
    forget_seats,
    state_prefix,
)
from service.games.store.idempotency import check_same_request

CACHE_SIZE: Final = 1000
"""Games in the cache of a process."""

_log = logging.getLogger(__name__)

_UPGRADE_SECONDS: Final = 30
MAX_ATTEMPTS: Final = 16
"""How often a transaction decides, each time because another write came first."""
RETRY_BUDGET_MS: Final = 1500
"""Milliseconds after which nothing is retried, so that the response comes within three seconds."""
SLOW_MS: Final = 300
"""Milliseconds from which a write counts as slow: a slow store is not asked to compact a game as well."""
_PAGE: Final = 1000
"""Events read at a time."""
_EVENTS_PER_TURN: Final = 100
"""Events that are decoded or applied before other requests run: about a millisecond."""
_EARLIER_CACHE_SIZE: Final = 32
"""Games at earlier versions in the cache of a process."""
_SHARED_READS: Final = 256
"""Reads of the store, each for one write, whose results are kept for others that ask for the game after that write."""

T = TypeVar("T")
_Key = TypeVar("_Key")

Decision = tuple[Game, Sequence[GameEvent]]
"""The changed game and the events that led to it; its version and times are set by the repository."""
Decide = Callable[[Game], Decision]
"""Decides on a game; may be called several times. Raises ``Refusal`` or ``MoveRefused``."""


class Committed(NamedTuple):
    """A write that was committed: the game just after it, and its events.

    ``status_before`` is ``None`` for a new game. If ``replayed``, it is the ``prior`` write, which was committed for an
    earlier request under the same idempotency key; then there are no ``events``, and ``status_before`` is ``None``.
    """

    after: Game
    events: Sequence[GameEvent]
    status_before: GameStatus | None = None
    prior: PriorWrite | None = None

    @property
    def replayed(self) -> bool:
        """Whether it was committed for an earlier request."""
        return self.prior is not None


class GameRepository:
    """The games of a store. Every method but ``cached`` and ``forget`` raises ``StorageUnavailable``.

    Where a method reads or writes a game that was deleted, it raises ``Gone``.

    Finished games are compacted in the background; ``observe`` is called with every write that was committed, and
    ``admit_read`` with the number of events before many may be read; what it raises, the caller gets.
    """

    def __init__(
        self,
        store: Store,
        runtime: Runtime,
        *,
        observe: Callable[[Committed], None],
        admit_read: Callable[[int], None],
    ) -> None:
        self._store = store
        self._clock, self._random_bytes, self._yield_control, self._run_later = runtime
        self._observe = observe
        self._admit_read = admit_read
        self._cache: dict[str, tuple[Game, bytes]] = {}
        self._earlier: dict[tuple[str, str, int], Game] = {}
        self._shared_reads: dict[tuple[str, int, str], Future[Game]] = {}
        self._lock = Lock()

    def load(self, game_id: str) -> Game | None:
        """The stored game; ``None`` if it does not exist or has expired."""
        stored = self._store.read(game_id)
        return None if stored is None else self._decode(game_id, stored)

    def reload(self, game_id: str) -> Game:
        """As ``load``, for a game that existed a moment ago. Raises ``NotFound``."""
        game = self.load(game_id)
        if game is None:
            raise _expired()
        return game

    def cached(self, game_id: str) -> Game | None:
        """The game that this process loaded or wrote last; the stored one may be newer, or have expired."""
        known = self._cache.get(game_id)
        return None if known is None else known[0]

    def after_write(self, game_id: str, version: int, write_id: str) -> Game:
        """The game as it was just after the write of that id, which led to ``version``; or as it is now.

        All that ask for the same write share one read of the store: thousands of streams may follow a game. Without a
        ``write_id``, the result is only for those that wait for it: after a failover, another write may have led to
        the same version. Raises ``NotFound``.
        """
        game = self.cached(game_id)
        if game is not None and (game.version, game.write_id) == (version, write_id):
            return game
        key = game_id, version, write_id
        with self._lock:
            read = self._shared_reads.get(key)
            is_first = read is None
            if read is None:
                read = self._shared_reads[key] = Future()
                if len(self._shared_reads) > _SHARED_READS:
                    del self._shared_reads[next(iter(self._shared_reads))]
        if is_first:
            try:
                read.set_result(self.reload(game_id))
            except BaseException as error:
                read.set_exception(error)
            if not write_id or read.exception() is not None:
                self._shared_reads.pop(key, None)
        return read.result()

    def at_version(self, game: Game, version: int) -> Game:
        """The game as it was at an earlier version; cached, as a client may repeat a request several times.

        Raises ``NotFound`` when it has expired.
        """
        if game.version == version:
            return game
        key = game.id, game.write_id, version
        earlier = self._earlier.get(key)
        if earlier is None:
            earlier = rebuild_game(game, self.history(game), version, self.yielding)
            with self._lock:
                self._earlier[key] = earlier
                if len(self._earlier) > _EARLIER_CACHE_SIZE:
                    del self._earlier[next(iter(self._earlier))]
        return earlier

    def create(self, game: Game, events: Sequence[GameEvent], record: IdempotencyRecord | None) -> Committed:
        """Store a new game at the version that its first events lead to, or replay its creation under the same record.

        A write without an answer is sent once more. Raises ``KeyReused``, ``OutcomeUnknown``.
        """
        write = WriteRequest(new_write_id(self._random_bytes), record)
        start = game.rules.start()
        game = game.with_events(events, start, game.created_at, write.id.decode(), self.yielding)
        state = encode_game(game)
        data = self._encode_events(start, events, game, 0)
        send = partial(self._store.create, game.id, state, data, write, reminders=reminders(None, game))
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
        """Decide on a game and commit the decision; decide again on the stored game whenever another write came first.

        A write without an answer is sent once more. An earlier write under the same idempotency record is replayed.
        Raises what ``decide`` raises on the stored game, ``NotFound`` when the game has expired, ``KeyReused``,
        ``OutcomeUnknown``. ``from_store`` is false for a game that was cached.
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
            after = after.with_events(events, game.state, now, write.id.decode())
            state = encode_game(after)
            data = self._encode_events(game.state, events, after, now - game.created_at)
            send = partial(
                self._store.commit,
                game.id,
                game.version,
                state,
                data,
                write,
                after=state_prefix(game),
                reminders=reminders(game, after),
            )
            try:
                answer = send()
            except KeyError:
                raise _expired() from None
            except OutcomeUnknown as unknown:
                if self._clock() - began > RETRY_BUDGET_MS:
                    raise
                answer = _send_again(partial(send, again=True), unknown)
            if answer is None:
                committed = self._accept(Committed(after, events, game.status), state)
                if after.state.phase == FINISHED and self._clock() - began <= SLOW_MS:
                    self._run_later(partial(self._compact, after.id))
                return committed
            if isinstance(answer, PriorWrite):
                return self.replay(game.id, answer, record)
            # Another write came first. A copy of this one that is still under way will be rejected like this one.
            now = self._clock()
            if now - began > RETRY_BUDGET_MS:
                break
            game, from_store = self._decode(game.id, answer), True
        raise StorageUnavailable("contention")

    def delete(self, game_id: str, app: str) -> None:
        """Delete a game of this application, whatever happens to it at the same time; also one that is deleted.

        A deletion without an answer is sent once more. Raises ``NotFound`` when it has expired, ``OutcomeUnknown``.
        """
        began = self._clock()
        send = partial(self._store.delete, game_id, encode_tombstone(app), began)
        try:
            version = send()
        except OutcomeUnknown as unknown:
            if self._clock() - began > RETRY_BUDGET_MS:
                raise
            version = _send_again(send, unknown)
        if version is None:
            raise _expired()
        self.forget((game_id,))

    def forget(self, games: Container[str]) -> None:
        """Drop these games from the caches of this process, and what was made from them."""
        with self._lock:
            _drop(self._cache, [each for each in self._cache if each in games])
            _drop(self._earlier, [each for each in self._earlier if each[0] in games])
            _drop(self._shared_reads, [each for each in self._shared_reads if each[0] in games])
        forget_seats()
        forget_seat_views()

    def find_write(self, game_id: str, name: str) -> PriorWrite | None:
        """The write that was committed under the idempotency record of that name in the last 24 hours."""
        return self._store.find_write(game_id, name)

    def reserve(self, name: str, game_id: str) -> str:
        """The id of the game under that name: ``game_id``, or the one that an earlier request reserved."""
        try:
            return self._store.reserve(name, game_id)
        except OutcomeUnknown as error:
            # Whether the id was reserved does not matter to the client: no game was created.
            raise StorageUnavailable(error.reason, error.retry_after) from error

    def replay(self, game_id: str, prior: PriorWrite, record: IdempotencyRecord | None) -> Committed:
        """The game just after an earlier write.

        Raises ``KeyReused`` if that write was for another request, ``NotFound`` when the game has expired. The write is
        committed in any case, so ``OutcomeUnknown`` is raised instead of ``StorageUnavailable``.
        """
        check_same_request(prior, record)
        try:
            game = self.at_version(self.reload(game_id), prior.version)
        except StorageUnavailable as error:
            raise OutcomeUnknown(error.reason, error.retry_after) from error
        write_id = prior.write_id.decode()
        return Committed(game._replace(write_id=write_id, match_write_id=write_id), (), prior=prior)

    def events(self, game: Game, versions: Sequence[int]) -> list[GameEvent]:
        """The events of these versions. Raises ``NotFound`` if one has expired."""
        if not versions:
            return []
        self._admit_read(len(versions))
        encoded = self._store.events(game.id, versions)
        if len(encoded) != len(versions):
            raise _expired()
        return [decode(version, game.created_at, data).event for version, data in zip(versions, encoded, strict=True)]

    def event_range(self, game_id: str, after: int, limit: int) -> EventRange:
        """At most ``limit`` events after a version, encoded. Raises ``NotFound`` when the game has expired."""
        events = self._store.event_range(game_id, after, limit)
        if events is None:
            raise _expired()
        return events

    def check(self) -> None:
        """Do one cheap write, as ``Store.check``."""
        self._store.check()

    def size(self, game_id: str) -> int:
        """The bytes that the store uses for a game; 0 for one that does not exist."""
        return self._store.size(game_id)

    def history(self, game: Game) -> list[EventEnvelope]:
        """All events of the game up to its version, and perhaps newer ones. Raises ``NotFound`` when it has expired."""
        self._admit_read(game.version)
        history: list[EventEnvelope] = []
        while len(history) < game.version:
            page = self.event_range(game.id, len(history), _PAGE)
            if page.first != len(history) + 1 or not page.events:
                raise StorageUnavailable("events are missing")
            for version, data in enumerate(self.yielding(page.events), page.first):
                history.append(decode(version, game.created_at, data))
        return history

    def events_of_round(self, game: Game, version: int) -> list[GameEvent]:
        """The events from the last deal on up to a version, which the game has reached.

        Raises ``NotFound`` when it has expired.
        """
        events: list[GameEvent] = []
        while version and not (events and isinstance(events[0], Dealt)):
            start = max(version - _EVENTS_PER_TURN, 0)
            events = from_last_deal(self.events_between(game, start, version)) + events
            version = start
        return events

    def events_between(self, game: Game, after: int, version: int) -> list[GameEvent]:
        """The events after a version up to another, which the game has reached. Raises ``NotFound`` as above."""
        self._admit_read(version - after)
        page = self.event_range(game.id, after, version - after)
        if page.first != after + 1 or len(page.events) != version - after:
            raise StorageUnavailable("events are missing")
        numbered = enumerate(self.yielding(page.events), page.first)
        return [decode(number, game.created_at, data).event for number, data in numbered]

    def yielding(self, items: Iterable[T]) -> Iterator[T]:
        """The items; other requests run after every ``_EVENTS_PER_TURN`` of them."""
        for number, item in enumerate(items, 1):
            yield item
            if number % _EVENTS_PER_TURN == 0:
                self._yield_control()

    def _encode_events(
        self, before: State, events: Sequence[GameEvent], after: Game, since_creation: int
    ) -> list[bytes]:
        """The events of a write, each with the seats that may move after it."""
        to_act = seats_to_act(before, events, after, self.yielding)
        return [encode_event(event, since_creation, seats) for event, seats in zip(events, to_act, strict=True)]

    def _accept(self, committed: Committed, state: bytes) -> Committed:
        """Cache the game of a write that was just committed, and report the write to the observer."""
        self._put(committed.after, state)
        self._observe(committed)
        return committed

    def _compact(self, game_id: str) -> None:
        """Compact the events of a finished game. A failure does not concern the client: its write is committed."""
        try:
            self._store.compact(game_id)
        except (StorageUnavailable, OutcomeUnknown):
            pass
        except Exception:
            _log.exception("a finished game could not be compacted")

    def _decode(self, game_id: str, stored: StoredGame) -> Game:
        known = self._cache.get(game_id)
        if known is not None and known[0].version == stored.version and known[1] == stored.state:
            return known[0]
        try:
            game = decode_game(game_id, stored.version, stored.state)
        except NewerFormat:
            raise _newer() from None
        except Gone:
            if known is not None:
                self.forget((game_id,))
            raise
        self._put(game, stored.state)
        return game

    def _put(self, game: Game, state: bytes) -> None:
        """Cache a game; the one that was cached longest ago is evicted if there are too many."""
        with self._lock:
            self._cache.pop(game.id, None)
            self._cache[game.id] = (game, state)
            if len(self._cache) > CACHE_SIZE:
                del self._cache[next(iter(self._cache))]


def _drop(cache: dict[_Key, Any], keys: Iterable[_Key]) -> None:
    for key in keys:
        cache.pop(key, None)


def from_last_deal(events: list[GameEvent]) -> list[GameEvent]:
    """The last deal of these events and what follows it; all of them without a deal."""
    return events[max([at for at, event in enumerate(events) if isinstance(event, Dealt)], default=0) :]


def _send_again(send: Callable[[], T], unknown: OutcomeUnknown) -> T:
    """Send a write a second time. If that attempt fails for certain, the outcome of the first is still unknown."""
    try:
        return send()
    except KeyError:
        raise _expired() from None
    except (StorageUnavailable, GameExists):
        raise unknown from None


def seats_to_act(
    before: State,
    events: Sequence[GameEvent],
    after: Game,
    yielding: Callable[[Iterable[GameEvent]], Iterable[GameEvent]] = iter,
) -> list[tuple[int, ...]]:
    """The seats that may move after each event of a write, which led from the state ``before`` to the game ``after``.

    A seat that is taken in this write is taken by its first event. ``yielding`` returns events as they are.
    """
    if len(events) == 1:
        return [after.to_act]
    result = []
    state = before
    for event in yielding(events[:-1]):
        if not isinstance(event, HostingEvent):
            state = apply(after.rules, state, event)
        result.append(() if after.has_open_seats or not state.round else state.to_act)  # as ``Game.to_act``
    return [*result, after.to_act]


def rebuild_game(
    game: Game,
    history: Sequence[EventEnvelope],
    version: int,
    yielding: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Game:
    """The game as it was at ``version``; ``history`` is all its events, ``yielding`` returns events as they are.

    Its tokens, its deck and its ``write_id`` are the current ones: no view depends on the first two.
    """
    match_version = version
    while not changes_play(history[match_version - 1].event):
        match_version -= 1
    later = [each.event for each in history[version:]]
    joined_later = {event.seat for event in later if isinstance(event, Joined)}
    earlier = [each.event for each in history[:version]]
    if game.is_automatic or any([isinstance(event, PresenceEvent) for event in earlier]):
        start = game._replace(presence=ALL_PRESENT, running_clock=start_clock(game.clock, len(game.seats)))
        timed = zip([each.at for each in history], yielding(earlier), strict=False)
        game, state = follow(start, game.rules.start(), timed)
    else:
        state = replay(game.rules, yielding([each for each in earlier if not isinstance(each, HostingEvent)]))
    return game._replace(
        seats=tuple([Seat(OPEN_SEAT) if seat in joined_later else each for seat, each in enumerate(game.seats)]),
        version=version,
        match_version=match_version,
        updated_at=history[version - 1].at,
        state=state,
        commitments=reduce(commitments_after, earlier, ()),
        rematch=None if any([isinstance(event, Rematched) for event in later]) else game.rematch,
    )


def decode(version: int, created_at: int, data: bytes) -> EventEnvelope:
    """Decode a stored event. Raises ``StorageUnavailable`` for one that a newer service wrote."""
    try:
        return decode_event(version, created_at, data)
    except NewerFormat:
        raise _newer() from None


def _expired() -> NotFound:
    return NotFound("game_expired")


def _newer() -> StorageUnavailable:
    # Another machine already runs a newer service: an upgrade is under way.
    return StorageUnavailable("newer format", retry_after=_UPGRADE_SECONDS)
