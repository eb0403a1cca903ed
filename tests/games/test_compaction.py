"""When the events of a game are compacted: once its match is over, and whoever made the last move need not know."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.moves import Move
from service.engine.options import Value
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import FINISHED
from service.engine.variants import variants
from service.games.access import Access
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.errors import MoveRefused
from service.games.model.game import Game
from service.games.model.views import GameView
from service.games.ports import PriorWrite, RunLater, StoredGame
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

TTL = 1000
VARIANT = "domino"
OPTIONS: dict[str, Value] = {"limit": 30}
SEED = "seed"


class Watched(MemoryStore):
    """A store that says what is compacted, and can fail at it, or be slow."""

    def __init__(self) -> None:
        super().__init__(TTL)
        self.compacted: list[int] = []
        self.fault: Exception | None = None
        self.time = 0.0
        self.slowness = 0.0
        self.lost: Callable[[], object] | None = None
        """What happens after the next commit, whose answer is lost."""

    def commit(self, *args: Any, **options: Any) -> StoredGame | PriorWrite | None:
        self.time += self.slowness
        answer = super().commit(*args, **options)
        happens, self.lost = self.lost, None
        if happens is not None:
            happens()
            raise OutcomeUnknown("lost")
        return answer

    def compact(self, game: str) -> None:
        stored = self.read(game)
        assert stored is not None
        self.compacted.append(stored.version)
        if self.fault is not None:
            raise self.fault
        super().compact(game)


@cache
def whole_match() -> list[tuple[int, Move]]:
    """The moves of a match, and who makes them."""
    rules, deck, rng = variants()[VARIANT].rules(OPTIONS, 2), Deck(seed_from_text(SEED)), Random(SEED)
    _, state = deal(rules, deck, rules.start())
    moves = []
    while state.phase != FINISHED:
        seat = 0 if state.turn is None else state.turn
        move = rng.choice(legal_moves(rules, state, seat))
        moves.append((seat, move))
        _, state = advance(rules, deck, state, seat, move=move)
    return moves


class Scene:
    """A match of two, and the workers that serve it."""

    def __init__(self) -> None:
        self.store = Watched()
        self._luck = Random(SEED)
        self.games = self.worker()
        people = (SeatRequest("human", "Ada"), SeatRequest("human", "Bo"))
        self.opened = self.games.commands.create(GameRequest(VARIANT, people, OPTIONS, SEED)).answer
        self._left = whole_match()[::-1]

    def worker(self, later: RunLater = lambda work: work()) -> GamesFacade:
        return build_games(
            self.store,
            self.store,
            clock=lambda: int((1_767_728_000 + self.store.time) * 1000),
            random_bytes=self._luck.randbytes,
            secrets=[b"s"],
            ttl_seconds=TTL,
            run_later=later,
        )

    @property
    def game(self) -> Game:
        return self.games.access.authenticate(self.opened.view.id, None).game

    def next(self) -> tuple[Access, MoveCommand]:
        """Who is to make the next move, and the move."""
        seat, move = self._left.pop()
        return Access(self.game, seat), MoveCommand(move)

    def move(self, games: GamesFacade | None = None) -> GameView:
        """Make the next move, perhaps by another worker."""
        return (games or self.games).commands.make_move(*self.next()).answer

    def play(self, *, left: int = 0) -> None:
        """Play on until so many moves are left."""
        while len(self._left) > left:
            self.move()

    def change_token(self, seat: int) -> None:
        token = self.opened.seats[seat].token
        self.games.commands.rotate_token(self.games.access.authorize_rotation(self.opened.view.id, token, seat, None))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_events_are_compacted_when_the_match_is_over_and_not_before(scene: Scene) -> None:
    scene.play(left=1)
    assert scene.store.compacted == []
    scene.move()
    assert scene.game.status == "finished"
    assert scene.store.compacted == [scene.game.version]


def test_who_makes_the_last_move_need_not_wait_until_events_are_compacted(scene: Scene) -> None:
    defer: list[Callable[[], None]] = []
    scene.play(left=1)
    assert scene.move(scene.worker(defer.append)).status == "finished"
    assert scene.store.compacted == []
    (work,) = defer
    work()
    assert scene.store.compacted == [scene.game.version]


def test_events_are_compacted_again_when_a_token_is_changed_after_the_match(scene: Scene) -> None:
    scene.change_token(1)
    scene.play()
    over = scene.game.version
    scene.change_token(0)
    assert scene.store.compacted == [over, over + 1]


@pytest.mark.parametrize(
    ("fault", "logged"),
    [(StorageUnavailable("away"), 0), (OutcomeUnknown("lost"), 0), (RuntimeError("the program is wrong"), 1)],
    ids=lambda each: type(each).__name__,
)
def test_a_move_is_made_though_its_events_cannot_be_compacted(
    scene: Scene, fault: Exception, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    scene.play(left=1)
    scene.store.fault = fault
    with caplog.at_level(logging.INFO):
        made = scene.move()
    assert made.status == "finished"
    assert scene.store.compacted == [scene.game.version]
    assert len(caplog.records) == logged


def test_a_store_that_is_slow_is_not_asked_to_compact(scene: Scene) -> None:
    scene.play(left=1)
    scene.store.slowness = 0.4
    scene.move()
    assert scene.game.status == "finished"
    assert scene.store.compacted == []


@pytest.mark.parametrize("made", [True, False])
def test_a_move_whose_answer_was_lost_before_its_game_was_compacted_may_be_made(scene: Scene, made: bool) -> None:
    """Whether it was made itself or another was made in its place, while it is sent again."""
    scene.play(left=3)
    entered, move = scene.next()
    other = scene.worker()
    if not made:
        other.commands.make_move(entered, move)
    scene.store.lost = lambda: [scene.move(other) for _ in range(2)]
    with pytest.raises(OutcomeUnknown):
        scene.games.commands.make_move(entered, move)


def test_a_move_that_comes_when_its_game_is_compacted_is_refused_as_ever(scene: Scene) -> None:
    late = scene.worker()
    scene.play(left=3)
    entered, move = scene.next()
    scene.games.commands.make_move(entered, move)
    scene.play()
    assert scene.store.compacted
    with pytest.raises(MoveRefused) as refused:
        late.commands.make_move(entered._replace(from_store=False), move)
    assert refused.value.cause.reason.word == "game_over"
    assert refused.value.version == scene.game.version
