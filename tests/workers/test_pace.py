"""The time of a computer player's answer tells nothing of its hand, also where the bot worker is behind.

The time is simulated, and so is how long a decision takes: a choice between several moves takes long, a move without an
alternative none.
"""

from __future__ import annotations

from random import Random

import pytest

from service.bots.knowledge import Observation
from service.engine.moves import DEAL, Move
from service.engine.referee import legal_moves
from service.engine.variant import Rules
from service.games.commands.move import MoveCommand
from service.games.model.game import Game
from tests.conftest import Figures
from tests.support.lanes import in_lane
from tests.workers.tables import InProcess, request
from tools.attack.pace import same_distribution

pytestmark = pytest.mark.gate

PACES = ((1, 0), (12, 0), (20, 0), (20, None))
"""Tables, and the pace that they ask for."""
LOOK_MS = 20
APART_MS = 2500
"""Tables begin one after the other, so that some are at the end of a round, where more is forced, when others begin."""
WANTED = 500
"""Forced answers, and free ones."""


class Slow:
    """Chooses the first move, which takes simulated time if there is another; beside it nothing takes any."""

    def __init__(self, random: Random, least: int, most: int) -> None:
        self.random, self.least, self.most = random, least, most
        self.table: InProcess

    def __call__(self, _rules: Rules, observation: Observation, _level: str, _decision_seed: bytes) -> Move:
        moves = observation.view.legal_moves
        if len(moves) > 1:
            self.table.now += self.random.randint(self.least, self.most)
        return moves[0]


class Answers:
    """How long after the event before each forced and each free answer of the seats of experts came."""

    def __init__(self, tables: int, pace: int | None) -> None:
        self.slow = Slow(Random(7), 30, 120)
        self.table = self.slow.table = InProcess(self.slow)
        self.pace, self.tables = pace, tables
        self.forced: list[int] = []
        self.free: list[int] = []
        self.number = 0
        self.began = self.table.now
        self.tokens: dict[str, str] = {}
        self.seen: dict[str, Game] = {}

    def play(self) -> None:
        """Play until there are enough."""
        for _ in range(200_000):
            if min(len(self.forced), len(self.free)) >= WANTED:
                return
            while len(self.seen) < min(self.tables, (self.table.now - self.began) // APART_MS + 1):
                self.number += 1
                wanted = request("latin", "peee", seed=f"{self.number}", pace=self.pace)
                created = self.table.create(wanted)
                self.tokens[created.view.id] = created.seats[0].token
                self.seen[created.view.id] = self.table.game(created.view.id)
            self.table.step()
            self.note()
            due = [task.at for task in self.table.worker._waiting[:1]]
            self.table.now = max(min([self.table.now + LOOK_MS, *due]), self.table.now)
        raise AssertionError("too few answers")

    def note(self) -> None:
        """Note the answers that came, and move for people at once."""
        for game_id, before in list(self.seen.items()):
            game = self.table.game(game_id)
            if game.version > before.version:
                self.add(before, game)
            while game.status != "finished" and 0 in game.to_act:
                access = self.table.games.access.authenticate(game_id, self.tokens[game_id])
                listed = self.table.games.queries.legal_moves(access).moves
                self.table.games.commands.make_move(access, MoveCommand(listed[0] if listed else DEAL))
                game = self.table.game(game_id)
            if game.status == "finished":
                del self.seen[game_id]
            else:
                self.seen[game_id] = game

    def add(self, before: Game, after: Game) -> None:
        """Note one answer, once all tables have begun."""
        seat = before.state.turn
        if seat is not None and len(self.seen) == self.tables:
            is_free = len(legal_moves(before.rules, before.state, seat)) > 1
            (self.free if is_free else self.forced).append(after.updated_at - before.updated_at)


@pytest.mark.parametrize(("tables", "pace"), in_lane(PACES, gate=PACES[::2]))
def test_forced_and_free_answers_come_after_the_same_times(tables: int, pace: int | None, figures: Figures) -> None:
    """One table leaves the worker time to spare; with twelve or more it is always behind."""
    answers = Answers(tables, pace)
    answers.play()
    p = same_distribution(answers.forced, answers.free)
    figures(f"forced and free answers, {tables} tables, pace {pace}", {"p": round(p, 3)})
    assert p > 0.05
