"""The law of banks: no sequence of commands buys time.

A seat never uses more than its bank, the increments that it has earned, and once in a match what a return grants. What
is used is counted here, by a clock that only goes on between two commands and by what the views show: who is on turn,
and whether its time runs. The commands are those of the service, on a store in memory: players move, leave and come
back, change their tokens, claim and begin rematches; their application renames them, changes their tokens, and has
them leave and come back.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

import pytest

from service.engine.errors import Refusal
from service.engine.moves import DEAL
from service.engine.presence import ABSENCES, Absence
from service.engine.referee import legal_moves
from service.games.access import Access
from service.games.automation.due import Automation
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import GRACE_MS, RETURN_MS, ClockSettings
from service.games.model.errors import MoveRefused
from service.games.model.game import Game
from service.games.model.schedule import bot_turn, time_out_due
from service.games.model.seats import BOT, HUMAN, SeatKind
from tests.conftest import Figures
from tests.support.games import build_games, build_repository
from tests.support.lanes import fewer
from tests.support.stores.memory_store import MemoryStore

pytestmark = pytest.mark.gate

APP: Final = "A" * 24
SEQUENCES: Final = 40
"""Of each kind of absence, in the nightly lane."""
COMMANDS: Final = 160
SECOND: Final = 1_000
BANKS: Final = (
    ClockSettings(bank=10 * SECOND),
    ClockSettings(bank=10 * SECOND, increment=2 * SECOND),
    ClockSettings(bank=30 * SECOND),
)
SEATS: Final[tuple[tuple[SeatKind, ...], ...]] = ((HUMAN, HUMAN), (HUMAN, HUMAN, HUMAN), (HUMAN, HUMAN, BOT))
ONCE: Final = RETURN_MS + 2 * GRACE_MS
"""What a seat has beyond its bank and its increments: what a return grants, and the grace of an answer under way, which
is owed to the bank; a return has that forgotten, once.
"""


def time_over(game: Game) -> int | None:
    """When the time for the running turn or deal is over for good, or others may claim; ``None`` without a deadline."""
    return None if game.deadline is None else game.deadline + GRACE_MS


class Sequence:
    """A random sequence of commands, and the time that each seat uses meanwhile."""

    def __init__(self, clock: ClockSettings, seed: str) -> None:
        self.random = Random(seed)
        self.clock = clock
        self.kinds = self.random.choice(SEATS)
        self.now = 1_767_728_000_000
        self.store = MemoryStore(30 * 86_400, lambda: self.now / 1000)
        self.games = build_games(
            self.store,
            self.store,
            clock=lambda: self.now,
            random_bytes=self.random.randbytes,
            secrets=[b"a secret"],
            ttl_seconds=30 * 86_400,
            reminders=self.store,
        )
        repository = build_repository(self.store, lambda: self.now, self.random.randbytes)
        self.automation = Automation(repository)
        self.figures: Counter[str] = Counter()
        seats = [
            SeatRequest(kind, name, level="greedy" if kind == BOT else None)
            for kind, name in zip(self.kinds, ("Ada", "Bo", "Cy"), strict=False)
        ]
        created = self.games.commands.create(
            GameRequest("domino", tuple(seats), {}, seed=seed, clock=clock, pace=0, app=APP)
        ).answer
        self.begin(created.view.id, {each.seat: each.token for each in created.seats})

    def begin(self, game: str, tokens: dict[int, str]) -> None:
        """Count anew, for a new match."""
        self.id, self.tokens = game, tokens
        self.used: Counter[int] = Counter()
        self.earned: Counter[int] = Counter()

    def run(self) -> None:
        acts: tuple[tuple[Callable[[], None], int], ...] = (
            *((self.wait, 8), (self.move, 6), (self.leave, 5), (self.come_back, 9), (self.claim, 4)),
            *((self.change_token, 1), (self.rename, 1), (self.serve, 6), (self.begin_rematch, 4)),
        )
        for _ in range(COMMANDS):
            (act,) = self.random.choices([act for act, _ in acts], [weight for _, weight in acts])
            before = self.game
            with contextlib.suppress(Refusal, MoveRefused):
                act()
                self.figures[act.__name__] += 1
            self.earn(before, self.game)
            self.judge()

    def earn(self, before: Game, after: Game) -> None:
        """The increment of a seat whose turn has ended, if it was there."""
        seat = before.state.turn
        if before.id == after.id and seat is not None and after.state.turn != seat:
            self.earned[seat] += 0 if seat in after.presence.away else self.clock.increment

    def judge(self) -> None:
        for seat, used in self.used.items():
            granted = self.clock.bank + self.earned[seat] + ONCE
            assert used <= granted, f"seat {seat} of {self.kinds} has used {used} of {granted} ms"

    # What may happen

    def wait(self) -> None:
        """Time passes: to the last moment of a turn, to its deadline, or some of it; what follows meanwhile follows."""
        game, until = self.game, self.now + self.random.choice((50, 500, 3 * SECOND))
        over = time_over(game)
        if over is not None and self.random.random() < 0.8:
            until = max(self.now, over - self.random.choice((1, 1, 50, GRACE_MS, 2 * SECOND)))
        while self.now < until:
            due = time_out_due(self.game)
            step = until if due is None else max(min(until, due), self.now)
            self.count(step - self.now)
            self.now = step
            self.follow()
            if due is not None and due > until:
                break
        self.follow()

    def count(self, passed: int) -> None:
        """Count time for the seat whose clock runs; where others may claim, only until they may."""
        game = self.game
        seat, over = game.state.turn, time_over(game)
        if seat is not None and over is not None and game.status == "playing":
            self.used[seat] += min(passed, max(over - self.now, 0))

    def follow(self) -> None:
        """What follows from a deadline, as soon as it does."""
        due = time_out_due(self.game)
        if due is not None and due <= self.now:
            self.figures["time-outs"] += self.automation.time_out(self.id, self.store.read_clock(self.id)) is not None

    def move(self) -> None:
        game = self.game
        seat = self.random.choice([seat for seat in game.to_act if seat in self.tokens] or list(self.tokens))
        moves = legal_moves(game.rules, game.state, seat) or (DEAL,)
        self.games.commands.make_move(self.access(seat), MoveCommand(self.random.choice(moves)))

    def leave(self) -> None:
        self.set_presence(away=True)

    def come_back(self) -> None:
        self.set_presence(away=False)

    def set_presence(self, *, away: bool) -> None:
        """By a player or the application; mostly for who is on turn."""
        seats, turn = list(self.tokens), self.game.state.turn
        seat = turn if turn in seats and self.random.random() < 0.7 else self.random.choice(seats)
        assert seat is not None
        access = self.access(seat) if self.random.random() < 0.7 else self.owner(seat)
        self.games.commands.set_presence(access, away=away)

    def claim(self) -> None:
        seat = self.game.state.turn
        if seat is not None:
            self.games.commands.claim(self.access(self.random.choice(list(self.tokens))), seat)

    def change_token(self) -> None:
        seat = self.random.choice(list(self.tokens))
        if self.random.random() < 0.5:
            answer = self.games.commands.change_token(self.owner(seat), seat).answer
        else:
            rotation = self.games.access.authorize_rotation(self.id, self.tokens[seat], seat, None)
            answer = self.games.commands.rotate_token(rotation).answer
        self.tokens[seat] = answer.token

    def rename(self) -> None:
        seat = self.random.choice(list(self.tokens))
        name = self.random.choice(("Ada", "Eve", "Zoe"))
        self.games.commands.rename(self.owner(seat), seat, {"name": name, "ref": f"{self.random.random()}"})

    def serve(self) -> None:
        """The service acts for a computer player."""
        turn = bot_turn(self.game)
        if turn is not None:
            moves = (DEAL,) if turn.action == "deal" else legal_moves(turn.game.rules, turn.game.state, turn.seat)
            self.automation.play(turn, self.random.choice(moves))

    def begin_rematch(self) -> None:
        """The next match, in which everybody has a whole bank and may be granted time again."""
        if self.game.status == "finished":
            tokens: dict[int, str] = {}
            for seat in self.tokens:
                joined = self.games.rematches.begin(self.access(seat)).answer
                tokens[joined.seat.seat] = joined.seat.token
            self.begin(joined.view.id, tokens)
            self.figures["rematches"] += 1

    # The parts

    @property
    def game(self) -> Game:
        return self.games.access.authenticate(self.id, None).game

    def access(self, seat: int) -> Access:
        return self.games.access.authenticate(self.id, self.tokens[seat])

    def owner(self, seat: int) -> Access:
        return Access(self.game, None, app=APP, target=seat)


@pytest.mark.parametrize("absence", ABSENCES)
def test_no_sequence_of_commands_buys_time(absence: Absence, figures: Figures) -> None:
    happened: Counter[str] = Counter()
    for number in range(fewer(SEQUENCES)):
        clock = BANKS[number % len(BANKS)]._replace(absence=absence)
        sequence = Sequence(clock, f"{absence} {number}")
        try:
            sequence.run()
        except Exception as broken:
            broken.add_note(f"sequence {number} of {clock}")
            raise
        happened += sequence.figures
    figures("banks", happened)
    for kind in ("move", "leave", "come_back", "change_token", "rename", "serve"):
        assert happened[kind], kind
    assert happened["claim" if absence == "claim" else "time-outs"]
