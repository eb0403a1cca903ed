"""Games with remote players in memory, and remote players that answer as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from threading import Thread
from typing import Any, NamedTuple

import orjson
from flask.testing import FlaskClient

from service.backends.remote_players import RemotePlayers
from service.games.model.clock import ClockSettings
from service.games.model.schedule import RemoteTurn
from service.games.model.seats import Remote
from service.workers.player_challenges import NoAnswer, PlayerAnswer, PlayerChallenges
from service.workers.remote_turns import Outcome, RemoteTurns
from service.workers.remote_worker import RemoteWorker
from tests.support.application import create_app
from tests.support.remote_games import APP, wanted
from tests.support.stores.memory_confirmed_urls import MemoryConfirmedUrls
from tests.workers.tables import TTL, InProcess

URL = "https://bots.example/"


class Asked(NamedTuple):
    """A message that was sent."""

    remote: Remote
    app: str
    id: str
    body: bytes

    @property
    def type(self) -> str:
        kind: str = orjson.loads(self.body)["type"]
        return kind

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = orjson.loads(self.body)["data"]
        return data


Behaviour = Callable[[Asked], PlayerAnswer]


def first_move(asked: Asked) -> PlayerAnswer:
    return PlayerAnswer(200, orjson.dumps(asked.data["view"]["legal_moves"][0]))


def says(status: int, body: bytes = b"", *, complete: bool = True) -> Behaviour:
    return lambda _: PlayerAnswer(status, body, complete)


def answers_the_challenge(asked: Asked) -> PlayerAnswer:
    return PlayerAnswer(200, asked.data["challenge"].encode())


def nothing(_: Asked) -> PlayerAnswer:
    raise NoAnswer


class Bot:
    """A remote player that behaves on the n-th message as the n-th behaviour says, and then plays."""

    def __init__(self, behaviours: Iterable[Behaviour] = ()) -> None:
        self.behaviours = list(behaviours)
        self.asked: list[Asked] = []

    def __call__(self, remote: Remote, app: str, message: str, body: bytes, /) -> PlayerAnswer:
        asked = Asked(remote, app, message, body)
        self.asked.append(asked)
        return self.behaviours.pop(0)(asked) if self.behaviours else first_move(asked)


class RemoteTable(InProcess):
    """Games with remote players, a remote worker and a bot worker, at a time that only the test moves.

    A letter of ``seats`` is a person (p), a remote player (x), or a computer player: random (r), greedy (g).
    """

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(random_bytes=Random(7).randbytes)  # so that its writes have ids of their own
        self.bot = Bot(behaviours)
        self.slept: list[float] = []
        self.players = RemotePlayers(self.repository)
        self.confirmed = MemoryConfirmedUrls()
        self.confirmed.confirm(APP, URL, self.now)
        seconds = lambda: self.now / 1000 + sum(self.slept)  # noqa: E731 # a clock
        challenges = PlayerChallenges(self.confirmed, self.bot, lambda: self.now, Random(8).randbytes, now=seconds)
        self.turns = RemoteTurns(self.players, self.bot, challenges, self.metrics, sleep=self.slept.append)
        self.hosts: dict[str, str] = {}
        self.remote_worker = self.new_remote_worker()
        self.tokens: dict[int, str] = {}
        self.http: FlaskClient = create_app(self.games).test_client()

    def new_remote_worker(self, spawn: Callable[[Callable[[], None]], object] = lambda work: work()) -> RemoteWorker:
        return RemoteWorker(self.players, self.turns, self.locate, self.queue, spawn=spawn, ttl=TTL * 1000)

    def locate(self, url: str, _: str) -> str:
        """What counts as the host of a URL."""
        return self.hosts.get(url, url)

    def new(
        self,
        seats: str = "xx",
        key: str = "domino",
        *,
        seed: str | None = "seed",
        clock: ClockSettings | None = None,
        url: str = URL,
        app: str = APP,
        network: str = "",
    ) -> str:
        created = self.create(wanted(key, seats, url, seed=seed, clock=clock)._replace(app=app, network=network))
        self.tokens = {each.seat: each.token for each in created.seats}
        return created.view.id

    def turn(self, game_id: str) -> RemoteTurn:
        turn = self.players.next_turn(game_id)
        assert turn is not None
        return turn

    def make(self, game_id: str) -> Outcome:
        return self.turns.make(self.turn(game_id))

    def reminder(self, game_id: str) -> float | None:
        return self.store._reminders["remote"].get(game_id)

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"domino_{name}", labels) or 0.0


def in_thread(work: Callable[[], None]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread
