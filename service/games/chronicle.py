"""What has happened in a game, told to who has come in: event by event, as a count, as a proof, as a record.

Owns where a telling begins, ends and begins anew. What a bearer may know of an event is ``service.games.look``'s to
say, the order of live events ``service.games.following``'s. Must not know how anything is shown, nor what is changed.
"""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Final

from service.engine.events import Round, RoundEnded
from service.games.answers import Entered
from service.games.errors import unauthorized
from service.games.fairness import Fairness, fairness_of
from service.games.following import Follower, Following
from service.games.game import Game, TokenChanged
from service.games.keeping import record_of
from service.games.ledger import Ledger, decode
from service.games.look import EventLook, EventPage, Reset, ScoreCard, look_at, look_at_event, standings
from service.games.ports import Feed
from service.records.record import Record

_TURNS: Final = 16
"""How many followers catch up at a time; connections are left for whoever plays."""

_NOWHERE: Final = -1
"""A cursor before all that is kept."""


class Chronicle:
    """The past of the games of a ledger, and what the feed tells of them from now on. ``ttl`` in milliseconds."""

    def __init__(self, ledger: Ledger, feed: Feed, ttl: int) -> None:
        self._ledger = ledger
        self._feed = feed
        self._ttl = ttl
        self._turns = BoundedSemaphore(_TURNS)

    def score(self, entered: Entered) -> ScoreCard:
        """The score card: the standings, and every round's count."""
        game = entered.game
        rules = game.rules
        settled = rules.settlement if game.status == "finished" else None
        return ScoreCard(
            look=look_at(game, entered.seat, self._ttl),
            standings=standings(game),
            rounds=self._rounds(game),
            settlement=None if settled is None else settled(game.state),
        )

    def fairness(self, entered: Entered) -> Fairness:
        """What is told of the luck of the game by now; the same for everybody."""
        game = entered.game
        return fairness_of(game, [each.event for each in self._ledger.history(game)[: game.version]])

    def record(self, entered: Entered) -> Record:
        """The game as a record, as the bearer may know it."""
        game, seat, _ = entered
        return record_of(game, self._ledger.history(game)[: game.version], seat)

    def events(self, entered: Entered, after: int, limit: int) -> EventPage:
        """At most ``limit`` of the events after a version, as the bearer may know them.

        If they are not kept any more, or the version has never been, the page holds a ``Reset`` alone. It ends where
        the bearer's seat was given a new token.
        """
        return self._page(_follower(entered), after if after <= entered.game.version else _NOWHERE, limit)

    def follow(self, entered: Entered, after: int) -> Following:
        """What happens in the game after a version, told as it happens, as the bearer may know it."""
        if after > entered.game.version:
            after = _NOWHERE  # it has never been; should it come about meanwhile, it is not what was meant
        return Following(
            _follower(entered), after, self._feed, self._page, turns=self._turns, ttl_seconds=self._ttl / 1000
        )

    def _page(self, follower: Follower, after: int, limit: int) -> EventPage:
        game, created_at, seat, _, entered, _ = follower
        passage = self._ledger.passage(game, after, limit)
        if after > passage.version or passage.first > after + 1:
            return self._reset(follower)
        told: list[EventLook] = []
        for version, data in enumerate(passage.events, passage.first):
            happened = decode(version, created_at, data)
            told.append(look_at_event(happened, seat))
            if version > entered and seat is not None and happened.event == TokenChanged(seat):
                break  # what comes after it is for the new token
        reached = after + len(told)
        return EventPage(tuple(told), reached, more=reached < passage.version)

    def _reset(self, follower: Follower) -> EventPage:
        game, seat = self._ledger.read_again(follower.game), follower.seat
        if seat is not None and game.seats[seat].token_hash != follower.token_hash:
            raise unauthorized()
        look = look_at(game, seat, self._ttl)
        return EventPage((EventLook(look.version, look.updated_at, Reset(look)),), look.version, more=False)

    def _rounds(self, game: Game) -> tuple[Round, ...]:
        events = self._ledger.events(game, game.round_ends)
        return tuple([event.round for event in events if isinstance(event, RoundEnded)])


def _follower(entered: Entered) -> Follower:
    game, seat, _ = entered
    token_hash = None if seat is None else game.seats[seat].token_hash
    return Follower(game.id, game.created_at, seat, token_hash, game.version, game.status == "finished")
