"""Simulated histories: clients that run in random order, several workers over one store, and faults everywhere.

One seed is one history, the same at every run. A client yields wherever its request waits for the store; the next one
is drawn. So the workers' requests are interleaved call by call, in one thread and without waiting for any clock.
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
from service.games.commands.join import JoinCommand
from service.games.commands.move import Expected, MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.errors import MoveRefused
from service.games.model.seats import HUMAN, OPEN_SEAT
from service.games.store.idempotency import IdempotencyKey
from service.reasons import REASONS
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.web.view.serializers import created_game_json, game_view_json, joined_seat_json
from tests.histories.checker import Verdict, check
from tests.histories.clients import Client, Gateway, Party, Position, Response
from tests.histories.faults import FaultyStore, SimulatedTime
from tests.histories.history import MoveRequest, OperationResult, Outcome
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

TTL = 86_400
WORKERS = 3
FAULT_RATES = (0.0, 0.05, 0.2, 0.4)


class Result(NamedTuple):
    """The verdict on a history, and the faults that were injected."""

    verdict: Verdict
    injected: Counter[str]


class ServiceGateway(Gateway):
    """Calls the use cases as the routes do."""

    def __init__(self, games: GamesFacade) -> None:
        self._games = games

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Response:
        def send() -> Response:
            seats = [SeatRequest(OPEN_SEAT) if name is None else SeatRequest(HUMAN, name) for name in names]
            created, replayed = self._games.commands.create(
                GameRequest(variant, tuple(seats), {}), _idempotency_key(key, names)
            )
            result = _made(created.view.id, created_game_json(created), replayed=replayed, version=created.view.version)
            return Response(result, {each.seat: each.token for each in created.seats}, created.join_code)

        return _respond(send)

    def join(self, game: str, join_code: str, name: str, key: str | None) -> Response:
        def send() -> Response:
            access = self._games.access.authenticate(game, None)
            command = JoinCommand(join_code, name, key=_idempotency_key(key, name))
            joined, replayed = self._games.commands.join(access, command)
            result = _made(game, joined_seat_json(joined), replayed=replayed, version=joined.view.version)
            return Response(result, {joined.seat.seat: joined.seat.token})

        return _respond(send)

    def move(self, game: str, token: str, move: MoveRequest, at: int | None, key: str | None) -> Response:
        def send() -> Response:
            access = self._games.access.authenticate_cached(game, token)
            tile = None if move.tile is None else parse_tile(move.tile)
            command = MoveCommand(
                Move(move.action, tile, move.end, move.face_down),
                None if at is None else Expected(at),
                key=_idempotency_key(key, (move, at)),
            )
            view, replayed = self._games.commands.make_move(access, command)
            return Response(_made(game, game_view_json(view), replayed=replayed, version=view.version))

        return _respond(send)

    def rotate_token(self, game: str, token: str, seat: int, key: str | None) -> Response:
        def send() -> Response:
            rotation = self._games.access.authorize_rotation(game, token, seat, key)
            rotated, replayed = self._games.commands.rotate_token(rotation, _idempotency_key(key, ""))
            return Response(_made(game, rotated._asdict(), replayed=replayed), {seat: rotated.token})

        return _respond(send)

    def view(self, game: str, token: Callable[[int], str | None], seat: int) -> Position | None:
        try:
            now = self._games.access.authenticate(game, None).game
        except StorageUnavailable:
            return None
        if now.state.turn is not None and token(now.state.turn) is not None:
            seat = now.state.turn
        legal = [
            MoveRequest(move.action, None if move.tile is None else move.tile.name, move.end, move.face_down)
            for move in self._games.queries.legal_moves(Access(now, seat)).moves
        ]
        return Position(now.version, now.status, seat, legal)


class Simulation:
    """The workers, their clients, and the connection between workers and store."""

    def __init__(self, seed: int, store: MemoryStore, secrets: Sequence[Sequence[bytes]]) -> None:
        self._truth = store
        self._random = random = Random(seed)
        self.party = Party()
        self.injected: Counter[str] = Counter()
        self._time = SimulatedTime()
        rate = random.choice(FAULT_RATES)
        self.store = FaultyStore(store, random, rate, time=self._time, pause=_yield, injected=self.injected)
        self._gateways = [
            ServiceGateway(self._worker(store, secrets[number % len(secrets)], random.randrange(50)))
            for number in range(WORKERS)
        ]

    def run(self) -> None:
        """Let some clients act in a random order, and now and then compact a game.

        Also unfinished ones, for few games are played to their end here.
        """
        running = [greenlet(self._act) for _ in range(self._random.randint(2, 5))]
        while running:
            one = self._random.choice(running)
            one.switch()
            if one.dead:
                running.remove(one)
            if self._random.random() < 0.2:
                self.store.deliver()
            if self._random.random() < 0.1 and self.store.created:
                self._truth.compact(self._random.choice(sorted(self.store.created)))
        self.store.deliver_all()

    def _act(self) -> None:
        client = Client(self.party, self._random, self._gateways)
        if not self.party.tables:
            client.create()
        for _ in range(self._random.randint(4, 16)):
            client.act()

    def _worker(self, feed: MemoryStore, secrets: Sequence[bytes], skew: int) -> GamesFacade:
        """A worker whose clock is ahead by ``skew`` milliseconds."""
        return build_games(
            self.store,
            feed,
            clock=lambda: int(self._time.now + skew),
            random_bytes=self._random.randbytes,
            secrets=secrets,
            ttl_seconds=TTL,
        )


def simulate(
    seed: int, store: MemoryStore | None = None, secrets: Sequence[Sequence[bytes]] = ((b"secret",),)
) -> Result:
    """One history and its verdict, of workers with these ``secrets``; another ``store`` must be detected."""
    truth = MemoryStore(TTL) if store is None else store
    simulation = Simulation(seed, truth, secrets)
    simulation.run()
    return Result(check(simulation.party.history, truth, simulation.store.created), simulation.injected)


def _yield() -> None:
    """Yield to another client."""
    scheduler = getcurrent().parent
    assert scheduler is not None
    scheduler.switch()


def _made(game: str, shown: object, *, replayed: bool, version: int | None = None) -> OperationResult:
    return OperationResult(Outcome.MADE, "", game, orjson.dumps(shown), replayed, version)


def _respond(send: Callable[[], Response]) -> Response:
    try:
        return send()
    except MoveRefused as refused:
        return Response(OperationResult(Outcome.NOT_MADE, REASONS[refused.cause.reason.word]))
    except Refusal as refusal:
        return Response(OperationResult(Outcome.NOT_MADE, REASONS[refusal.reason.word]))
    except StorageUnavailable:
        return Response(OperationResult(Outcome.NOT_MADE, "storage_unavailable"))
    except OutcomeUnknown:
        return Response(OperationResult(Outcome.UNKNOWN, "outcome_unknown"))


def _idempotency_key(key: str | None, body: object) -> IdempotencyKey | None:
    return None if key is None else IdempotencyKey(key, repr(body).encode())
