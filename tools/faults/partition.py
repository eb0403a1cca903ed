"""Partitions: links are cut silently while two services write on both sides, and healed; what was promised and is lost?

``python -m tools.faults.partition NAME`` runs one inside ``network.apart`` and prints its ``Figures`` as JSON;
``make faults`` does that for each of ``PARTITIONS``. Owns the servers and the clients of a partition. Does not depend
on the other faults, which happen on one network.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import redis

from service.devserver.embedded import find_server
from service.devserver.terminal import die_with_parent
from tests.histories.clients import Client, Party, Send
from tests.histories.history import Operation, Outcome
from tests.storage.clusters import until
from tests.support import waiting
from tests.support.serving import ROOT, Service
from tests.whole.http_connection import HttpDoor, Log
from tools.faults.network import Network, apart

CUT_SECONDS: Final = 15.0
_BEFORE: Final = 60
"""Writes of each service that are acknowledged before the cut."""
LOCAL_LOSS_SECONDS: Final = 12.0
"""After a cut, until nothing is acknowledged any more that ``local`` loses: the time-out of the servers, and seven."""
_AFTER_SECONDS: Final = 5.0
_CONVERGE_SECONDS: Final = 60.0
_CLIENTS: Final = 3
"""Of each service."""
_TABLES: Final = 16
_REST_SECONDS: Final = 0.02
_MAX_ATTEMPTS: Final = 20
_KNOWN_SECONDS: Final = 30.0
"""Until it is known whether a write is still there."""
_SERVICES: Final = ("wa", "wb")
_SENTINELS: Final = ("s1", "s2", "s3")
_REPLICATED: Final = ("p", "r1", "r2")
_CLUSTER: Final = ("p1", "p2", "p3", "q1", "q2", "u2", "u3")
_FOLLOWED: Final = {"q1": "p1", "q2": "p1", "u2": "p2", "u3": "p3"}
"""The primary of each replica of the Cluster, at first."""
_DOWN_AFTER_MS: Final = 5000
"""As in the examples, also the time-out of a node of a Cluster."""


class Partition(NamedTuple):
    """A cut between processes. ``left`` is one side; if it names who it is cut off from, the others reach all."""

    name: str
    left: tuple[str, ...]
    durability: str
    right: tuple[str, ...] = ()
    min_replicas: int = 0
    cluster: bool = False

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of all nodes."""
        return (*(_CLUSTER if self.cluster else (*_REPLICATED, *_SENTINELS)), *_SERVICES)


_HALF: Final = ("p", "r1", "s1", "wa")
_ALONE: Final = ("p", "s1", "wa")
_BUT_SERVICES: Final = ("r1", "r2", *_SENTINELS)
PARTITIONS: Final = (
    Partition("half, local", _HALF, "local"),
    Partition("half, replicated", _HALF, "replicated"),
    Partition("half, replicated:1", _HALF, "replicated:1"),
    Partition("half, replicated, min-replicas 1", _HALF, "replicated", min_replicas=1),
    Partition("half, replicated, min-replicas 2", _HALF, "replicated", min_replicas=2),
    Partition("alone, local", _ALONE, "local"),
    Partition("alone, local, min-replicas 1", _ALONE, "local", min_replicas=1),
    Partition("alone, replicated", _ALONE, "replicated"),
    Partition("but for services, local", ("p",), "local", _BUT_SERVICES),
    Partition("but for services, replicated", ("p",), "replicated", _BUT_SERVICES),
    Partition("Cluster, local", ("p1", "q1", "wa"), "local", cluster=True),
    Partition("Cluster, replicated", ("p1", "q1", "wa"), "replicated", cluster=True),
    Partition("Cluster, replicated:1", ("p1", "q1", "wa"), "replicated:1", cluster=True),
)


class Figures(NamedTuple):
    """The effect of a partition; the times are in seconds after the cut."""

    acknowledged: int
    """Writes, in the cut and afterwards."""
    lost: int
    lost_after_heal: int
    last_lost: float
    """When the last write that is lost was acknowledged."""
    tokens_back: int
    """Changes of a token that are lost: what was revoked is valid again."""
    games_gone: int
    pause: float
    """The longest time in which the service that is not cut off acknowledged nothing."""
    converged: float
    """Seconds after the heal until all replicas follow one primary."""

    def complaints(self, partition: Partition) -> list[str]:
        """Return what must not be: a loss of what replicas had to confirm, or of what ``local`` promises.

        With ``replicated:1`` a partition may lose what the one replica had that was cut off, too.
        """
        bound = {"local": LOCAL_LOSS_SECONDS, "replicated": 0.0}.get(partition.durability, math.inf)
        return [f"lost until {self.last_lost} s after the cut"] if self.last_lost > bound else []


def run(partition: Partition, seconds: float = CUT_SECONDS) -> Figures:
    """Run a partition in a network of its own."""
    command = [sys.executable, "-m", "tools.faults.partition", partition.name, str(seconds)]
    done = subprocess.run(apart(command), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


class _Player(Client):
    """A client that repeats nothing that is known: a lost write that is made anew would count as kept."""

    def act(self) -> None:
        if len(self._party.tables) < _TABLES:
            self.create()
        else:
            what = (self._move, self._join, self._rotate_token, self.create)
            self._random.choices(what, (80, 5, 8, 4))[0]()


class _Play:
    """The clients of both services, and when each write was acknowledged first."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.party = Party(f"{time.time_ns():x}-")
        self._urls = urls
        self._logs = [Log() for _ in urls]
        self.acknowledged: dict[int, float] = {}
        self.over = threading.Event()
        attempt = self.party.history.attempt

        def timed(operation: Operation, send: Callable[[], Any]) -> Any:
            result = attempt(operation, send)
            if result.outcome is Outcome.MADE:
                self.acknowledged.setdefault(id(operation), time.monotonic())
            return result

        self.party.history.attempt = timed  # type: ignore[method-assign]

    def live(self, number: int) -> None:
        """Play as one client until it is over."""
        side = number % len(self._urls)
        with closing(HttpDoor(self._urls[side], self._logs[side])) as door:
            player = self._player(door, number, attempts=20)
            while not self.over.is_set():
                player.act()
                time.sleep(_REST_SECONDS)

    def settle(self) -> None:
        """Repeat what is unknown until it is known, also the tokens that some seats have now."""
        with closing(HttpDoor(self._urls[-1], Log())) as door:
            self._player(door, 0, attempts=_MAX_ATTEMPTS).settle()

    def _player(self, door: HttpDoor, number: int, attempts: int) -> _Player:
        return _Player(
            self.party,
            Random(f"{number}"),  # noqa: S311 # reproducible on purpose
            [door],
            keyed=1.0,
            attempts=attempts,
            rest=lambda: time.sleep(_REST_SECONDS),
        )

    def made(self, side: int) -> int:
        """Return how many writes a service has acknowledged."""
        return sum([each.status == 201 for each in tuple(self._logs[side].answers)])

    def longest_pause(self, since: float) -> float:
        """Return the longest time in which the last of the services acknowledged nothing."""
        made = [each.at for each in self._logs[-1].answers if each.status == 201 and each.at > since]
        return max([after - before for before, after in pairwise([since, *made, time.monotonic()])])

    def lost(self) -> list[Operation]:
        """Return the writes that were acknowledged and are not there: repeated, they are not answered as before."""
        made = [each for each in list(self.party.keyed) if each[0].made]
        with ThreadPoolExecutor(_CLIENTS) as threads:
            kept = list(threads.map(self._is_kept, made))
        return [operation for (operation, _), is_kept in zip(made, kept, strict=True) if not is_kept]

    def _is_kept(self, each: tuple[Operation, Send]) -> bool:
        operation, send = each
        first = operation.made[0]
        deadline = time.monotonic() + _KNOWN_SECONDS
        with closing(HttpDoor(self._urls[-1], Log())) as door:
            while True:
                again = send(door)
                if again.outcome is Outcome.UNKNOWN or again.code == "storage_unavailable":
                    if time.monotonic() > deadline:
                        raise TimeoutError(f"a {operation.kind} is not known: {again.code}")
                    time.sleep(_REST_SECONDS)
                    continue
                same = (again.game, again.version) == (first.game, first.version)
                return again.outcome is Outcome.MADE and again.replayed and same


class _Stage:
    """The servers and the two services on their nodes."""

    def __init__(self, partition: Partition, folder: Path, stack: ExitStack) -> None:
        self._partition, self._folder, self._stack = partition, folder, stack
        self.network = stack.enter_context(Network(partition.nodes))
        self._admins: dict[str, Any] = {
            name: redis.Redis(self.network.control(name), 6379, protocol=2, socket_timeout=5, decode_responses=True)
            for name in partition.nodes
            if name in (*_REPLICATED, *_CLUSTER)
        }
        start = self._start_cluster if partition.cluster else self._start_sentinels
        self.urls = [self._start_service(name, start_url) for start_url in [start()] for name in _SERVICES]

    def is_whole(self) -> bool:
        """Return whether all replicas follow a primary."""
        roles: list[Any] = [admin.execute_command("ROLE") for admin in self._admins.values()]
        primaries = [role for role in roles if role[0] == "master"]
        linked = all([role[0] == "master" or role[3] == "connected" for role in roles])
        replicas = len(_FOLLOWED) if self._partition.cluster else len(_REPLICATED) - 1
        return linked and sum(len(role[2]) for role in primaries) == replicas == len(roles) - len(primaries)

    def _start(self, name: str, settings: dict[str, str], *words: str) -> None:
        own = self._folder / name
        own.mkdir()
        addresses = f"{self.network.address(name)} {self.network.control(name)}"
        common = {"bind": addresses, "bind-source-addr": self.network.address(name), "protected-mode": "no"}
        settings = {**common, "dir": str(own), **settings}
        (own / "server.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
        command = self.network.command(name, [find_server(), str(own / "server.conf"), *words])
        with (own / "log").open("wb") as log:
            program = die_with_parent(["/usr/bin/env", *command], signal.SIGKILL)
            process = subprocess.Popen(program, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)

    def _data(self) -> dict[str, str]:
        few = {"min-replicas-to-write": str(self._partition.min_replicas)} if self._partition.min_replicas else {}
        return {"port": "6379", "save": '""', "appendonly": "yes", "repl-diskless-sync-delay": "0", **few}

    def _start_sentinels(self) -> str:
        first = self.network.address("p")
        for name in _REPLICATED:
            own = {"replica-announce-ip": self.network.address(name)}
            self._start(name, {**self._data(), **own, **({} if name == "p" else {"replicaof": f"{first} 6379"})})
        until(self.is_whole)
        for name in _SENTINELS:
            watch = {
                "port": "26379",
                "sentinel announce-ip": self.network.address(name),
                "sentinel monitor": f"games {first} 6379 2",
                "sentinel down-after-milliseconds": f"games {_DOWN_AFTER_MS}",
                "sentinel failover-timeout": "games 30000",
            }
            self._start(name, watch, "--sentinel")
        sentinels = [redis.Redis(self.network.control(name), 26379, protocol=2) for name in _SENTINELS]
        until(lambda: all(self._knows_all(each) for each in sentinels))
        return f"redis+sentinel://{','.join(self.network.address(name) for name in _SENTINELS)}/games"

    def _knows_all(self, sentinel: Any) -> bool:
        state = sentinel.sentinel_master("games")
        return bool((state["num-slaves"], state["num-other-sentinels"]) == (2, 2))

    def _start_cluster(self) -> str:
        for name in _CLUSTER:
            own = {
                "cluster-enabled": "yes",
                "cluster-announce-ip": self.network.address(name),
                "cluster-node-timeout": str(_DOWN_AFTER_MS),
                "cluster-require-full-coverage": "no",
            }
            self._start(name, {**self._data(), **own})
        until(lambda: all(admin.ping() for admin in self._admins.values()))
        bounds = [0, 8192, 12288, 16384]
        for number, (name, admin) in enumerate(self._admins.items()):
            admin.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if number < len(bounds) - 1:
                admin.execute_command("CLUSTER ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1)
            if name != "p1":
                admin.execute_command("CLUSTER MEET", self.network.address("p1"), 6379)
        known = str(len(_CLUSTER))
        until(lambda: all(info["cluster_known_nodes"] == known for info in self._cluster_infos()))
        for replica, primary in _FOLLOWED.items():
            followed = self._admins[primary].execute_command("CLUSTER MYID")
            self._admins[replica].execute_command("CLUSTER REPLICATE", followed)
        until(self.is_whole)
        until(lambda: all(info["cluster_state"] == "ok" for info in self._cluster_infos()))
        return f"redis+cluster://{','.join(self.network.address(name) for name in ('p1', 'p2', 'p3'))}"

    def _cluster_infos(self) -> list[dict[str, str]]:
        return [admin.execute_command("CLUSTER INFO") for admin in self._admins.values()]

    def _start_service(self, name: str, url: str) -> str:
        serve = self.network.command(name, [sys.executable, "-m", "service", "serve"])
        command = die_with_parent(["/usr/bin/env", *serve], signal.SIGTERM)
        settings: dict[str, Any] = {"DURABILITY": self._partition.durability, "SECRET_KEY": "s" * 40, "WORKERS": "1"}
        service = Service(
            self._folder / name,
            command=command,
            HOST=self.network.control(name),
            PORT="8000",
            REDIS_URL=url,
            LOG_FORMAT="json",
            **settings,
        )
        return self._stack.enter_context(service).url


def measure(partition: Partition, seconds: float) -> Figures:
    """Play, cut the links, heal them, and look for what was acknowledged; to be called inside ``apart``."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="p-", ignore_cleanup_errors=True)))
        stage = _Stage(partition, folder, stack)
        play = _Play(stage.urls)
        with ThreadPoolExecutor(_CLIENTS * len(stage.urls)) as threads:
            playing = [threads.submit(play.live, number) for number in range(_CLIENTS * len(stage.urls))]
            try:
                waiting.until(lambda: all(play.made(side) >= _BEFORE for side in range(len(stage.urls))))
                cut, healed, converged = _cut_and_heal(stage, partition, seconds)
            finally:
                play.over.set()
            for each in playing:
                each.result()
        pause = play.longest_pause(cut)
        return _figures(play, pause, cut=cut, healed=healed, converged=converged)


def _cut_and_heal(stage: _Stage, partition: Partition, seconds: float) -> tuple[float, float, float]:
    """Return when the links were cut and healed, and how long it took until the servers agreed again."""
    cut = time.monotonic()
    right = partition.right or tuple(name for name in partition.nodes if name not in partition.left)
    stage.network.cut(partition.left, right)
    time.sleep(seconds)
    stage.network.heal()
    healed = time.monotonic()
    while not _holds(stage.is_whole) and time.monotonic() - healed < _CONVERGE_SECONDS:
        time.sleep(0.2)
    converged = time.monotonic() - healed
    time.sleep(_AFTER_SECONDS)
    return cut, healed, converged


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except redis.RedisError:
        return False


def _figures(play: _Play, pause: float, *, cut: float, healed: float, converged: float) -> Figures:
    play.settle()
    lost = play.lost()
    times = [play.acknowledged[id(each)] for each in lost]
    kinds = [each.kind for each in lost]
    return Figures(
        acknowledged=sum([at > cut for at in play.acknowledged.values()]),
        lost=sum([at <= healed for at in times]),
        lost_after_heal=sum([at > healed for at in times]),
        last_lost=round(max([at - cut for at in times], default=0.0), 1),
        tokens_back=kinds.count("token"),
        games_gone=kinds.count("create"),
        pause=round(pause, 1),
        converged=round(converged, 1),
    )


def main(argv: Sequence[str]) -> None:
    """Measure the partition of this name, for so many seconds."""
    (partition,) = [each for each in PARTITIONS if each.name == argv[0]]
    print(json.dumps(measure(partition, float(argv[1]))._asdict()))


if __name__ == "__main__":
    main(sys.argv[1:])
