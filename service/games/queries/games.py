"""The queries on a game: its view, legal moves, events, score, table, fairness report and record.

Owns where a page of events begins and ends, not what a viewer can see (``service.games.model.views``), nor the order of
published events (``service.games.queries.subscription``). Does not depend on how results are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from threading import BoundedSemaphore
from typing import Final

from service.engine.events import Dealt, RoundEnded
from service.engine.layout import Layout, empty_layout
from service.engine.replay import layout_after
from service.games.access import Access, seat_of_hash
from service.games.model.forks import export_record
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, revokes, seat_after
from service.games.model.views import (
    WITH_NAME,
    EventPage,
    EventView,
    GameView,
    LegalMoves,
    Reset,
    ScoreCard,
    TableView,
    legal_moves_for,
    standings,
    view_event,
    view_game,
    view_table,
)
from service.games.ports import EventFeed
from service.games.queries.fairness import FairnessReport, fairness_report, is_provable
from service.games.queries.subscription import EventSubscription, Subscriber
from service.games.store.repository import GameRepository
from service.records.record import Record
from service.redis.errors import StorageUnavailable

_MAX_CATCHING_UP: Final = 16
"""The maximum number of subscriptions that read the store at the same time; commands use the other connections."""

_NO_CURSOR: Final = -1
"""A cursor without a next event, so that the page is a ``Reset``."""


class GameQueries:
    """The queries on the games of a repository; ``feed`` publishes their new events.

    ``score``, ``fairness``, ``record``, ``events``, ``layout_at`` and ``table`` of an earlier version read the store:
    they raise ``StorageUnavailable``, and ``NotFound`` if the game has expired.
    """

    def __init__(self, repository: GameRepository, feed: EventFeed) -> None:
        self._repository = repository
        self._feed = feed
        self._catching_up = BoundedSemaphore(_MAX_CATCHING_UP)

    def view(self, access: Access) -> GameView:
        """Return what the viewer can see of the game."""
        return view_game(access.game, access.viewer, self._repository.lifetimes)

    def legal_moves(self, access: Access) -> LegalMoves:
        """Return the legal moves of the viewer's seat."""
        game, seat = access.game, access.seat
        deadline = None if game.clock is None else game.shown_deadline
        return LegalMoves(game.version, game.state.turn, game.to_act, legal_moves_for(game, seat), deadline)

    def score(self, access: Access) -> ScoreCard:
        """Return the score card: the standings, and the result of every finished round."""
        game = access.game
        settlement = game.rules.settlement if game.status == "finished" else None
        ends = self._repository.histories.events(game, game.round_ends)
        return ScoreCard(
            view=view_game(game, access.viewer, self._repository.lifetimes),
            standings=standings(game),
            rounds=tuple([event.round for event in ends if isinstance(event, RoundEnded)]),
            settlement=None if settlement is None else settlement(game.state),
        )

    def table(self, access: Access, version: int | None) -> TableView:
        """Return the table at this version, rebuilt from the events of its round, or the current one."""
        game = access.game
        if version is None or version == game.version:
            return view_table(game, game.version, game.state.round, game.state.layout)
        events = self._repository.histories.events_of_round(game, version)
        dealt = events[0]
        round_number = dealt.round if isinstance(dealt, Dealt) else 0
        layout = _layout_after(game, events)
        if layout is None:
            raise StorageUnavailable("events were lost")
        return view_table(game, version, round_number, layout)

    def fairness(self, access: Access) -> FairnessReport:
        """Return the proofs of the deals that can be revealed already; the same for every viewer."""
        game = access.game
        history = self._repository.histories.history(game)[: game.version] if is_provable(game) else []
        return fairness_report(game, [envelope.event for envelope in history])

    def record(self, access: Access) -> Record:
        """Return the game as a record, with what the viewer can see."""
        game, seat = access.game, access.seat
        return export_record(game, self._repository.histories.history(game)[: game.version], seat)

    def events(self, access: Access, after: int, limit: int) -> EventPage:
        """Return at most ``limit`` events after a version, as the viewer can see them.

        If the events have expired, or the version does not exist yet, the page is only a ``Reset``; this raises
        ``Unauthorized`` if the token was revoked. Another page ends with the event that revoked it.
        """
        return self._page(_subscriber(access), after if after <= access.game.version else _NO_CURSOR, limit)

    def at_version(self, access: Access, page: EventPage) -> Access:
        """Return the access of the viewer to the game at the version of a page. Raises ``Unauthorized``."""
        game = access.game
        if game.version < page.version:
            game = self._after_write(_subscriber(access), page.version, page.write_id).game
            if game.version < page.version:
                raise StorageUnavailable("events were lost")
        seat = access.seat
        if seat is not None and game.room is not None:
            seat = game.room.seat_then(seat, page.version)
        return access._replace(game=self._repository.histories.at_version(game, page.version), seat=seat)

    def seating_at(self, access: Access, version: int) -> tuple[int | None, tuple[str | None, ...]]:
        """Return the seat of the viewer, and the current names of players by seat, numbered as at a version."""
        seat, room = access.seat, access.game.room
        names = tuple([player.name for player in access.game.seats])
        if room is None or not room.began or version >= room.began_at:
            return seat, names
        named = dict(zip(room.began, names, strict=True))
        places = tuple([named.get(place) for place in range(room.places)])
        return None if seat is None else room.seat_then(seat, version), places

    def layout_at(self, access: Access, version: int) -> Layout | None:
        """Return the layout at a version (0: before the game was created); ``None`` if it is unknown."""
        game = access.game
        if version == game.version:
            return game.state.layout
        return _layout_after(game, self._repository.histories.events_of_round(game, version))

    def at_cursor(self, subscription: EventSubscription) -> Access:
        """Return the access of the subscriber to the game at its cursor or newer. Raises ``Unauthorized``."""
        return self._after_write(subscription.subscriber, subscription.cursor, subscription.write_id)

    def subscribe(self, access: Access, after: int) -> EventSubscription:
        """Return a subscription to the events after a version, as the viewer can see them. Must be closed."""
        if after > access.game.version:
            after = _NO_CURSOR  # if the game reaches this version later, it will not be the one that the client saw
        return EventSubscription(
            _subscriber(access),
            after,
            self._feed,
            self._page,
            slots=self._catching_up,
            ttl_seconds=min(self._repository.lifetimes) / 1000,
            on_wait=self._repository.attendance.record_waiting,
        )

    def _page(self, subscriber: Subscriber, after: int, limit: int) -> EventPage:
        seat = subscriber.seat
        histories = self._repository.histories
        stored = histories.event_range(subscriber.game, after, limit)
        if after > stored.version or stored.first > after + 1:
            return self._reset(subscriber)
        envelopes = histories.decoded(stored, subscriber.created_at)
        named = any([isinstance(envelope.event, WITH_NAME) for envelope in envelopes])
        game = self._repository.reader.reload(subscriber.game) if named else None
        events: list[EventView] = []
        for envelope in envelopes:
            events.append(view_event(envelope, seat, game))
            if envelope.version > subscriber.version and seat is not None:
                if revokes(envelope.event, seat):
                    break  # later events are for the bearer of the new token, or for the next player of the seat
                seat = seat_after(envelope.event, seat)
        reached = after + len(events)
        write_id = subscriber.write_id if reached == subscriber.version else ""
        return EventPage(tuple(events), reached, more=reached < stored.version, write_id=write_id)

    def _reset(self, subscriber: Subscriber) -> EventPage:
        game = self._repository.reader.reload(subscriber.game)
        view = view_game(game, _access(subscriber, game).viewer, self._repository.lifetimes)
        reset = EventView(view.version, view.updated_at, Reset(view), view.view.to_act)
        return EventPage((reset,), view.version, more=False, write_id=game.write_id)

    def _after_write(self, subscriber: Subscriber, version: int, write_id: str) -> Access:
        return _access(subscriber, self._repository.reader.after_write(subscriber.game, version, write_id))


def _layout_after(game: Game, events: Sequence[GameEvent]) -> Layout | None:
    """Return the layout after these events of a round; ``None`` if it is unknown."""
    empty: Layout | None = empty_layout(game.rules.form)
    return reduce(partial(layout_after, game.rules), events, empty)


def _subscriber(access: Access) -> Subscriber:
    game, seat = access.game, access.seat
    token_hash = None if seat is None else game.seats[seat].token_hash
    return Subscriber(
        game.id,
        game.created_at,
        seat,
        token_hash,
        game.version,
        game.write_id,
        finished=game.status == "finished",
        app=access.app,
        waits=game.seats.are_open and (seat is not None or access.app is not None),
    )


def _access(subscriber: Subscriber, game: Game) -> Access:
    """Return the access of the subscriber to the current game. Raises ``Unauthorized`` if the token was revoked."""
    seat = None if subscriber.seat is None else seat_of_hash(subscriber.token_hash, game)
    return Access(game, seat, app=subscriber.app)
