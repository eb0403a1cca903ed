"""Faults: what becomes of the moves of computer players and of deadlines while processes and servers fail.

Games are played by bot workers and schedulers as real processes on real servers: matches of computer players alone, and
games whose people never move, so that their turns end by the clock. Meanwhile the processes are killed or frozen, or
the servers and connections fail. Owns the scenarios and what is judged afterwards, by the stored events alone: every
game gets on, no turn has two outcomes, and nothing follows before a deadline.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import redis

from service.engine.events import Dealt, Done, Drew, Flipped, Passed, Played
from service.engine.presence import TimedOut
from service.engine.state import ROUND_OVER
from service.games.commands.validation import GameRequest
from service.games.model.clock import ClockSettings
from service.games.model.game import Game
from service.games.model.schedule import reminders
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import open_topology
from tests.histories.checker import Verdict, read_game
from tests.laws.clocks import ClockModel
from tests.storage.clusters import Cluster
from tests.storage.servers import RealServer, write_before_answering
from tests.support.background import Background
from tests.support.stores.redis_stores import redis_store
from tests.whole.proxy import Proxy
from tests.workers.tables import TTL, VARIANTS, fewest, on_redis, request, undisturbed

BOT_WORKERS: Final = 3
SCHEDULERS: Final = 3
MATCHES: Final = 20
"""Matches of computer players alone that are played at a time."""
CLOCKED: Final = 120
"""Games with a clock that are played at a time."""
FROZEN_SECONDS: Final = 32.0
"""Longer than the leases of both processes."""
_SETTLE_SECONDS: Final = 240.0
_OVERDUE_MS: Final = 3000
_CLOCKS: Final = (
    ClockSettings(turn=100, absence="move"),
    ClockSettings(turn=200, absence="move"),
    ClockSettings(bank=300, increment=100, absence="move"),
    ClockSettings(turn=100, absence="move"),
    ClockSettings(turn=100, absence="forfeit"),
    ClockSettings(turn=100, absence="bot"),
)
_MOVES: Final = (Played, Drew, Passed, Done, Flipped)


class Stage(NamedTuple):
    """Where games are played: ``url`` is for the processes, ``nodes`` for the judge; and what can be broken there."""

    folder: Path
    url: str
    nodes: str
    server: RealServer | None = None
    proxy: Proxy | None = None
    cluster: Cluster | None = None
    settings: Mapping[str, str] = {}


def wanted_game(seed: str, number: int, *, clocked: bool) -> GameRequest:
    """Return the request for the game of this number: each variant in turn, with the fewest players."""
    variant = VARIANTS[number % len(VARIANTS)]
    bots = ("grg" * 3)[: fewest(variant)]
    if clocked:
        clock = _CLOCKS[number % len(_CLOCKS)]
        return request(variant, "p" + bots[1:], seed=f"{seed}-{number}", clock=clock, pace=0)
    return request(variant, bots, seed=f"{seed}-{number}")


class Play:
    """The games of a scenario, and the processes that play them."""

    def __init__(self, stage: Stage, seed: str, matches: int, clocked: int) -> None:
        self.stage = stage
        self._most = {False: matches, True: clocked}
        self.random = Random(seed)  # noqa: S311 # reproducible on purpose
        self.broken: Counter[str] = Counter()
        self.games: dict[str, GameRequest] = {}
        self._running: dict[bool, set[str]] = {False: set(), True: set()}
        self._numbers = count()
        self._seed = seed
        self.processes = [self._process(name) for name in ["bots"] * BOT_WORKERS + ["scheduler"] * SCHEDULERS]
        self._ended: list[Background] = []

    def _process(self, command: str) -> Background:
        return Background(command, self.stage.url, self.stage.folder / "logs", **self.stage.settings)

    def top_up(self) -> None:
        """Create games in the place of those that are finished."""
        hosted = on_redis(self.stage.nodes)
        for clocked, most in self._most.items():
            running = self._running[clocked]
            running -= {game for game in running if hosted.game(game).status == "finished"}
            while len(running) < most:
                wanted = wanted_game(self._seed, next(self._numbers), clocked=clocked)
                game = hosted.create(wanted).view.id
                self.games[game] = wanted
                running.add(game)

    def kill(self, many: int) -> None:
        """Kill so many processes at once, and start others in their place."""
        victims = self.random.sample(range(len(self.processes)), many)
        for victim in victims:
            self.processes[victim].process.kill()
        for victim in victims:
            self.processes[victim].kill()
            self.replace(victim)
        self.broken["processes killed"] += many

    def replace(self, number: int) -> None:
        """Start a process in the place of one that has ended."""
        self._ended.append(self.processes[number])
        self.processes[number] = self._process(self.processes[number].command)

    def stop(self) -> list[str]:
        """Stop all processes; returns the errors that any has logged."""
        for each in self.processes:
            each.stop()
        lines = [line for each in (*self.processes, *self._ended) for line in each.lines()]
        return [str(line) for line in lines if line["level"] == "error"]

    def settle(self) -> list[str]:
        """Wait until all matches of computer players are finished and nothing is overdue; returns what stays behind."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            hosted, now = on_redis(self.stage.nodes), time.time_ns() // 1_000_000
            behind = [game for game in self.games if _is_behind(hosted.game(game), now)]
            if not behind or time.monotonic() > deadline:
                return behind
            time.sleep(0.5)


def _is_behind(game: Game, now: int) -> bool:
    """Return whether a match of computer players goes on, or something was due in a game long ago."""
    if game.status == "finished":
        return False
    dues = reminders(game, game).values()
    return not game.seats.people or any([due is not None and due < now - _OVERDUE_MS for due in dues])


# Faults


def _nothing(_: Play) -> None:
    time.sleep(0.5)


def _kill(many: int) -> Callable[[Play], None]:
    def kill(play: Play) -> None:
        time.sleep(play.random.uniform(1.5, 3.5))  # a new process needs a second until it plays
        play.kill(many)

    return kill


def _restart(play: Play) -> None:
    """Restart all processes one after the other, as a rolling restart does."""
    for number, each in enumerate(play.processes):
        each.stop()
        play.replace(number)
        play.broken["processes restarted"] += 1
        time.sleep(1.0)


def _kill_the_server(play: Play) -> None:
    server = play.stage.server
    assert server is not None
    time.sleep(play.random.uniform(1.0, 4.0))
    server.kill()
    play.broken["servers killed"] += 1
    time.sleep(play.random.uniform(0.0, 0.5))
    server.start()
    write_before_answering(server.admin)


def _disturb(play: Play) -> None:
    assert play.stage.proxy is not None
    play.stage.proxy.every = 101
    time.sleep(0.5)


def _kill_a_primary(play: Play) -> None:
    """Kill a primary, and start it again after the failover: it is a replica from then on."""
    cluster = play.stage.cluster
    assert cluster is not None
    key = keys.state(play.random.choice(list(play.games)))
    primary = cluster.primary_of(key)
    primary.kill()
    play.broken["primaries killed"] += 1
    _until(lambda: bool(cluster.primary_of(key)))
    time.sleep(1.0)
    primary.start()
    _until(cluster.is_whole)
    time.sleep(3.0)


def _freeze(play: Play) -> None:
    """Freeze two bot workers and a scheduler for longer than their leases: when they go on, others have acted."""
    frozen = [play.processes[0], play.processes[1], play.processes[-1]]
    for each in frozen:
        each.process.send_signal(signal.SIGSTOP)
    try:
        play.broken["processes frozen"] += len(frozen)
        _keep_topping_up(play, FROZEN_SECONDS)
    finally:
        for each in frozen:
            each.process.send_signal(signal.SIGCONT)
    time.sleep(1.0)


def _keep_topping_up(play: Play, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _patiently(play.top_up)
        time.sleep(1.0)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SETTLE_SECONDS
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except (redis.RedisError, LookupError):
            pass
        time.sleep(0.05)
    raise TimeoutError("the servers did not recover")


def _patiently(act: Callable[[], None]) -> None:
    """Try again while the storage is away."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        try:
            return act()
        except (StorageUnavailable, OutcomeUnknown):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


class Scenario(NamedTuple):
    """What fails, and where."""

    name: str
    fault: Callable[[Play], None]
    stage: str = "server"


SCENARIOS: Final = (
    Scenario("none", _nothing),
    Scenario("two processes killed at once", _kill(2)),
    Scenario("five processes killed at once", _kill(5)),
    Scenario("rolling restart", _restart),
    Scenario("processes frozen for longer than their leases", _freeze),
    Scenario("server killed", _kill_the_server),
    Scenario("connections disturbed, replies lost", _disturb, "proxy"),
    Scenario("Cluster: a primary killed", _kill_a_primary, "cluster"),
)


@contextmanager
def _staged(kind: str) -> Iterator[Stage]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="domino-faults-")))
        if kind == "cluster":
            cluster = stack.enter_context(Cluster(folder / "cluster"))
            yield Stage(folder, cluster.url, cluster.url, cluster=cluster, settings={"DURABILITY": "replicated"})
            return
        server = RealServer(folder / "redis")
        stack.callback(server.stop)
        write_before_answering(server.admin)
        if kind == "proxy":
            proxy = stack.enter_context(Proxy(server.socket_path))
            yield Stage(folder, proxy.url, server.url, server, proxy)
        else:
            yield Stage(folder, server.url, server.url, server)


class Outcome(NamedTuple):
    """What happened in a scenario, and what must not have."""

    faults: Counter[str]
    counted: Counter[str]
    lost: list[str]
    doubled: list[str]
    early: list[str]
    wrong: list[str]

    @property
    def complaints(self) -> list[str]:
        """All of them; none if nothing is wrong."""
        return [*self.lost, *self.doubled, *self.early, *self.wrong]


def play(scenario: Scenario, seconds: float, matches: int = MATCHES, clocked: int = CLOCKED) -> Outcome:
    """Let games be played under the faults of a scenario for so long, and judge them."""
    with _staged(scenario.stage) as stage:
        playing = Play(stage, f"{scenario.name} {os.getpid()}", matches, clocked)
        try:
            playing.top_up()
            time.sleep(2.0)  # until the processes have started
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                scenario.fault(playing)
                _patiently(playing.top_up)
            if stage.proxy is not None:
                stage.proxy.every = 0
                playing.broken.update(stage.proxy.injected)
            behind = playing.settle()
        finally:
            errors = playing.stop()
        return _judge(playing, behind, errors)


def _judge(play: Play, behind: list[str], errors: list[str]) -> Outcome:
    store = redis_store(open_topology(play.stage.nodes), TTL)
    counted: Counter[str] = Counter()
    outcome = Outcome(play.broken, counted, [f"{game}: does not get on" for game in behind], [], [], errors)
    for game_id, wanted in play.games.items():
        verdict = Verdict()
        read = read_game(store, game_id, verdict)
        outcome.wrong.extend(verdict.complaints)
        if read is None:
            outcome.lost.append(f"{game_id}: the whole game")
            continue
        game, history = read
        counted["games"] += 1
        model = ClockModel(game.rules, wanted.clock, set(game.seats.people))
        for version, at, event, _ in history:
            deadline, running, phase = model.deadline, model.running, model.state.phase
            dealt_late = isinstance(event, Dealt) and phase == ROUND_OVER and deadline is not None
            if isinstance(event, TimedOut) or dealt_late:
                counted["deadlines"] += 1
                if deadline is None or at < deadline:
                    outcome.early.append(f"{game_id}: version {version} at {at}, deadline {deadline}")
            elif isinstance(event, _MOVES) or (isinstance(event, Dealt) and not game.seats.people and version > 2):
                counted["moves"] += 1
                if running is not None:
                    outcome.doubled.append(f"{game_id}: version {version} is a move for a person who is present")
            try:
                model.take(at, event)
            except (AssertionError, ValueError) as error:
                outcome.doubled.append(f"{game_id}: version {version}, {event}: {error}")
                break
        if (
            not game.seats.people
            and game.status == "finished"
            and [each.event for each in history] != undisturbed(wanted)
        ):
            outcome.doubled.append(f"{game_id}: other events than without faults")
    return outcome
