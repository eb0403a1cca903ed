"""Games of applications, and what their index, their feed and the lobby should tell of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import orjson
import redis

from service.backends.index.summaries import index_entry
from service.backends.outbox import Outbox
from service.backends.values import IndexQuery, LobbyQuery
from service.engine.referee import legal_moves
from service.engine.variants import variants
from service.games.commands.create import new_game
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.errors import Gone
from service.games.model.following import advance_match
from service.games.model.game import Audience, Game, Ownership
from service.games.model.game_events import Created, GameEvent, Joined
from service.games.model.schedule import DAY_MS, Lifetimes
from service.games.model.seats import HUMAN, Seat, Seats
from service.games.model.waiting import deal_if_full
from service.games.ports import Store
from service.games.store.admission import StoragePolicy
from service.games.store.codec import encode_tombstone
from service.games.store.repository import DEFAULT_POLICY, GameRepository
from service.games.store.transactions import Decision
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology
from tests.support.games import build_repository
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.simulated_clock import under_clock
from tests.support.stores.stored_index import StoredIndex

START = 1_800_000_000_000
"""The time at which tests begin; milliseconds since 1970."""
TTL = 86_400


def application(number: int) -> str:
    """The id of an application."""
    return with_shard(f"application-number-{number:03}")


APP = application(1)


KEPT_LONG = StoragePolicy(Lifetimes(30 * DAY_MS, 30 * DAY_MS, 30 * DAY_MS))
"""Also games in which nobody moves: some tests let days pass."""


class Owned:
    """Games of applications in a store, at a time that only the test moves, with random choices that it seeds."""

    def __init__(self, store: Store, clock: Callable[[], int], seed: str = "seed") -> None:
        self.clock = clock
        self.random = Random(seed)
        self.store = store
        self.repository = self.new_repository()

    def new_repository(self) -> GameRepository:
        """Another process that works with the same store."""
        return build_repository(self.store, self.clock, self.random.randbytes, KEPT_LONG)

    def create(
        self,
        refs: Sequence[str | None] = ("anna", "ben"),
        *,
        app: str | None = APP,
        ref: str | None = None,
        open_seats: int = 0,
        lobby: Audience | None = "all",
        clock: ClockSettings | None = None,
        variant: str = "domino",
    ) -> str:
        """A game with a person for each ref, and open seats, in the lobby that ``lobby`` says; returns its id."""
        seats = [SeatRequest("human", f"Player {seat}") for seat in range(len(refs))]
        wanted = GameRequest(variant, (*seats, *[SeatRequest("open")] * open_seats), {}, "seed", clock=clock)
        rules = variants()[variant].rules({}, len(wanted.seats))
        game_id, start, random = with_shard(self.random.randbytes(11).hex()), rules.start(), self.random.randbytes
        new = new_game(wanted, rules, start, random, seed_bytes=random, game_id=game_id, now=self.clock())
        game = new.game
        if app is not None:
            named = zip(game.seats, (*refs, *[None] * open_seats), strict=True)
            game = game._replace(
                seats=Seats([seat._replace(ref=each) for seat, each in named]),
                ownership=Ownership(app, ref, new.join_code, lobby if open_seats else None),
            )
        events: list[GameEvent] = [Created()]
        game, events = deal_if_full(game, events)
        return self.repository.transactions.create(game, start, events, None).after.id

    def game(self, game_id: str) -> Game:
        """The game as it is stored."""
        return self.repository.reader.reload(game_id)

    def owner(self, game_id: str) -> str:
        """The application of a game, also of one that was deleted; empty without one."""
        try:
            game = self.repository.reader.load(game_id)
        except Gone as deleted:
            return deleted.app or ""
        return "" if game is None or game.ownership is None else game.ownership.app

    def play(self, game_id: str) -> None:
        """Make a move, or deal; nothing in a match that is over, or that has not begun."""
        game = self.game(game_id)
        if not game.to_act:
            return

        def decide(current: Game) -> Decision:
            seat = current.to_act[0]
            return advance_match(current, seat, self.random.choice(legal_moves(current.rules, current.state, seat)))

        self.repository.transactions.transact(game, decide)

    def join(self, game_id: str, ref: str | None = None) -> None:
        """Take an open seat, as somebody who has the join code does; nothing if there is none."""

        def decide(game: Game) -> Decision:
            seat = [each.kind for each in game.seats].index("open")
            name = f"Player {seat}"
            seats = tuple(
                [
                    Seat(HUMAN, name, b"hash", ref=ref) if place == seat else each
                    for place, each in enumerate(game.seats)
                ]
            )
            game = game._replace(seats=Seats(seats))
            if not game.seats.are_open and game.ownership is not None:
                game = game._replace(ownership=game.ownership._replace(join_code=None))
            return deal_if_full(game, [Joined(seat, name)])

        if self.game(game_id).seats.are_open:
            self.repository.transactions.transact(self.game(game_id), decide)


class Published(StoredIndex):
    """What an application can read."""

    def games(self, app: str = APP, **query: Any) -> list[dict[str, Any]]:
        """The summaries of all games that are found, in order."""
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self.index.find(app, IndexQuery(cursor=cursor, **query))
            found += [orjson.loads(summary) for summary, _ in page.games]
            cursor = page.next
            if cursor is None:
                return found

    def ids(self, app: str = APP, **query: Any) -> list[str]:
        """The ids of all games that are found, in order."""
        return [game["id"] for game in self.games(app, **query)]

    def public(self, app: str | None = None, variant: str | None = None) -> list[str]:
        """The ids of the games in the lobby of an application, or in that for everybody."""
        return [each["id"] for each in self.in_lobby(app, variant)]

    def in_lobby(self, app: str | None = None, variant: str | None = None) -> list[dict[str, Any]]:
        """The games in this lobby, the newest first."""
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self.lobby.games(LobbyQuery(app, variant, 200, cursor))
            found += map(orjson.loads, page.games)
            cursor = page.next
            if cursor is None:
                return found


def listing_of(games: Sequence[Game], app: str) -> list[dict[str, Any]]:
    """The listing that an application should have of these games, newest first, computed from the games alone."""
    own = [game for game in games if game.ownership is not None and game.ownership.app == app]
    return [
        orjson.loads(index_entry(game, DEFAULT_POLICY.lifetimes).summary)
        for game in sorted(own, key=lambda each: (each.updated_at, each.id), reverse=True)
    ]


def outbox_of(owned: Owned, published: Published) -> Outbox:
    """A messenger's way of following games, in a process of its own."""
    return Outbox(owned.new_repository(), published.index, published.lobby, owned.clock)


class Followed(Owned):
    """Games in memory at a time that only the test moves, and their index, which follows them on demand."""

    def __init__(self, server: redis.Redis) -> None:
        self.now = START
        self.memory = MemoryStore(TTL, lambda: self.now / 1000)
        super().__init__(self.memory, lambda: self.now)
        self.published = Published(under_clock(SingleNodeTopology(server), self.clock), TTL)
        self.outbox = outbox_of(self, self.published)

    def delete(self, game: str) -> None:
        self.memory.delete(game, encode_tombstone(APP), self.now, APP)

    def reminder(self, game: str) -> float | None:
        return self.memory._reminders["outbox"].get(game)
