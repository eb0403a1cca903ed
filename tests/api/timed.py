"""The application with a clock that the test sets, and what the service does by itself when it is due.

Who looks at the games (``service.workers``) is not needed: the test lets the service act, at a time that it chooses. A
computer player makes its first legal move here; how one chooses is not tested here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from service.backends.facade import BackendsFacade
from service.engine.moves import DEAL
from service.engine.referee import legal_moves
from service.games.automation.due import Automation
from service.games.model.clock import GRACE_MS
from service.games.model.game import Game
from service.games.model.schedule import BotTurn, reminders
from service.games.reminders import ClockReading
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.games.store.transactions import Committed
from service.workers.scheduler import consequence_of
from tests.api.client import Api, Table
from tests.support.application import create_app
from tests.support.games import build_games
from tests.support.table import Json, seat_to_move

MAX_BOT_MOVES = 3000
"""More than any match of computer players here has."""


class SettableClock:
    """Milliseconds since 1970, which pass only when the test says so."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.now = int(datetime(2030, 1, 1, tzinfo=UTC).timestamp() * 1000)

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


class TimedApi(Api):
    """Asks an application whose ``clock`` the test sets; the service acts when the test lets it."""

    def __init__(
        self,
        store: RedisStore,
        feed: RedisEventFeed,
        secret: bytes,
        ttl_seconds: int,
        random_bytes: Callable[[int], bytes],
        backends: BackendsFacade | None = None,
    ) -> None:
        self.clock = SettableClock()
        games = build_games(
            store, feed, clock=self.clock, random_bytes=random_bytes, secrets=[secret], ttl_seconds=ttl_seconds
        )
        self.app = create_app(games, backends=backends)
        super().__init__(self.app.test_client(use_cookies=False))
        self._repository = games.access._repository
        self._automation = Automation(self._repository)

    def stored(self, table: Table) -> Game:
        """The game as it is stored."""
        return self._repository.reader.reload(table.id)

    def bot_turn(self, table: Table) -> BotTurn | None:
        """What the service has to play in this game."""
        return self._automation.next_turn(table.id)

    def let_bots_play(self, table: Table, most: int = MAX_BOT_MOVES) -> None:
        """Let the service play until it is the turn of a person, or the game sleeps or is over."""
        for _ in range(most):
            turn = self.bot_turn(table)
            if turn is None:
                return
            self.clock.now = max(self.clock.now, turn.due)
            if turn.action == "deal":
                self._automation.play(turn, DEAL)
            else:
                game = turn.game
                self._automation.play(turn, legal_moves(game.rules, game.state, turn.seat)[0])
        assert most < MAX_BOT_MOVES, "the computer players came to no end"

    def let_time_out(self, table: Table) -> bool:
        """Let the service act on the deadline of the game if it is due; whether it did."""
        return self.act(table.id) is not None

    def reminded(self, game: str) -> int | None:
        """When the service is to look at a game that waits, in milliseconds since 1970."""
        return reminders(None, self._repository.reader.reload(game)).get("clock")

    def act(self, game: str) -> str | None:
        """Let the service do in a game what is due; what that was, ``None`` for nothing."""
        result = self._automation.time_out(game, ClockReading(self.clock()))
        return consequence_of(result) if isinstance(result, Committed) else None

    def time_out(self, table: Table) -> int:
        """Let the running turn time out; the seat whose turn it was."""
        game = self.stored(table)
        assert game.deadline is not None
        self.clock.now = game.deadline + GRACE_MS
        assert self.let_time_out(table)
        assert game.state.turn is not None
        return game.state.turn

    def to_turn_of_person(self, table: Table) -> int:
        """Let the service play until it is the turn of a person, whose seat is returned."""
        self.let_bots_play(table)
        return seat_to_move(self.view(table))

    def events(self, table: Table, after: int = 0, seat: int | None = None) -> list[Json]:
        """The events after a version, as a seat may know them."""
        token = None if seat is None else table.tokens[seat]
        page = self.get(f"{table.path}/events?after={after}&limit=1000", token=token).get_json()
        events: list[Json] = page["events"]
        return events

    def set_presence(self, table: Table, seat: int, *, away: bool) -> Json:
        """Leave the seat, or come back; the game as the seat then sees it."""
        return self._body(self.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=table.tokens[seat]))

    def resign(self, table: Table, seat: int) -> Json:
        """Have the seat forfeit; the game as the seat then sees it."""
        return self._body(self.post(f"{table.path}/players/{seat}/resignation", {}, token=table.tokens[seat]), 201)


def types_of(events: list[Json]) -> list[tuple[str, int | None]]:
    """The type and the seat of each event."""
    return [(each["type"], each.get("seat")) for each in events]


def milliseconds(time: str) -> int:
    """A time of an answer, in milliseconds since 1970."""
    return round(datetime.fromisoformat(time).timestamp() * 1000)
