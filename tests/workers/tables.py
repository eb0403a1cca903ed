"""Hosted games with computer players, and what has happened in them."""

from __future__ import annotations

import redis
from prometheus_client import CollectorRegistry

from service.bots.choice import choose_move
from service.engine.variants import variants
from service.games.automation.due import Automation
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.model.schedule import Lifetimes
from service.games.model.views import CreatedGame
from service.games.ports import RandomBytes, Store
from service.games.reminders import ReminderQueue
from service.games.store.admission import StoragePolicy
from service.games.store.notifications import RedisEventFeed
from service.games.store.repository import GameRepository
from service.redis.topology import SingleNodeTopology, open_topology
from service.workers.bot_worker import BotWorker, Choose, Decisions, RoundEvents
from service.workers.consumer import Queue
from service.workers.metrics import WorkerMetrics
from tests.laws.matches import SHORTENED
from tests.support.games import build_games, build_repository
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.support.stores.simulated_clock import under_clock

TTL = 86_400
VARIANTS = sorted(variants())


def request(
    variant: str = "domino",
    seats: str = "rr",
    *,
    seed: str | None = "seed",
    clock: ClockSettings | None = None,
    pace: int | None = None,
    network: str = "",
) -> GameRequest:
    """A game of a network, with a seat for each letter: a person (p), or a bot: random (r), greedy (g), expert (e)."""
    levels = {"r": "random", "g": "greedy", "e": "expert"}
    players = [
        SeatRequest("human", f"Player {seat}") if letter == "p" else SeatRequest("bot", level=levels[letter])
        for seat, letter in enumerate(seats)
    ]
    return GameRequest(
        variant, tuple(players), dict(SHORTENED.get(variant, ())), seed, clock=clock, pace=pace, network=network
    )


def fewest(variant: str) -> int:
    """The fewest players of a variant."""
    return variants()[variant].players[0]


class Hosted:
    """The use cases on a store, without the web."""

    def __init__(self, games: GamesFacade) -> None:
        self.games = games

    def create(self, wanted: GameRequest) -> CreatedGame:
        return self.games.commands.create(wanted).answer

    def game(self, game_id: str) -> Game:
        return self.games.access.authenticate(game_id, None).game

    def events(self, game_id: str) -> list[GameEvent]:
        """All events of the game, without their times."""
        repository: GameRepository = self.games.access._repository
        return [each.event for each in repository.histories.history(self.game(game_id))]


def on_redis(url: str) -> Hosted:
    """Games on a real server; whatever is needed is opened anew, so that the server may have been restarted."""
    topology = open_topology(url)
    return Hosted(
        build_games(
            redis_store(topology, TTL), RedisEventFeed(topology), [b"s"], TTL, reminders=redis_reminders(topology)
        )
    )


class InProcess(Hosted):
    """Games with a bot worker in this process, at a time that only the test moves: on a server, or in ``store``."""

    def __init__(
        self,
        choose: Choose = choose_move,
        random_bytes: RandomBytes | None = None,
        *,
        server: redis.Redis | None = None,
    ) -> None:
        self.now = 1_800_000_000_000
        self.store = MemoryStore(TTL, lambda: self.now / 1000)
        clock = lambda: self.now  # noqa: E731 # a clock
        store: Store = self.store
        queue: ReminderQueue = self.store
        if server is not None:
            topology = under_clock(SingleNodeTopology(server), clock)
            store, queue = redis_store(topology, TTL), redis_reminders(topology)
        policy = StoragePolicy(Lifetimes.at_most(TTL * 1000))
        super().__init__(
            build_games(
                store,
                self.store,
                clock=clock,
                random_bytes=_Counted(),
                secrets=[b"s"],
                ttl_seconds=TTL,
                reminders=queue,
            )
        )
        self.repository = build_repository(store, clock, random_bytes or _Counted(b"w"), policy)
        self.automation = Automation(self.repository)
        self.registry = CollectorRegistry()
        self.metrics = WorkerMetrics(self.registry)
        self.decisions = Decisions(RoundEvents(self.repository), self.metrics, choose)
        self.clock = clock
        self.queue = Queue(queue, self.clock, self.metrics)
        self.worker = self.new_worker()

    def new_worker(self) -> BotWorker:
        return BotWorker(self.automation, self.decisions, self.queue)

    def step(self, worker: BotWorker | None = None) -> float:
        """One step, which looks for games at once."""
        worker = worker or self.worker
        for source in worker._sources:
            source.next_poll = 0.0
        return worker.step()

    def play_out(self, game_id: str) -> list[GameEvent]:
        """Play a game without people to its end, undisturbed; returns all its events."""
        for _ in range(20_000):
            if self.game(game_id).status == "finished":
                return self.events(game_id)
            self.step()
        raise AssertionError("the match does not end")


class _Counted:
    """Bytes that are different at every call, and the same in every run."""

    def __init__(self, prefix: bytes = b"") -> None:
        self._prefix = prefix
        self._calls = 0

    def __call__(self, size: int, /) -> bytes:
        self._calls += 1
        return (self._prefix + self._calls.to_bytes(8, "big")).rjust(size, b"\0")[-size:]


def undisturbed(wanted: GameRequest) -> list[GameEvent]:
    """The events of this match of computer players, played in one process without a fault.

    With a seed every decision is determined, so that any other run must have exactly these events.
    """
    table = InProcess()
    return table.play_out(table.create(wanted).view.id)
