"""One kind of fault, from the start to the verdict.

Clients play in games of all kinds, and games of computer players alone go on beside them, while a failure happens again
and again; then everything is settled, and the games are compared with what was answered. Owns what is counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import count
from random import Random
from threading import Event, Lock
from typing import Any, Final, NamedTuple

from service.engine.events import Dealt, Done, Drew, Flipped, Passed, Played
from service.games.model.game import Game
from service.games.model.schedule import bot_turn, clock_due
from service.games.reminders import ClockReading
from service.redis.topology import open_topology
from tests.histories.checker import Verdict, check, read_game
from tests.histories.clients import Client, Party
from tests.histories.history import Outcome
from tests.support.apps import create_key
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.whole.http_connection import Log
from tests.workers.tables import TTL, on_redis
from tools.faults import failures
from tools.faults.endpoint import TYPES, Endpoint
from tools.faults.failures import Broken, Failure
from tools.faults.stages import Stage, staged
from tools.faults.tables import TableDoor

CLIENTS: Final = 8
_REST_SECONDS: Final = 0.05
_MAX_ATTEMPTS: Final = 10_000
"""At the end, when what is unknown is repeated until it is known: for some minutes, as a failover may take."""
_LOSS_OF_PATIENCE: Final = 0.02
"""For a client that leaves what is unknown until the end."""
_SETTLE_SECONDS: Final = 120.0
_OVERDUE_MS: Final = 3000
_STUCK_SECONDS: Final = 30.0
"""For so long a game is behind at one version until it is stuck."""
_LOOK_SECONDS: Final = 0.5
_MOVES: Final = (Played, Drew, Passed, Done, Flipped, Dealt)
_UNKNOWN_KEYS: Final = "unknown at the end"


class Fault(NamedTuple):
    """A kind of fault, and where it happens.

    The fraction ``keyed`` of the writes has a key; the others depend on what the service repeats by itself. If it is
    not ``noticed``, every request is answered as if nothing had failed.
    """

    name: str
    failure: Failure
    stage: str = "embedded"
    keyed: float = 1.0
    noticed: bool = True


FAULTS: Final = (
    Fault("none", failures.nothing, noticed=False),
    Fault("a process killed", failures.kill_a_process),
    Fault("rolling restart", failures.restart_the_workers, noticed=False),
    Fault("all processes killed at once", failures.kill_all_processes),
    Fault("a process of each kind frozen", failures.freeze_processes),
    Fault("server killed", failures.kill_the_server),
    Fault("server frozen", failures.freeze_the_server),
    Fault("connections disturbed", failures.disturb_connections, "proxy", keyed=0.5),
    Fault("memory full", failures.fill_the_memory),
    Fault("disk full", failures.fill_the_disk),
    Fault("file system read-only", failures.make_files_read_only),
    Fault("Sentinel: failover", failures.fail_over_by_sentinel, "sentinel"),
    Fault("Sentinel: a process killed", failures.kill_a_process, "sentinel"),
    Fault("Cluster: failover", failures.fail_over_in_the_cluster, "cluster"),
    Fault("Cluster: a replica frozen", failures.freeze_a_replica, "cluster"),
)


class Size(NamedTuple):
    """How long a fault happens, under how many games."""

    acknowledged: int
    """Writes of clients, after which it ends."""
    most_seconds: float
    """After which it ends as well, if it has happened once."""
    tables: int = 24
    """Games in which clients play at a time."""
    of_bots: int = 6
    """Games of computer players alone at a time."""
    processes: int = 2
    """Bot workers, schedulers and messengers each."""


class Outcomes(NamedTuple):
    """What happened under a fault; the lists are sentences about what must not have."""

    broken: Counter[str]
    games: int
    acknowledged: int
    """Writes of clients whose answer was that they were made: moves, games, seats, tokens."""
    moves: int
    """In the games, those of computer players included."""
    messages: int
    lost: list[str]
    doubled: list[str]
    stuck: list[str]
    missing: list[str]
    """Messages that did not come, and games whose messages came in disorder."""
    wrong: list[str]
    seconds: float

    @property
    def complaints(self) -> list[str]:
        """All of them; none if nothing is wrong."""
        return [*self.lost, *self.doubled, *self.stuck, *self.missing, *self.wrong]


def run(fault: Fault, size: Size) -> Outcomes:
    """Let a fault happen, and judge."""
    began = time.monotonic()
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint())
        stage = stack.enter_context(staged(fault.stage, size.processes))
        play = _Play(fault, size, stage, endpoint)
        play.until(fault.failure, size.acknowledged, began + size.most_seconds)
        stuck = play.settle()
        return play.judge(stuck, began)


class _Play:
    """The clients, and the games of computer players alone."""

    def __init__(self, fault: Fault, size: Size, stage: Stage, endpoint: Endpoint) -> None:
        self._fault = fault
        self._size = size
        self._stage = stage
        self._endpoint = endpoint
        self._party = Party(f"{time.time_ns():x}-")
        self._log = Log()
        self._random = Random(0)  # noqa: S311 # reproducible on purpose
        self._over = Event()
        self._lock = Lock()
        self._of_bots: set[str] = set()
        games = lambda: [table.game for table in list(self._party.tables)]  # noqa: E731 # of now
        self.broken = Broken(Counter(), self._random, games, self._served)
        self._key, self._app = self._register()

    def until(self, failure: Failure, acknowledged: int, latest: float) -> None:
        """Play until so many writes were acknowledged."""
        with ThreadPoolExecutor(CLIENTS + 1) as threads:
            running = [threads.submit(self._live, number) for number in range(CLIENTS)]
            running.append(threads.submit(self._create_games_of_bots))
            try:
                _await(lambda: len(self._party.tables) >= self._size.tables, _SETTLE_SECONDS)
                while True:
                    failure(self._stage, self.broken)
                    if self._acknowledged() >= acknowledged or time.monotonic() > latest:
                        break
            finally:
                self._over.set()
            for each in running:
                each.result()

    def settle(self) -> list[str]:
        """Repeat what is unknown, wait until nothing is due and all messages came; returns the games that are stuck."""
        with closing(self._door()) as door:
            self._client(door, 0).settle()
        deadline = time.monotonic() + self._longest_allowance() + _SETTLE_SECONDS
        since: dict[tuple[str, int], float] = {}
        while True:
            now = time.monotonic()
            behind, of_bots = self._behind(), self._of_bots_running()
            since = {each: since.get(each, now) for each in behind}
            if now > deadline or not (behind or of_bots):
                stuck = {game_id for (game_id, _), began in since.items() if now - began > _STUCK_SECONDS}
                return sorted(stuck | of_bots)
            time.sleep(_LOOK_SECONDS)

    def judge(self, stuck: list[str], began: float) -> Outcomes:
        """Compare the games with the answers, and with the messages."""
        store = redis_store(open_topology(self._stage.nodes), TTL)
        games = self._stage.games()
        verdict = check(self._party.history, store, games - self._of_bots)
        moves, lost = 0, list(verdict.lost)
        missing: list[str] = []
        deadline = time.monotonic() + _SETTLE_SECONDS
        for game_id in sorted(games | self._of_bots):
            read = read_game(store, game_id, verdict if game_id in self._of_bots else Verdict())
            if read is None:
                lost.append(f"{game_id}: the whole game")
                continue
            game, events = read
            moves += sum([isinstance(each.event, _MOVES) for each in events])
            if game.ownership is not None and game.ownership.app == self._app:
                while left := self._endpoint.missing(game_id, events):
                    if time.monotonic() > deadline:
                        break
                    time.sleep(_LOOK_SECONDS)
                missing += [f"{game_id}: no message {each.type} about version {each.version}" for each in left]
        disorder = [f"{game_id}: messages in disorder" for game_id in self._endpoint.in_disorder()]
        return Outcomes(
            broken=self.broken.counted,
            games=len(games),
            acknowledged=self._acknowledged(),
            moves=moves,
            messages=self._endpoint.messages,
            lost=lost,
            doubled=verdict.doubled,
            stuck=[f"{game_id}: does not get on" for game_id in stuck],
            missing=missing + disorder,
            wrong=[*verdict.wrong, *self._answered(), *self._unknown()],
            seconds=time.monotonic() - began,
        )

    def _answered(self) -> list[str]:
        """Return what clients were told, and must not be."""
        found = [f"an answer {what}" for what in self._log.unexpected]
        if not self._fault.noticed:
            noticed = [what for what in self._log.counted if what == "no answer" or what.startswith("answered")]
            found += [f"{self._log.counted[what]} × {what}" for what in noticed]
            made = [each for each in self._party.history.operations if each.made]
            # Of answers to the same request sent twice at once, the replayed one may come first.
            repeated = [each for each in made if all(answer.replayed for answer in each.made)]
            found += [f"{each.game}: a {each.kind} was repeated" for each in repeated]
        return found

    def _served(self, games: Collection[str]) -> int:
        return sum(answer.game in games and 0 < answer.status < 400 for answer in tuple(self._log.answers))

    def _unknown(self) -> list[str]:
        """Return the writes with a key of which it is not known whether they were made."""
        operations = self._party.history.operations
        unknown = [each for each in operations if each.key and each.outcome is Outcome.UNKNOWN]
        return [f"{each.game}: a {each.kind} is {_UNKNOWN_KEYS}" for each in unknown]

    def _acknowledged(self) -> int:
        return sum(each.outcome is Outcome.MADE for each in list(self._party.history.operations))

    def _behind(self) -> list[tuple[str, int]]:
        """Return the games in which something was due long ago, with their versions."""
        hosted, queue, found = on_redis(self._stage.nodes), redis_reminders(open_topology(self._stage.nodes)), []
        for game_id in self._stage.games():
            game = hosted.game(game_id)
            if game.status != "finished" and _is_overdue(game, queue.read_clock(game_id)):
                found.append((game_id, game.version))
        return found

    def _longest_allowance(self) -> float:
        """Return the seconds for which deadlines are postponed yet."""
        heartbeats = redis_reminders(open_topology(self._stage.nodes)).heartbeats
        heartbeats.refresh()
        return heartbeats.longest_allowance()

    def _of_bots_running(self) -> set[str]:
        """Return the games of computer players alone that are not finished."""
        hosted = on_redis(self._stage.nodes)
        return {game_id for game_id in self._of_bots if hosted.game(game_id).status != "finished"}

    # What plays

    def _live(self, number: int) -> None:
        with closing(self._door()) as door:
            client = self._client(door, number)
            while len(self._party.tables) < self._size.tables and not self._over.is_set():
                client.create()
            while not self._over.is_set():
                client.act()

    def _client(self, door: TableDoor, number: int) -> Client:
        return Client(
            self._party,
            Random(f"{number}"),  # noqa: S311 # reproducible on purpose
            [door],
            keyed=self._fault.keyed,
            tables=self._size.tables,
            attempts=_MAX_ATTEMPTS,
            loss_of_patience=_LOSS_OF_PATIENCE,
            rest=lambda: time.sleep(_REST_SECONDS),
        )

    def _door(self) -> TableDoor:
        return TableDoor(self._stage.service.url, self._log, self._key)

    def _create_games_of_bots(self) -> None:
        """Create a game of computer players alone in the place of each that is finished, as long as clients play."""
        wanted = {"variant": "domino", "options": {"limit": 50}, "pace": 0.2, "players": [{"bot": "greedy"}] * 2}
        numbers, running = count(), set[str]()
        with closing(TableDoor(self._stage.service.url, Log(), "")) as door:
            while not self._over.is_set():
                for game_id in list(running):
                    view = door.ask("GET", f"/v1/games/{game_id}")
                    if view is not None and view["status"] == "finished":
                        running.remove(game_id)
                while len(running) < self._size.of_bots and not self._over.is_set():
                    key = f"of-bots-{next(numbers):06}"
                    created = None
                    while created is None and not self._over.is_set():
                        created = door.ask("POST", "/v1/games", wanted, key=key)
                        self._over.wait(_REST_SECONDS)
                    if created is not None:
                        running.add(created["game"]["id"])
                        self._of_bots.add(created["game"]["id"])
                self._over.wait(_LOOK_SECONDS)

    def _register(self) -> tuple[str, str]:
        """Return the key and the id of a new application with an endpoint."""
        with closing(TableDoor(self._stage.service.url, Log(), "")) as door:
            key = create_key(self._stage.nodes, "faults")
            wanted = {"url": self._endpoint.url, "events": list(TYPES)}
            endpoint = _asked(door, "/v1/webhooks", wanted, "register-the-endpoint", token=key)
            path = f"/v1/webhooks/{endpoint['id']}"  # nothing is sent before it has answered its challenge
            _await(lambda: (door.ask("GET", path, token=key) or {}).get("status") == "active", _SETTLE_SECONDS)
            return key, key[4:28]


def _asked(door: TableDoor, path: str, body: object, key: str, *, token: str | None = None) -> dict[str, Any]:
    """Return the answer to a POST, which is repeated until it is made."""
    found: list[dict[str, Any] | None] = []

    def ask() -> bool:
        found.append(door.ask("POST", path, body, key=key, token=token))
        return found[-1] is not None

    _await(ask, _SETTLE_SECONDS)
    assert found[-1] is not None
    return found[-1]


def _is_overdue(game: Game, judged: ClockReading) -> bool:
    """Return whether a computer player or a deadline is late, which is postponed after an outage."""
    turn = bot_turn(game)
    dues = [None if turn is None else turn.begin, clock_due(game, judged.allowance)]
    return any([due is not None and due < judged.now - _OVERDUE_MS for due in dues])


def _await(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("too little happened")
        time.sleep(_LOOK_SECONDS)
