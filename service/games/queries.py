"""What has happened in a game, told to who has come in: event by event, as a count, as a proof, as a record.

Owns where a telling begins, ends and begins anew. What a bearer may know of an event is ``service.games.views``'s to
say, the order of live events ``service.games.subscription``'s. Must not know how anything is shown, nor what is
changed.
"""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Final

from service.engine.events import RoundEnded, RoundResult
from service.games.errors import unauthorized
from service.games.fairness import FairnessReport, fairness_report
from service.games.forks import export_record
from service.games.game import Game, TokenChanged
from service.games.ports import Feed
from service.games.repository import GameRepository, decode
from service.games.results import Access
from service.games.subscription import EventSubscription, Subscriber
from service.games.views import EventPage, EventView, Reset, ScoreCard, standings, view_event, view_game
from service.records.record import Record

_TURNS: Final = 16
"""How many followers catch up at a time; connections are left for whoever plays."""

_NO_CURSOR: Final = -1
"""A cursor before all that is kept."""


class GameQueries:
    """The past of the games of a ledger, and what the feed tells of them from now on. ``ttl`` in milliseconds."""

    def __init__(self, ledger: GameRepository, feed: Feed, ttl: int) -> None:
        self._ledger = ledger
        self._feed = feed
        self._ttl = ttl
        self._turns = BoundedSemaphore(_TURNS)

    def score(self, entered: Access) -> ScoreCard:
        """The score card: the standings, and every round's count."""
        game = entered.game
        rules = game.rules
        settled = rules.settlement if game.status == "finished" else None
        return ScoreCard(
            view=view_game(game, entered.seat, self._ttl),
            standings=standings(game),
            rounds=self._rounds(game),
            settlement=None if settled is None else settled(game.state),
        )

    def fairness(self, entered: Access) -> FairnessReport:
        """What is told of the luck of the game by now; the same for everybody."""
        game = entered.game
        return fairness_report(game, [each.event for each in self._ledger.history(game)[: game.version]])

    def record(self, entered: Access) -> Record:
        """The game as a record, as the bearer may know it."""
        game, seat, _ = entered
        return export_record(game, self._ledger.history(game)[: game.version], seat)

    def events(self, entered: Access, after: int, limit: int) -> EventPage:
        """At most ``limit`` of the events after a version, as the bearer may know them.

        If they are not kept any more, or the version has never been, the page holds a ``Reset`` alone. It ends where
        the bearer's seat was given a new token.
        """
        return self._page(_subscriber(entered), after if after <= entered.game.version else _NO_CURSOR, limit)

    def subscribe(self, entered: Access, after: int) -> EventSubscription:
        """What happens in the game after a version, told as it happens, as the bearer may know it."""
        if after > entered.game.version:
            after = _NO_CURSOR  # it has never been; should it come about meanwhile, it is not what was meant
        return EventSubscription(
            _subscriber(entered), after, self._feed, self._page, turns=self._turns, ttl_seconds=self._ttl / 1000
        )

    def _page(self, follower: Subscriber, after: int, limit: int) -> EventPage:
        game, created_at, seat, _, entered, _ = follower
        passage = self._ledger.event_range(game, after, limit)
        if after > passage.version or passage.first > after + 1:
            return self._reset(follower)
        told: list[EventView] = []
        for version, data in enumerate(passage.events, passage.first):
            happened = decode(version, created_at, data)
            told.append(view_event(happened, seat))
            if version > entered and seat is not None and happened.event == TokenChanged(seat):
                break  # what comes after it is for the new token
        reached = after + len(told)
        return EventPage(tuple(told), reached, more=reached < passage.version)

    def _reset(self, follower: Subscriber) -> EventPage:
        game, seat = self._ledger.reload(follower.game), follower.seat
        if seat is not None and game.seats[seat].token_hash != follower.token_hash:
            raise unauthorized()
        look = view_game(game, seat, self._ttl)
        return EventPage((EventView(look.version, look.updated_at, Reset(look)),), look.version, more=False)

    def _rounds(self, game: Game) -> tuple[RoundResult, ...]:
        events = self._ledger.events(game, game.round_ends)
        return tuple([event.round for event in events if isinstance(event, RoundEnded)])


def _subscriber(entered: Access) -> Subscriber:
    game, seat, _ = entered
    token_hash = None if seat is None else game.seats[seat].token_hash
    return Subscriber(game.id, game.created_at, seat, token_hash, game.version, game.status == "finished")
