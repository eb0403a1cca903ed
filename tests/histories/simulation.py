"""Simulated histories: clients that take turns by luck, several workers over one store, and everything fails.

One seed is one history, the same at every run. A client gives way wherever its request waits for the store; who goes
on is drawn. So the workers' requests are interleaved call by call, in one thread and without waiting for any clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import orjson
from greenlet import getcurrent, greenlet

from service.engine.errors import Refusal
from service.engine.moves import Move
from service.engine.variants import variants
from service.games.errors import MoveRefused
from service.games.game import HUMAN, OPEN_SEAT
from service.games.hosting import Entered, Games, Once
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.games.setup import GameRequest, SeatRequest
from service.storage.memory_store import MemoryStore
from service.web.present import present_look, present_opened, present_seat_token, present_taken
from tests.histories.checker import Verdict, check
from tests.histories.faults import FaultyStore, SimulatedTime
from tests.histories.history import Asked, History, Outcome, Told, Wish

TTL = 86_400
MOST_ATTEMPTS = 8

Send = Callable[[Games], Told]


class Result(NamedTuple):
    """What one history came to."""

    verdict: Verdict
    injected: Counter[str]


class Table:
    """A game as the clients know it: where it is, its tokens, the code for its open seats."""

    def __init__(self, game: str, tokens: dict[int, str], join_code: str | None) -> None:
        self.game = game
        self.join_code = join_code
        self._first = tokens
        self._next: dict[str, str] = {}

    def sit(self, seat: int, token: str) -> None:
        self._first[seat] = token

    def change(self, old: str, new: str) -> None:
        """Answers may come in any order, but each new token was bought with an old one."""
        self._next[old] = new

    def token(self, seat: int) -> str | None:
        """The newest one that is known."""
        token = self._first.get(seat)
        while token in self._next:
            token = self._next[token]
        return token

    @property
    def seats(self) -> list[int]:
        return sorted(self._first)


class World:
    """What all clients of a history share."""

    def __init__(self, seed: int, store: MemoryStore, secrets: tuple[bytes, ...] = (b"secret",)) -> None:
        self.luck = luck = Random(seed)
        self.history = History()
        self.tables: list[Table] = []
        self.keyed: list[tuple[Wish, Send]] = []
        self.injected: Counter[str] = Counter()
        time = SimulatedTime()
        rate = luck.choice((0.0, 0.05, 0.2, 0.4))
        self.truth = store
        self.store = FaultyStore(store, luck, rate, time=time, pause=_give_way, injected=self.injected)
        self.workers = [self._worker(time, secrets[number % len(secrets)]) for number in range(3)]
        self._names = 0

    def _worker(self, time: SimulatedTime, secret: bytes) -> Games:
        skew = self.luck.randrange(50)
        return Games(
            self.store,
            self.truth,
            clock=lambda: datetime.fromtimestamp((time.now + skew) / 1000, UTC),
            secrets=self.luck.randbytes,
            secret=secret,
            ttl_seconds=TTL,
        )

    def name(self) -> str:
        """One that nothing else has."""
        self._names += 1
        return f"N{self._names}"

    def run(self, clients: int) -> None:
        """Let so many clients do all they want, in an order that luck decides."""
        running = [greenlet(Client(self).run) for _ in range(clients)]
        while running:
            one = self.luck.choice(running)
            one.switch()
            if one.dead:
                running.remove(one)
            if self.luck.random() < 0.2:
                self.store.deliver()
        self.store.deliver_all()


class Client:
    """Somebody at all tables at once, who knows no patience."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._luck = world.luck

    def run(self) -> None:
        for _ in range(self._luck.randint(5, 20)):
            if not self._world.tables:
                self._create()
            else:
                what = (self._move, self._join, self._change_token, self._create, self._again)
                self._luck.choices(what, (75, 8, 4, 3, 10))[0]()

    def _create(self) -> None:
        key = self._key()
        variant = self._luck.choice(list(variants().values()))
        name = self._world.name()
        # Of one key, but not of one name: the scope of a key is what all creators share.
        seats = [SeatRequest(HUMAN, name)]
        seats += [
            self._luck.choice((SeatRequest(HUMAN, "B"), SeatRequest(OPEN_SEAT))) for _ in range(variant.players.low - 1)
        ]
        request = GameRequest(variant.key, tuple(seats), {})
        wish = Wish(kind="create", what=name, key=key)

        def send(games: Games) -> Told:
            opened, replayed = games.open(request, _once(key, name))
            if all(table.game != opened.look.id for table in self._world.tables):
                tokens = {each.seat: each.token for each in opened.seats}
                self._world.tables.append(Table(opened.look.id, tokens, opened.join_code))
            answer = orjson.dumps(present_opened(opened))
            return Told(Outcome.MADE, "", opened.look.id, answer, replayed, opened.look.version)

        self._wish(wish, send)

    def _join(self) -> None:
        self._join_at(self._luck.choice(self._world.tables))

    def _join_at(self, table: Table) -> None:
        code = table.join_code
        if code is None:
            return
        key, name = self._key("join", (table.game,)), self._world.name()
        wish = Wish(kind="join", game=table.game, what=name, scope=(table.game,), key=key)

        def send(games: Games) -> Told:
            entered = games.enter(table.game, None)
            taken, replayed = games.join(entered, code, name, _once(key, name))
            if not replayed or table.token(taken.seat.seat) is None:
                table.sit(taken.seat.seat, taken.seat.token)
            answer = orjson.dumps(present_taken(taken))
            return Told(Outcome.MADE, "", table.game, answer, replayed, taken.look.version)

        self._wish(wish, send)

    def _move(self) -> None:
        table = self._luck.choice(self._world.tables)
        try:
            game = self._any_worker().enter(table.game, None).game
        except StorageUnavailable:
            return
        if game.waiting and self._luck.random() < 0.9:
            self._join_at(table)
            return
        seat = game.state.turn
        if seat is None or table.token(seat) is None or self._luck.random() < 0.05:
            seat = self._luck.choice(table.seats)
        legal = self._any_worker().legal_moves(Entered(game, seat)).moves
        move = self._luck.choice(legal) if legal and self._luck.random() < 0.95 else Move("draw")
        at = self._luck.choices((game.version, None, game.version - 1), (60, 35, 5))[0]
        key = self._key("move", (table.game, seat))
        asked = Asked(move.action, None if move.tile is None else move.tile.name, move.end, move.face_down)
        wish = Wish(kind="move", game=table.game, seat=seat, what=asked, at=at, scope=(table.game, seat), key=key)

        def send(games: Games) -> Told:
            entered = games.enter_to_move(table.game, table.token(seat))
            look, replayed = games.move(entered, move, lambda now, _: at in (None, now), _once(key, f"{asked} {at}"))
            return Told(Outcome.MADE, "", table.game, orjson.dumps(present_look(look)), replayed, look.version)

        self._wish(wish, send)

    def _change_token(self) -> None:
        table = self._luck.choice(self._world.tables)
        seat = self._luck.choice(table.seats)
        old = table.token(seat)
        assert old is not None
        key, body = self._key("token", (table.game, seat, old)), self._world.name()
        if key is None and self._luck.random() < 0.8:
            return  # who loses this answer loses the seat
        wish = Wish(kind="token", game=table.game, seat=seat, what=body, scope=(table.game, seat, old), key=key)

        def send(games: Games) -> Told:
            changed, replayed = games.change_token(table.game, old, seat, _once(key, body))
            table.change(old, changed.token)
            return Told(Outcome.MADE, "", table.game, orjson.dumps(present_seat_token(changed)), replayed)

        self._wish(wish, send)

    def _again(self) -> None:
        """Ask once more for something that was asked for before, perhaps at the same time as its own client."""
        if self._world.keyed:
            wish, send = self._luck.choice(self._world.keyed)
            self._ask(wish, send)

    def _wish(self, wish: Wish, send: Send) -> None:
        wish = self._world.history.add(wish)
        if wish.key is not None:
            self._world.keyed.append((wish, send))
        self._ask(wish, send)

    def _ask(self, wish: Wish, send: Send) -> None:
        """Ask, and go on asking while that is safe and nothing is known, or until patience ends.

        It is safe while nothing was made, or, with a key, while nobody knows.
        """
        for _ in range(MOST_ATTEMPTS):
            told = self._world.history.ask(wish, lambda: _told(send, self._any_worker()))
            unknown = wish.outcome is Outcome.UNKNOWN
            safe = wish.key is not None or not unknown
            if not safe or not (unknown or told.code == "storage_unavailable") or self._luck.random() < 0.1:
                return

    def _any_worker(self) -> Games:
        return self._luck.choice(self._world.workers)

    def _key(self, kind: str = "create", scope: tuple[object, ...] = ()) -> str | None:
        """None, a new one, or now and then one that stands for something else already."""
        dice = self._luck.random()
        if dice < 0.3:
            return None
        taken = [wish.key for wish, _ in self._world.keyed if wish.kind == kind and wish.scope == scope]
        return self._luck.choice(taken) if taken and dice < 0.4 else self._world.name()


def simulate(seed: int, store: MemoryStore | None = None, secrets: tuple[bytes, ...] = (b"secret",)) -> Result:
    """One history, judged; over another ``store`` or with several ``secrets``, to see the judge find it out."""
    truth = MemoryStore(TTL) if store is None else store
    world = World(seed, truth, secrets)
    world.run(clients=world.luck.randint(2, 5))
    return Result(check(world.history, truth, world.store.created), world.injected)


def _give_way() -> None:
    """Let another client go on."""
    scheduler = getcurrent().parent
    assert scheduler is not None
    scheduler.switch()


def _told(send: Send, games: Games) -> Told:
    try:
        return send(games)
    except MoveRefused as refused:
        return Told(Outcome.NOT_MADE, refused.cause.code)
    except Refusal as refusal:
        return Told(Outcome.NOT_MADE, refusal.code)
    except StorageUnavailable:
        return Told(Outcome.NOT_MADE, "storage_unavailable")
    except OutcomeUnknown:
        return Told(Outcome.UNKNOWN, "outcome_unknown")


def _once(key: str | None, body: str) -> Once | None:
    return None if key is None else Once(key, body.encode())
