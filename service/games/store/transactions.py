"""Transactions: create a game, change it by a decision, delete it, each in one atomic write.

Owns what is retried, and the replay of an earlier write under the same idempotency key. Does not depend on the content
of a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

from service.engine.errors import Refusal
from service.engine.referee import apply
from service.engine.state import FINISHED, State
from service.games.model.errors import MoveRefused, SeatsTaken
from service.games.model.following import with_events
from service.games.model.game import Game, GameStatus
from service.games.model.game_events import Filled, GameEvent, HostingEvent, Started
from service.games.model.schedule import reminders
from service.games.model.tokens import new_write_id
from service.games.ports import (
    NO_CODES,
    TRACE,
    Commit,
    Damaged,
    GameExists,
    IdempotencyRecord,
    JoinCodeTaken,
    PriorWrite,
    Runtime,
    Store,
    WriteRequest,
)
from service.games.store.admission import GROWTH, Admission, StoragePolicy
from service.games.store.cache import CachedGame, GameCache, GameReader, expired
from service.games.store.codec import encode_event, encode_game, encode_tombstone, state_prefix
from service.games.store.history import GameHistory, compact
from service.games.store.idempotency import check_same_request
from service.limits.stored_bytes import ShareUsedUp, Tenant
from service.redis.errors import OutcomeUnknown, StorageUnavailable

MAX_ATTEMPTS: Final = 16
"""The maximum number of decisions in one transaction."""
RETRY_BUDGET_MS: Final = 1500
"""Milliseconds after which nothing is retried, so that the response comes within three seconds."""
SLOW_MS: Final = 300
"""Milliseconds after which a write counts as slow. After a slow write the game is not compacted, to spare the store."""

T = TypeVar("T")

Decision = tuple[Game, Sequence[GameEvent]]
"""The changed game, and the events of the change; the transaction sets version and times."""
Decide = Callable[[Game], Decision]
"""Decides on a game; can be called several times. Raises ``Refusal`` or ``MoveRefused``."""


class Committed(NamedTuple):
    """A committed write, or the write of an earlier request with the same idempotency key (``replayed``, ``prior``).

    ``after``: the game just after the write.
    ``events``: empty if ``replayed``.
    ``status_before``: the status before the write; ``None`` for a new game, and if ``replayed``.
    """

    after: Game
    events: Sequence[GameEvent]
    status_before: GameStatus | None = None
    prior: PriorWrite | None = None
    replayed: bool = False


class Transactions:
    """The writes of games, which ``admission`` counts. They raise ``StorageUnavailable``, ``Gone`` for a deleted game.

    ``observe``: called with every committed write.
    ``follow``: called with the writes of games that wait for players, or did so before the write.
    """

    def __init__(
        self,
        store: Store,
        cache: GameCache,
        reader: GameReader,
        history: GameHistory,
        *,
        runtime: Runtime,
        policy: StoragePolicy,
        observe: Callable[[Committed], None],
        follow: Callable[[Committed], None],
    ) -> None:
        self._store = store
        self._cache = cache
        self._reader = reader
        self._history = history
        self._clock, self._random_bytes, self._run_later = runtime.clock, runtime.random_bytes, runtime.run_later
        self._lifetimes, self._shares = policy.lifetimes, policy.shares
        self._observe, self._follow = observe, follow
        self._keeps_trace = policy.automatic  # writes follow from earlier requests, and keep their trace
        self.admission = Admission(self._shares, runtime.run_later, automatic=policy.automatic)

    def create(
        self, game: Game, start: State, events: Sequence[GameEvent], record: IdempotencyRecord | None
    ) -> Committed:
        """Store a new game with its first events after ``start``, or replay its creation under the same record.

        Sends it again if no answer comes. Raises ``ShareUsedUp``, ``KeyReused``, ``JoinCodeTaken``, ``OutcomeUnknown``.
        """
        write = WriteRequest(new_write_id(self._random_bytes), record, self._lifetimes.of(game) // 1000)
        at, yielding = game.created_at, self._history.yielding
        game = with_events(game, events, start, at=at, write_id=write.id.decode(), yielding=yielding)
        game = game._replace(trace=TRACE.get())
        state = encode_game(game)
        data = encode_events(start, events, game, 0, yielding=yielding)
        create = partial(self._store.create, reminders=reminders(None, game), tenant=game.tenant, code=game.join_hash)
        send = partial(create, game.id, state, data, write)
        try:
            size = self.admission.create(game, state, data, record)
        except ShareUsedUp:
            prior = None if record is None else self._store.find_write(game.id, record.name)
            if prior is None:
                raise
            return self.replay(game.id, prior, record)
        try:
            prior = send()
        except OutcomeUnknown as unknown:
            if self._clock() - game.created_at > RETRY_BUDGET_MS:
                raise
            prior = _send_again(send, unknown)
        except (StorageUnavailable, GameExists, JoinCodeTaken):
            self.admission.give_back(game, size)
            raise
        if prior is not None:
            self.admission.give_back(game, size)
            return self.replay(game.id, prior, record)
        committed = Committed(game, events)
        self._cache.games.put(game.id, CachedGame(game, state))
        self._observe(committed)
        if game.seats.are_open:
            self._follow(committed)
        return committed

    def transact(
        self,
        game: Game,
        decide: Decide,
        record: IdempotencyRecord | None = None,
        *,
        from_store: bool = True,
        limited: bool = True,
    ) -> Committed:
        """Decide on a game and commit the decision; if another write came first, decide again on the stored game.

        Sends the write once more if no answer comes. Replays an earlier write under the same idempotency record.
        ``from_store``: false for a cached game.
        ``limited``: whether the write is refused or deferred while memory is short (``ShareUsedUp``, ``Deferred``).
        Raises what ``decide`` raises on the stored game, ``NotFound`` if the game has expired, ``KeyReused``,
        ``JoinCodeTaken``, ``OutcomeUnknown``.
        """
        write = WriteRequest(new_write_id(self._random_bytes), record)
        began = now = self._clock()
        for _ in range(MAX_ATTEMPTS):
            try:
                after, events = decide(game)
                now = max(now, game.updated_at)
                after = with_events(after, events, game.state, at=now, write_id=write.id.decode())
                if not self._keeps_trace and TRACE.get() != after.trace:
                    after = after._replace(trace=TRACE.get())
                data = encode_events(game.state, events, after, now - game.created_at, yielding=self._history.yielding)
                if limited and self._shares.counts_writes:
                    self.admission.write(after, data, record)
            except (Refusal, MoveRefused):  # ``ShareUsedUp`` is a refusal, too
                if not from_store:
                    game, from_store = self._reader.reload(game.id), True  # the cached game may be stale
                    continue
                prior = None if record is None else self._store.find_write(game.id, record.name)
                if prior is None:
                    raise
                return self.replay(game.id, prior, record)
            state = encode_game(after)
            write = write._replace(ttl=self._lifetimes.of(after) // 1000)
            due = reminders(game, after)
            was_waiting = game.status == "waiting"
            codes = (game.join_hash, after.join_hash if after.seats.are_open else None) if was_waiting else NO_CODES
            tenant = game.tenant if due else ""
            commit = Commit(game.version, state, data, write, state_prefix(game), due, tenant, codes)
            send = partial(self._store.commit, game.id, commit)
            try:
                answer = send()
            except KeyError:
                raise expired() from None
            except OutcomeUnknown as unknown:
                if self._clock() - began > RETRY_BUDGET_MS:
                    raise
                answer = _send_again(partial(send, again=True), unknown)
            if answer is None:
                committed = Committed(after, events, game.status)
                self._cache.games.put(after.id, CachedGame(after, state))
                self._observe(committed)
                if was_waiting:
                    self._follow(committed)
                # Growth is counted every ``GROWTH`` events. The id shifts the start, so that short games count, too.
                if (game.version + ord(game.id[0])) // GROWTH != (after.version + ord(game.id[0])) // GROWTH:
                    self.admission.count_growth(after, data, record)
                if after.state.phase == FINISHED and self._clock() - began <= SLOW_MS:
                    self._run_later(partial(compact, self._store, after.id))
                return committed
            if isinstance(answer, PriorWrite):
                return self.replay(game.id, answer, record)
            # Another write came first. If a copy of this write is still on its way, it will be rejected, too.
            now = self._clock()
            if now - began > RETRY_BUDGET_MS:
                break
            game, from_store = self._cache.decode(game.id, answer), True
        raise StorageUnavailable("contention")

    def delete(self, game_id: str, app: str, tenant: str) -> None:
        """Delete a game of this application and ``tenant`` at any version; do nothing if it is already deleted.

        Sends it once more if no answer comes. Raises ``NotFound`` if the game has expired, ``OutcomeUnknown``.
        """
        began = self._clock()
        send = partial(self._store.delete, game_id, encode_tombstone(app), began, tenant)
        try:
            version = send()
        except OutcomeUnknown as unknown:
            if self._clock() - began > RETRY_BUDGET_MS:
                raise
            version = _send_again(send, unknown)
        if version is None:
            raise expired()
        self._cache.forget((game_id,))

    def fence(self, game_id: str, record: IdempotencyRecord) -> PriorWrite | None:
        """Return the write to this game under this record; if there is none, prevent one and return ``None``.

        Sends the command once more if no answer comes. Raises ``KeyReused`` if that write was for another request.
        """
        send = partial(self._store.fence, game_id, record)
        try:
            prior = send()
        except OutcomeUnknown as unknown:
            prior = _send_again(send, unknown)
        check_same_request(prior.fingerprint, record)
        return prior if prior.version else None

    def reserve(self, name: str, game_id: str, tenant: Tenant | None = None) -> str:
        """Reserve ``game_id`` under this name; return it, or the id that an earlier request reserved.

        Counts the reservation in the share of ``tenant``. Raises ``ShareUsedUp`` unless an id was reserved earlier.
        """
        try:
            if tenant is not None:
                self.admission.reserve(tenant)
        except ShareUsedUp:
            reserved = self._store.reserved(name)
            if reserved is None:
                raise
            return reserved
        try:
            return self._store.reserve(name, game_id)
        except OutcomeUnknown as error:
            # For the client it makes no difference whether the id was reserved, because no game was created.
            raise StorageUnavailable(error.reason, error.retry_after) from error

    def replay(self, game_id: str, prior: PriorWrite, record: IdempotencyRecord | None) -> Committed:
        """Return an earlier write, with the game just after it.

        Raises ``KeyReused`` if that write was for another request, ``NotFound`` if the game has expired, ``Damaged``,
        and ``OutcomeUnknown`` instead of ``StorageUnavailable``, because the write is committed.
        """
        check_same_request(prior.fingerprint, record)
        if not prior.version:
            raise SeatsTaken("seats_taken")  # the record is a fence: the request was sent to another table
        try:
            game = self._history.at_version(self._reader.reload(game_id), prior.version)
        except Damaged:
            raise
        except StorageUnavailable as error:
            raise OutcomeUnknown(error.reason, error.retry_after) from error
        write_id = prior.write_id.decode()
        return Committed(game._replace(write_id=write_id, match_write_id=write_id), (), prior=prior, replayed=True)


def _send_again(send: Callable[[], T], unknown: OutcomeUnknown) -> T:
    """Send a write again; if this fails, too, raise ``unknown``, the error of the first attempt."""
    try:
        return send()
    except KeyError:
        raise expired() from None
    except (StorageUnavailable, GameExists, JoinCodeTaken):
        raise unknown from None


def encode_events(
    before: State,
    events: Sequence[GameEvent],
    after: Game,
    since_creation: int,
    *,
    yielding: Callable[[Sequence[GameEvent]], Iterable[GameEvent]],
) -> list[bytes]:
    """Return the encoded events of a write, each with the seats that can move after it.

    ``before``, ``after``: the state before, and the game after the write.
    ``since_creation``: milliseconds from the creation of the game to the write.
    ``yielding``: returns the same events, and lets other requests run between them.
    ``Filled`` events come first in a write; no seat can move before the last of them.
    """
    encoded, state = [], before
    waits = len([event for event in events if isinstance(event, Filled)]) if isinstance(events[0], Filled) else 0
    for event in yielding(events[:-1]) if len(events) > 1 else ():
        if not isinstance(event, HostingEvent):
            state = apply(after.rules, state, event)
        elif isinstance(event, Started):
            state = after.rules.start()
        waits -= 1
        to_act = () if waits > 0 or after.seats.are_open or not state.round else state.to_act  # as ``Game.to_act``
        encoded.append(encode_event(event, since_creation, to_act))
    return [*encoded, encode_event(events[-1], since_creation, after.to_act)]
