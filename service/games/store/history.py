"""The history of a game: its events, the game at an earlier version, and the compaction of finished games.

Owns how many events are read together, and when other requests run in between. Does not depend on who can see an event.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, Final, TypeVar

from service.engine.events import Dealt
from service.engine.presence import ALL_PRESENT, PresenceEvent
from service.engine.replay import replay
from service.games.model.clock import start_clock
from service.games.model.following import replay_timed
from service.games.model.game import Game, rules_for
from service.games.model.game_events import (
    NO_PLAY,
    EventEnvelope,
    Filled,
    Freed,
    GameEvent,
    HostingEvent,
    Joined,
    Rematched,
    Started,
    commitments_after,
)
from service.games.model.seats import HUMAN, OPEN_SEAT, Seat, Seats, left_name
from service.games.ports import EventRange, Store
from service.games.store.cache import GameCache, expired
from service.games.store.codec import decode_event
from service.redis.errors import OutcomeUnknown, StorageUnavailable

_PAGE: Final = 1000
"""Events that are read together."""
_EVENTS_PER_TURN: Final = 100
"""Events that are decoded or applied before other requests run; they take about a millisecond."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class GameHistory:
    """Reads the events of games. Raises ``StorageUnavailable``.

    ``yield_control``: called regularly while a long history is read.
    ``admit_read``: called with the number of events before a read that can be large; it can refuse by an exception.
    """

    def __init__(
        self, store: Store, cache: GameCache, *, yield_control: Callable[[], None], admit_read: Callable[[int], None]
    ) -> None:
        self._store = store
        self._cache = cache
        self._yield_control = yield_control
        self._admit_read = admit_read

    def at_version(self, game: Game, version: int) -> Game:
        """Return the game as it was at an earlier version; cached. Raises as ``event_range``."""
        if game.version == version:
            return game
        key = game.id, game.write_id, version
        earlier = self._cache.earlier.get(key)
        if earlier is None:
            earlier = rebuild_game(game, self.history(game), version, self.yielding)
            self._cache.earlier.put(key, earlier)
        return earlier

    def events(self, game: Game, versions: Sequence[int]) -> list[GameEvent]:
        """Return the events of these versions. Raises ``NotFound`` if one has expired."""
        if not versions:
            return []
        self._admit_read(len(versions))
        encoded = self._store.events(game.id, versions)
        if len(encoded) != len(versions):
            raise expired()
        numbered = zip(versions, encoded, strict=True)
        return [decode_event(version, game.created_at, data).event for version, data in numbered]

    def game_with_events(self, game_id: str, after: int, limit: int) -> tuple[Game, list[EventEnvelope], int] | None:
        """Return the stored game, at most ``limit`` of its events after a version, and its bytes in the store.

        Returns ``None`` without the game. No event is newer than the game. Raises ``Gone`` for a deleted game.
        """
        stored = self._store.read_with_events(game_id, after, limit)
        if stored is None:
            return None
        game = self._cache.decode(game_id, stored.stored)
        return game, self._decoded_until(game, stored.events), stored.size

    def event_range(self, game_id: str, after: int, limit: int) -> EventRange:
        """Return at most ``limit`` encoded events after a version. Raises ``NotFound`` without the game."""
        stored = self._store.event_range(game_id, after, limit)
        if stored is None:
            raise expired()
        return stored

    def decoded(self, stored: EventRange, created_at: int) -> list[EventEnvelope]:
        """Return the events of a range, decoded. ``created_at``: that of the game."""
        numbered = enumerate(self.yielding(stored.events), stored.first)
        return [decode_event(version, created_at, data) for version, data in numbered]

    def events_after(self, game: Game, after: int, limit: int) -> list[EventEnvelope]:
        """Return at most ``limit`` events after a version, none newer than the game. Raises as ``event_range``."""
        return self._decoded_until(game, self.event_range(game.id, after, limit))

    def _decoded_until(self, game: Game, stored: EventRange) -> list[EventEnvelope]:
        """Return the events of a range, decoded, without those that are newer than the game."""
        versions = range(stored.first, game.version + 1)  # newer events may be unreadable here
        numbered = zip(versions, self.yielding(stored.events), strict=False)
        return [decode_event(version, game.created_at, data) for version, data in numbered]

    def history(self, game: Game) -> list[EventEnvelope]:
        """Return all events of the game up to its version, and perhaps newer ones. Raises as ``event_range``."""
        self._admit_read(game.version)
        history: list[EventEnvelope] = []
        while len(history) < game.version:
            stored = self.event_range(game.id, len(history), _PAGE)
            if stored.first != len(history) + 1 or not stored.events:
                raise StorageUnavailable("events are missing")
            history += self.decoded(stored, game.created_at)
        return history

    def events_of_round(self, game: Game, version: int) -> list[GameEvent]:
        """Return the events from the last deal up to a version. Raises as ``event_range``."""
        events: list[GameEvent] = []
        while version and not (events and isinstance(events[0], Dealt)):
            start = max(version - _EVENTS_PER_TURN, 0)
            events = from_last_deal(self.events_between(game, start, version)) + events
            version = start
        return events

    def events_between(self, game: Game, after: int, version: int) -> list[GameEvent]:
        """Return the events after one version up to another. Raises as ``event_range``."""
        self._admit_read(version - after)
        stored = self.event_range(game.id, after, version - after)
        if stored.first != after + 1 or len(stored.events) != version - after:
            raise StorageUnavailable("events are missing")
        return [envelope.event for envelope in self.decoded(stored, game.created_at)]

    def yielding(self, items: Sequence[T]) -> Iterable[T]:
        """Return the items, for a loop in which other requests run after every ``_EVENTS_PER_TURN`` of them."""
        return self._yield_each(items) if len(items) > _EVENTS_PER_TURN else items

    def _yield_each(self, items: Sequence[T]) -> Iterator[T]:
        for number, item in enumerate(items, 1):
            yield item
            if number % _EVENTS_PER_TURN == 0:
                self._yield_control()


def from_last_deal(events: list[GameEvent]) -> list[GameEvent]:
    """Return these events from the last deal on; all of them if there is no deal."""
    return events[max([at for at, event in enumerate(events) if isinstance(event, Dealt)], default=0) :]


def rebuild_game(
    game: Game,
    history: Sequence[EventEnvelope],
    version: int,
    yielding: Callable[[Sequence[Any]], Iterable[Any]] = iter,
) -> Game:
    """Return the game as it was at ``version``.

    ``history``: all events of the game.
    ``yielding``: returns the same items, and lets other requests run between them.
    Tokens, deck and ``write_id`` remain the current ones. No view depends on the first two.
    """
    match_version = version
    while type(history[match_version - 1].event) in NO_PLAY:
        match_version -= 1
    later = [envelope.event for envelope in history[version:]]
    earlier = [envelope.event for envelope in history[:version]]
    at = history[version - 1].at
    game = _with_seats_at(game, version, later, at)
    if game.is_automatic or any([isinstance(event, PresenceEvent) for event in earlier]):
        start = game._replace(presence=ALL_PRESENT, running_clock=start_clock(game.clock, len(game.seats)))
        timed = zip([envelope.at for envelope in history], yielding(earlier), strict=False)
        game, state = replay_timed(start, game.rules.start(), timed)
    else:
        state = replay(game.rules, yielding([event for event in earlier if not isinstance(event, HostingEvent)]))
    return game._replace(
        version=version,
        match_version=match_version,
        updated_at=at,
        state=state,
        commitments=reduce(commitments_after, earlier, ()),
        rematch=None if any([isinstance(event, Rematched) for event in later]) else game.rematch,
    )


def _with_seats_at(game: Game, version: int, later: Iterable[GameEvent], at: int) -> Game:
    """Return the game with the seats that it had at a version, and the rules for that number of seats.

    ``later``: the events after the version.
    ``at``: the time of the version.
    The data of players who have left since are lost; their seats get ``left_name``.
    """
    next_changes: dict[int, GameEvent] = {}
    for event in later:
        if isinstance(event, Started):
            break  # the match begins with this event, and seats do not change players after that
        if isinstance(event, Joined | Filled | Freed):
            next_changes.setdefault(event.seat, event)
    room = game.room
    if room is not None:
        if room.began and version < room.began_at:
            seats = [Seat(OPEN_SEAT)] * room.places
            for current, old in enumerate(room.began):
                seats[old] = game.seats[current]
            rules = rules_for(game.variant.key, game.options, room.places)
            game = game._replace(seats=Seats(seats), rules=rules)
        if room.since is not None and room.since > at:
            game = game._replace(room=room._replace(since=None))
    seats = list(game.seats)
    # A seat that is freed next had a player; a seat that is taken next was open.
    for seat, event in next_changes.items():
        seats[seat] = Seat(HUMAN, left_name(seat)) if isinstance(event, Freed) else Seat(OPEN_SEAT)
    return game._replace(seats=Seats(seats))


def compact(store: Store, game_id: str) -> None:
    """Compact a finished game. A failure is not reported to the client, because its write is committed."""
    try:
        store.compact(game_id)
    except (StorageUnavailable, OutcomeUnknown):
        pass
    except Exception:
        _log.exception("a finished game could not be compacted")
