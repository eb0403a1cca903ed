"""The ways of requests and reminders through the service: what the calls of each are, once all caches are filled.

Plays games in this process as ``tools.trace`` does, with the real Redis adapter and an embedded server. Owns what is
done on each way; ``tests/tools/test_ceilings.py`` has the number of calls that each may have.

``python -m tests.tools.ways`` prints the numbers of today, with ``--json`` the calls, too. A move has some calls fewer
than in ``tools/trace.py``: several games are played with the same deals, so that more is in the caches.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry

from service.backends.outbox import Outbox
from service.bootstrap.secret_file import server_secrets
from service.bootstrap.storage import build_sender, build_worker_parts, open_storage
from service.bootstrap.web import build_app
from service.bots.choice import choose_move
from service.config import Settings
from service.devserver.embedded import EmbeddedServer
from service.games.automation.due import Automation
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings
from service.games.store.notifications import RedisEventFeed
from service.metrics import Metrics
from service.redis.server_clock import system_clock
from service.workers.bot_worker import BotWorker, Decisions, RoundEvents
from service.workers.consumer import Queue
from service.workers.messenger import Deliverer, OutboxWorker
from service.workers.metrics import WorkerMetrics
from service.workers.processes import lease_context
from service.workers.scheduler import Scheduler
from tests.backends.endpoints import Listener
from tests.support.apps import create_key
from tests.support.games import build_games
from tests.support.waiting import PATIENCE
from tools.trace import WARM_UP_MOVES, Answer, Client, Header, Trace, create_game, traced

REPEATS: Final = 8
MAX_REPEATS: Final = 80
"""So often each way is gone, until its shortest trace has come twice: now and then something is done on the side."""
MAX_MOVES: Final = 60
PEOPLE: Final = [{"name": name} for name in "ABCD"]
AN_HOUR: Final = 3_600_000


Traces = dict[str, Trace]
"""The calls of ways by their names."""


class Table:
    """A game over HTTP; ``key`` is that of the application that owns it."""

    def __init__(self, client: Client, variant: str = "fido", *, key: str | None = None, **wanted: Any) -> None:
        self._client = client
        wanted = {"variant": variant, "players": PEOPLE, "seed": "trace", **wanted}
        self.creation = create_game(client, wanted, key)
        self.view: dict[str, Any] = self.creation.body["game"]
        self.id: str = self.view["id"]
        self.path = f"/v1/games/{self.id}"
        self.tokens = {seat["seat"]: seat["token"] for seat in self.creation.body["seats"] if "token" in seat}
        self.laid = False
        """Whether the last move laid a tile, after which the round goes on."""

    def get(self, path: str, seat: int | None = None, *headers: Header) -> Answer:
        token = None if seat is None else self.tokens[seat]
        return self._client("GET", self.path + path, None, token, *headers)

    def look(self) -> None:
        """Read the view anew, after a move that was not made here."""
        self.view = self.get("").body

    def move(self, *headers: Header) -> Answer:
        """Make the first legal move of the first seat that may move."""
        seat = self.view["to_act"][0]
        move = self.get("/moves", seat).body["legal_moves"][0]
        answer = self._client("POST", f"{self.path}/moves", move, self.tokens[seat], *headers)
        self.view = answer.body
        self.laid = move["action"] == "play" and self.view["status"] == "playing"
        return answer


class Stage:
    """The application and the workers on one server."""

    def __init__(self, url: str, folder: str) -> None:
        environ = {"REDIS_URL": url, "DATA_DIR": folder, "LOG_LEVEL": "warning", "WEBHOOK_NETWORKS": "127.0.0.0/8"}
        settings = Settings.from_environ(environ)
        self.url = url
        self.client = Client(build_app(settings))
        registry = CollectorRegistry()
        kept, repository = build_worker_parts(settings, Metrics(registry))
        kept.clock.measure()
        metrics = WorkerMetrics(registry)
        queue = Queue(kept.reminders, kept.clock, metrics)
        decisions = Decisions(RoundEvents(repository), metrics, choose_move)
        self.bots = BotWorker(Automation(repository), decisions, queue)
        self.scheduler = Scheduler(Automation(repository), queue)
        self.outbox = Outbox(repository, kept.game_index, kept.lobby, kept.clock)
        storage = open_storage(settings, Metrics(CollectorRegistry()))
        self.past_games = build_games(
            storage.store,
            RedisEventFeed(storage.topology),
            server_secrets(settings.secret_key, settings.data_dir),
            settings.game_ttl_seconds,
            clock=lambda: system_clock() - AN_HOUR,
            reminders=storage.reminders,
        )
        """Games whose times were over long ago, for somebody who judges by the time of now."""
        self.key: str = create_key(url)
        self.publisher = OutboxWorker(self.outbox, queue, lambda work: work(), lambda: None)
        context = lease_context(
            kept, repository, build_sender(settings), metrics, begin_attempt=lambda work: work(), game_ttl=AN_HOUR
        )
        self.deliverer = Deliverer(context, queue, lambda work: work(), lambda: None)


def moves(stage: Stage) -> Traces:
    """A tile is laid, and the round goes on."""
    named: dict[str, Trace] = {
        "POST move": _move(stage),
        "POST move, with an Idempotency-Key": _move(stage, with_key=True),
    }
    for variant in ("dominospiel", "menschenwolf", "latin"):
        named[f"POST move, {variant}"] = _move(stage, variant)
    return {**named, "POST move, game of an application": _move(stage, key=stage.key)}


def _move(stage: Stage, variant: str = "fido", *, key: str | None = None, with_key: bool = False) -> Trace:
    table = Table(stage.client, variant, key=key)
    for number in range(MAX_MOVES):
        answer = table.move(*[("Idempotency-Key", f"key-{number}")] if with_key else [])
        if number >= WARM_UP_MOVES and table.laid:
            return answer.trace
    raise RuntimeError("no tile was laid")


def creation(stage: Stage) -> Traces:
    """A game for people is created."""
    return {"POST game": Table(stage.client).creation.trace}


def reading(stage: Stage) -> Traces:
    """A seat reads what there is of a game in its second round, each for the first time at this version."""
    table = Table(stage.client, options={"rounds": 5})
    while table.view["round"] < 2 or not table.laid:
        table.move()
    paths = {"view": "", "moves": "/moves", "score": "/score", "events": "/events?limit=10"}
    for _ in range(2):  # the first time at the version before
        table.move()
        answers = {f"GET {name}": table.get(path, 0) for name, path in paths.items()}
    again = table.get("", 0, ("If-None-Match", answers["GET view"].headers["ETag"]))
    assert again.status == 304
    return {name: answer.trace for name, answer in answers.items()} | {"GET view, not modified": again.trace}


def bots(stage: Stage) -> Traces:
    """A tile is laid by the only person in a game, and by a computer player: a step of the bot worker.

    When this ends, it is the person's turn, so that the worker has nothing to do.
    """
    for source in stage.bots._sources[1:]:  # without a game here; a slow machine would poll them in each step
        source.next_poll = inf
    table = Table(stage.client, players=[{"name": "A"}, *[{"bot": "greedy"}] * 3], pace=0)
    by_person: list[Trace] = []
    by_bot: list[Trace] = []
    for number in range(MAX_MOVES):
        while table.view["to_act"][0] not in table.tokens:
            before = table.view["version"]
            step = _step_that(stage.bots, partial(_has_moved, table))
            if by_person and table.view["status"] == "playing" and table.view["version"] == before + 1:
                by_bot.append(step)
        if by_bot:
            return {"POST move, before a bot": by_person[0], "bot worker, greedy move": by_bot[0]}
        answer = table.move()
        if number >= 1 and table.laid:
            by_person.append(answer.trace)
    raise RuntimeError("no tile was laid")


def _has_moved(table: Table) -> bool:
    version = table.view["version"]
    table.look()
    return bool(table.view["version"] > version)


def _step_that(worker: BotWorker | Scheduler, did: Callable[[], bool]) -> Trace:
    """The first step of a worker that did something; those before it found that it was too early."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with traced() as calls:
            worker.step()
        if did():
            return Trace(tuple(calls))
    raise RuntimeError("nothing was done")


def time_out(stage: Stage) -> Traces:
    """A step of the scheduler, in which the time of a turn is over."""
    stage.scheduler.step()  # the last one is not so long ago that times are held back
    players = tuple([SeatRequest("human", name) for name in "ABCD"])
    wanted = GameRequest("fido", players, {}, "trace", clock=ClockSettings(turn=60_000))
    created = stage.past_games.commands.create(wanted).answer.view

    def is_over() -> bool:
        return stage.past_games.access.authenticate(created.id, None).game.version > created.version

    return {"scheduler, time-out": _step_that(stage.scheduler, is_over)}


def publication(stage: Stage) -> Traces:
    """The outbox publishes one new event to an application."""
    table = Table(stage.client, key=stage.key)
    app = stage.client("GET", "/v1/app", None, stage.key).body["id"]
    for number in range(MAX_MOVES):
        before = table.view["version"]
        table.move()
        with traced() as calls:
            published = stage.outbox.publish(app, table.id)
        assert published.published_at is not None
        if number >= WARM_UP_MOVES and table.laid and table.view["version"] == before + 1:
            return {"outbox, one event": Trace(tuple(calls))}
    raise RuntimeError("no tile was laid")


def delivery(stage: Stage) -> Traces:
    """A messenger publishes one new event to an application, and delivers the message about it."""
    key = create_key(stage.url)
    with closing(Listener()) as listener:
        wanted = {"url": f"http://127.0.0.1:{listener.port}/", "events": ["game.turn"]}
        stage.client("POST", "/v1/webhooks", wanted, key)
        table = Table(stage.client, key=key)
        for number in range(MAX_MOVES):
            _drain(stage)
            known, before = len(listener.received), table.view["version"]
            table.move()
            with traced() as calls:
                stage.publisher.step()
                stage.deliverer.step()
            delivered = len(listener.received) == known + 1
            if delivered and number >= WARM_UP_MOVES and table.laid and table.view["version"] == before + 1:
                return {"messenger, one message": Trace(tuple(calls))}
    raise RuntimeError("no message was delivered")


def _drain(stage: Stage) -> None:
    """Let the messenger do all that is due."""
    deadline = time.monotonic() + PATIENCE
    while stage.publisher.step() == 0.0 or stage.deliverer.step() == 0.0:
        if time.monotonic() > deadline:
            raise RuntimeError("there is always something due")


WAYS: Final = (moves, creation, reading, bots, time_out, publication, delivery)


def trace_ways() -> Traces:
    """The shortest trace of each way; the first time, which fills the caches, does not count."""
    logging.getLogger().setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder, "data")) as server:
        stage = Stage(server.url, folder)
        shortest: Traces = {}
        for way in WAYS:
            way(stage)
            repeated = [way(stage) for _ in range(REPEATS)]
            while not _is_settled(repeated) and len(repeated) < MAX_REPEATS:
                repeated.append(way(stage))
            for name in repeated[0]:
                shortest[name] = min([traces[name] for traces in repeated], key=lambda trace: len(trace.calls))
        return shortest


def _is_settled(repeated: list[Traces]) -> bool:
    """Return whether the shortest trace of each name has come twice."""
    lengths = [sorted(len(traces[name].calls) for traces in repeated) for name in repeated[0]]
    return all(first == second for first, second, *_ in lengths)


def main() -> int:
    """Print the numbers of each way, as ``test_ceilings`` has them; with ``--json`` as JSON, with the functions."""
    traces = trace_ways()
    if "--json" in sys.argv[1:]:
        functions = {
            name: Counter(f"{call.module} {call.function}" for call in trace.calls) for name, trace in traces.items()
        }
        print(json.dumps({name: [*numbers(trace), functions[name]] for name, trace in traces.items()}))
    else:
        for name, trace in traces.items():
            print(f'    "{name}": {numbers(trace)},')
    return 0


def numbers(trace: Trace) -> tuple[int, int, int]:
    """The calls, modules and depth of a way."""
    return len(trace.calls), trace.modules, trace.depth


if __name__ == "__main__":
    sys.exit(main())
