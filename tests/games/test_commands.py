"""The commands where something happens between their access and their write."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.errors import Unauthorized
from service.games.model.seats import OPEN_SEAT
from service.games.model.views import CreatedGame
from service.games.ports import Commit, JoinCodeTaken, PriorWrite, StoredGame, WriteRequest
from service.games.reminders import NO_REMINDERS, Reminders
from service.games.store.idempotency import IdempotencyKey
from service.games.store.transactions import RETRY_BUDGET_MS
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

REQUEST = GameRequest("domino", (SeatRequest("human", "Ada"), SeatRequest("human", "Bo")), {"limit": 30}, "seed")


class SlowStore(MemoryStore):
    """A store whose reservations take a while, and whose next creations may get no answer."""

    def __init__(self) -> None:
        super().__init__(1000)
        self.now = 1_767_728_000_000
        self.reservation_ms = 0
        self.lost_answers = 0
        self.creations = 0
        self.taken_codes = 0

    def reserve(self, name: str, value: str) -> str:
        self.now += self.reservation_ms
        return super().reserve(name, value)

    def create(
        self,
        game: str,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        reminders: Reminders = NO_REMINDERS,
        tenant: str = "",
        code: bytes | None = None,
    ) -> PriorWrite | None:
        self.creations += 1
        if self.lost_answers:
            self.lost_answers -= 1
            raise OutcomeUnknown("lost")
        self.take_code(code)
        return super().create(game, state, events, write, reminders=reminders, tenant=tenant, code=code)

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        if commit.codes[0] != commit.codes[1]:
            self.take_code(commit.codes[1])
        return super().commit(game, commit, again=again)

    def take_code(self, code: bytes | None) -> None:
        """Let another game have this code, if any codes are to be taken."""
        if code is not None and self.taken_codes:
            self.taken_codes -= 1
            raise JoinCodeTaken


class Scene:
    """A store and a worker that serves it."""

    def __init__(self) -> None:
        self.store = SlowStore()
        drawn = iter(range(1, 10_000))
        self.games = build_games(
            self.store,
            self.store,
            clock=lambda: self.store.now,
            random_bytes=lambda size: next(drawn).to_bytes(size, "big"),
            secrets=[b"s"],
            ttl_seconds=1000,
        )

    def create(self) -> CreatedGame:
        return self.games.commands.create(REQUEST, IdempotencyKey("key", b"body")).answer


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_creation_without_an_answer_is_sent_once_more(scene: Scene) -> None:
    scene.store.lost_answers = 1
    scene.create()
    assert scene.store.creations == 2


def test_a_slow_reservation_uses_up_the_retry_budget_of_a_creation(scene: Scene) -> None:
    scene.store.reservation_ms, scene.store.lost_answers = RETRY_BUDGET_MS + 1, 1
    with pytest.raises(OutcomeUnknown):
        scene.create()
    assert scene.store.creations == 1


def test_a_code_of_another_game_is_not_given_nor_when_the_request_is_repeated(scene: Scene) -> None:
    commands = scene.games.commands
    request = REQUEST._replace(seats=(*REQUEST.seats[:1], SeatRequest(OPEN_SEAT)), app="an app")
    scene.store.taken_codes = 2
    keys = IdempotencyKey("key", b"body"), IdempotencyKey("other", b"body")
    created = [commands.create(request, keys[0]).answer.join_code for _ in range(2)]
    access = scene.games.access.authenticate_application(commands.create(request, keys[0]).answer.view.id, "an app")
    assert access is not None
    assert created == [access.game.ownership and access.game.ownership.join_code] * 2
    scene.store.taken_codes = 1
    changed = [commands.change_join_code(access, keys[1]).answer for _ in range(2)]
    assert scene.games.access.find_invited(changed[0], None).game.id == access.game.id
    assert changed == [changed[0]] * 2
    scene.store.taken_codes = 9
    for key in (None, IdempotencyKey("third", b"body")):
        with pytest.raises(StorageUnavailable):
            commands.create(request, key)
        with pytest.raises(StorageUnavailable):
            commands.change_join_code(access, key)
        scene.store.taken_codes = 9


@pytest.mark.parametrize("cached", [True, False])
def test_a_move_in_a_game_that_expired_after_its_access_is_unauthorized(scene: Scene, *, cached: bool) -> None:
    game = scene.create()
    authenticate = scene.games.access.authenticate_cached if cached else scene.games.access.authenticate
    accesses = [authenticate(game.view.id, each.token) for each in game.seats]
    assert {access.from_store for access in accesses} == {not cached}
    opener = next(access for access in accesses if scene.games.queries.legal_moves(access).moves)
    (move, *_) = scene.games.queries.legal_moves(opener).moves
    scene.store._games.clear()
    with pytest.raises(Unauthorized):
        scene.games.commands.make_move(opener, MoveCommand(move))
