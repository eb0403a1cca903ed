"""Simulated histories: clients that take turns by luck, several workers over one store, and everything fails.

One seed is one history, the same at every run. A client gives way wherever its request waits for the store; who goes
on is drawn. So the workers' requests are interleaved call by call, in one thread and without waiting for any clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import orjson
from greenlet import getcurrent, greenlet

from service.engine.errors import Refusal
from service.engine.moves import Move
from service.engine.tiles import parse_tile
from service.games.access import Access
from service.games.commands import Expected, JoinCommand, MoveCommand
from service.games.errors import MoveRefused
from service.games.game import HUMAN, OPEN_SEAT
from service.games.idempotency import IdempotencyKey
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.games.service import GameService
from service.games.validation import GameRequest, SeatRequest
from service.storage.memory_store import MemoryStore
from service.web.serializers.game import created_game_json, game_view_json, joined_seat_json, seat_token_json
from tests.histories.checker import Verdict, check
from tests.histories.clients import Client, Door, Heard, Party, Seen
from tests.histories.faults import FaultyStore, SimulatedTime
from tests.histories.history import Asked, Outcome, Told

TTL = 86_400
WORKERS = 3
FAULT_RATES = (0.0, 0.05, 0.2, 0.4)


class Result(NamedTuple):
    """What one history came to."""

    verdict: Verdict
    injected: Counter[str]


class GamesDoor(Door):
    """Asks the use cases themselves, as the routes do."""

    def __init__(self, games: GameService) -> None:
        self._games = games

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Heard:
        def ask() -> Heard:
            seats = [SeatRequest(OPEN_SEAT) if name is None else SeatRequest(HUMAN, name) for name in names]
            opened, replayed = self._games.commands.create(GameRequest(variant, tuple(seats), {}), _once(key, names))
            told = _made(opened.view.id, created_game_json(opened), replayed=replayed, version=opened.view.version)
            return Heard(told, {each.seat: each.token for each in opened.seats}, opened.join_code)

        return _heard(ask)

    def join(self, game: str, join_code: str, name: str, key: str | None) -> Heard:
        def ask() -> Heard:
            entered = self._games.access.authenticate(game, None)
            command = JoinCommand(join_code, name, key=_once(key, name))
            taken, replayed = self._games.commands.join(entered, command)
            told = _made(game, joined_seat_json(taken), replayed=replayed, version=taken.view.version)
            return Heard(told, {taken.seat.seat: taken.seat.token})

        return _heard(ask)

    def move(self, game: str, token: str, move: Asked, at: int | None, key: str | None) -> Heard:
        def ask() -> Heard:
            entered = self._games.access.authenticate_cached(game, token)
            tile = None if move.tile is None else parse_tile(move.tile)
            asked = Move(move.action, tile, move.end, move.face_down)
            once = _once(key, (move, at))
            command = MoveCommand(asked, None if at is None else Expected(at), key=once)
            look, replayed = self._games.commands.make_move(entered, command)
            return Heard(_made(game, game_view_json(look), replayed=replayed, version=look.version))

        return _heard(ask)

    def change_token(self, game: str, token: str, seat: int, key: str | None) -> Heard:
        def ask() -> Heard:
            changing = self._games.access.authorize_rotation(game, token, seat, key)
            changed, replayed = self._games.commands.rotate_token(changing, _once(key, ""))
            return Heard(_made(game, seat_token_json(changed), replayed=replayed), {seat: changed.token})

        return _heard(ask)

    def see(self, game: str, token: Callable[[int], str | None], seat: int) -> Seen | None:
        try:
            now = self._games.access.authenticate(game, None).game
        except StorageUnavailable:
            return None
        if now.state.turn is not None and token(now.state.turn) is not None:
            seat = now.state.turn
        legal = [
            Asked(move.action, None if move.tile is None else move.tile.name, move.end, move.face_down)
            for move in self._games.queries.legal_moves(Access(now, seat)).moves
        ]
        return Seen(now.version, now.status, seat, legal)


class Simulation:
    """The workers, their clients, and the line between them and the store."""

    def __init__(self, seed: int, store: MemoryStore, secrets: Sequence[bytes]) -> None:
        self._truth = store
        self._luck = luck = Random(seed)
        self.party = Party()
        self.injected: Counter[str] = Counter()
        self._time = SimulatedTime()
        rate = luck.choice(FAULT_RATES)
        self.store = FaultyStore(store, luck, rate, time=self._time, pause=_give_way, injected=self.injected)
        self._doors = [
            GamesDoor(self._worker(store, secrets[number % len(secrets)], luck.randrange(50)))
            for number in range(WORKERS)
        ]

    def run(self) -> None:
        """Let some clients do all they want, in an order that luck decides, and now and then compact a game.

        Finished or not, for few are played to their end here.
        """
        running = [greenlet(self._live) for _ in range(self._luck.randint(2, 5))]
        while running:
            one = self._luck.choice(running)
            one.switch()
            if one.dead:
                running.remove(one)
            if self._luck.random() < 0.2:
                self.store.deliver()
            if self._luck.random() < 0.1 and self.store.created:
                self._truth.compact(self._luck.choice(sorted(self.store.created)))
        self.store.deliver_all()

    def _live(self) -> None:
        client = Client(self.party, self._luck, self._doors)
        if not self.party.tables:
            client.create()
        for _ in range(self._luck.randint(4, 16)):
            client.act()

    def _worker(self, feed: MemoryStore, secret: bytes, skew: int) -> GameService:
        """A worker whose clock goes before by ``skew`` milliseconds."""
        return GameService(
            self.store,
            feed,
            clock=lambda: int(self._time.now + skew),
            random_bytes=self._luck.randbytes,
            secret=secret,
            ttl_seconds=TTL,
        )


def simulate(seed: int, store: MemoryStore | None = None, secrets: Sequence[bytes] = (b"secret",)) -> Result:
    """One history, judged; over another ``store`` or with several ``secrets``, to see the judge find it out."""
    truth = MemoryStore(TTL) if store is None else store
    simulation = Simulation(seed, truth, secrets)
    simulation.run()
    return Result(check(simulation.party.history, truth, simulation.store.created), simulation.injected)


def _give_way() -> None:
    """Let another client go on."""
    scheduler = getcurrent().parent
    assert scheduler is not None
    scheduler.switch()


def _made(game: str, shown: object, *, replayed: bool, version: int | None = None) -> Told:
    return Told(Outcome.MADE, "", game, orjson.dumps(shown), replayed, version)


def _heard(ask: Callable[[], Heard]) -> Heard:
    try:
        return ask()
    except MoveRefused as refused:
        return Heard(Told(Outcome.NOT_MADE, refused.cause.code))
    except Refusal as refusal:
        return Heard(Told(Outcome.NOT_MADE, refusal.code))
    except StorageUnavailable:
        return Heard(Told(Outcome.NOT_MADE, "storage_unavailable"))
    except OutcomeUnknown:
        return Heard(Told(Outcome.UNKNOWN, "outcome_unknown"))


def _once(key: str | None, body: object) -> IdempotencyKey | None:
    return None if key is None else IdempotencyKey(key, repr(body).encode())
