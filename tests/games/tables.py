"""A hosted game in simulated time, whose players and the service act one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.engine.deal import ArrangedDeal
from service.engine.moves import DEAL, Move
from service.engine.referee import legal_moves
from service.engine.state import Phase
from service.games.access import Access
from service.games.automation.due import Automation
from service.games.commands.move import Expected, MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.model.forks import ForkSource
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.model.schedule import bot_turn
from service.games.model.seats import BOT, HUMAN, OPEN_SEAT
from service.games.model.views import GameView
from service.games.reminders import ReminderKind
from service.games.store.codec import decode_event
from service.games.store.transactions import Committed
from tests.support.games import build_games, build_repository
from tests.support.stores.memory_store import MemoryStore

_KINDS: tuple[ReminderKind, ...] = ("bots", "clock")

START = 1_767_728_000_000
TTL = 86_400
Choose = Callable[[tuple[Move, ...]], Move]


def first(moves: tuple[Move, ...]) -> Move:
    return moves[0]


class Hosted:
    """One game: ``h`` is a person, ``b`` a computer player, ``o`` an open seat. Times are milliseconds from now on."""

    def __init__(
        self,
        seats: str,
        clock: ClockSettings | None = None,
        *,
        key: str = "domino",
        options: dict[str, bool | int | str] | None = None,
        pace: int | None = None,
        seed: str | None = "a seed",
        deals: Sequence[ArrangedDeal] = (),
        source: ForkSource | None = None,
        store: type[MemoryStore] = MemoryStore,
    ) -> None:
        self.now = START
        self.store = store(TTL, lambda: self.now / 1000)
        self._drawn = 0
        self.games = build_games(
            self.store,
            self.store,
            clock=lambda: self.now,
            random_bytes=self._bytes,
            secrets=[b"a secret"],
            ttl_seconds=TTL,
            reminders=self.store,
        )
        self.service = self.another_service()
        kinds = {"h": HUMAN, "b": BOT, "o": OPEN_SEAT}
        requested = [
            SeatRequest(
                kinds[letter],  # type: ignore[arg-type] # a kind
                f"Ada {seat}" if letter == "h" else None,
                level="greedy" if letter == "b" else None,
            )
            for seat, letter in enumerate(seats)
        ]
        request = GameRequest(
            key,
            tuple(requested),
            options or {},
            None if deals or source else seed,
            tuple(deals),
            source,
            clock=clock,
            pace=pace,
        )
        created = self.games.commands.create(request).answer
        self.id = created.view.id
        self.tokens = {each.seat: each.token for each in created.seats}
        self.code = created.join_code

    def another_service(self) -> Automation:
        repository = build_repository(self.store, lambda: self.now, self._bytes)
        return Automation(repository)

    @property
    def game(self) -> Game:
        game = self.games.access.authenticate(self.id, None).game
        assert game.id == self.id
        return game

    @property
    def turn(self) -> int:
        seat = self.game.state.turn
        assert seat is not None
        return seat

    @property
    def left(self) -> int | None:
        """Milliseconds to the deadline."""
        deadline = self.game.deadline
        return None if deadline is None else deadline - self.now

    @property
    def banks(self) -> tuple[int, ...]:
        return self.game.running_clock.banks

    @property
    def due(self) -> dict[str, int | None]:
        """Milliseconds to the reminders in the store."""
        found = {kind: self.store._reminders[kind].get(self.id) for kind in _KINDS}
        return {kind: None if at is None else round(at) - self.now for kind, at in found.items()}

    def access(self, seat: int) -> Access:
        return self.games.access.authenticate(self.id, self.tokens[seat])

    def view(self, seat: int) -> GameView:
        return self.games.queries.view(self.access(seat))

    def wait(self, time: int) -> None:
        """Time passes in which players can move."""
        for _ in range(time // 4000):
            self.now += 4000
            self.store.beat()
        self.now += time % 4000
        self.store.beat()

    def move(
        self, seat: int | None = None, choose: Choose = first, *, expected: Expected | None = None, after: int = 0
    ) -> GameView:
        """A move of this person, or of the one who may move, after so many milliseconds."""
        self.now += after
        game = self.game
        seat = game.to_act[0] if seat is None else seat
        moves = legal_moves(game.rules, game.state, seat) or (DEAL,)
        return self.games.commands.make_move(self.access(seat), MoveCommand(choose(moves), expected)).answer

    def leave(self, seat: int) -> GameView:
        return self.games.commands.set_presence(self.access(seat), away=True)

    def come_back(self, seat: int) -> GameView:
        return self.games.commands.set_presence(self.access(seat), away=False)

    def claim(self, by: int, seat: int) -> GameView:
        return self.games.commands.claim(self.access(by), seat).answer

    def time_out(self) -> list[GameEvent]:
        committed = self.service.time_out(self.id, self.store.read_clock(self.id))
        return list(committed.events) if isinstance(committed, Committed) else []

    def lapse(self, time: int = 61_000) -> list[GameEvent]:
        """Let so much time pass, and time out."""
        self.now += time
        return self.time_out()

    def go_and_return(self, seat: int) -> None:
        self.leave(seat)
        self.come_back(seat)

    def play(self, choose: Choose = first) -> Committed:
        """What the service has to play."""
        turn = self.service.next_turn(self.id)
        assert turn is not None
        if turn.action == "deal":
            return self.service.play(turn, DEAL)
        return self.service.play(turn, choose(legal_moves(turn.game.rules, turn.game.state, turn.seat)))

    def until_turn(self, *seats: int) -> None:
        """Play on until it is the turn of one of these seats."""
        self.play_on(lambda game: game.state.turn in seats)

    def until(self, phase: Phase) -> None:
        self.play_on(lambda game: game.state.phase == phase)

    def play_on(self, until: Callable[[Game], bool], most: int = 2000) -> None:
        """Everybody plays, the service for those who are away, until something is so."""
        for _ in range(most):
            game = self.game
            if until(game):
                return
            if bot_turn(game) is not None:
                self.play()
            else:
                self.move(next(seat for seat in game.to_act if seat in self.tokens))
        raise AssertionError("it did not come to that")

    def events(self) -> list[GameEvent]:
        stored = self.store.event_range(self.id, 0, 100_000)
        assert stored is not None
        return [decode_event(version, START, data).event for version, data in enumerate(stored.events, 1)]

    def _bytes(self, size: int, /) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(size, "big")
