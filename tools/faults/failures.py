"""What fails: each failure happens once when it is called, and everything runs again when it returns.

Owns how it is brought about, for processes of the user alone: no root, no other file system is needed. A full disk is a
limit of the size of files (``RLIMIT_FSIZE``) at what the server has written so far, a read-only file system one of zero
for all processes: every ``write`` to a file then fails, as it does there, only with EFBIG in the place of ENOSPC and
EROFS. Linux only.
"""

from __future__ import annotations

import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Final, NamedTuple

import httpx
import redis

from service.redis import keys
from service.redis.connection import connect
from tests.storage.clusters import Cluster, Server, until
from tests.storage.servers import write_before_answering
from tests.support.processes import runs
from tests.whole.proxy import Mishap
from tools.faults.stages import COMMANDS, Stage, signal_all

_EVERY: Final = (*COMMANDS, "web", "master")
_FROZEN_SECONDS: Final = (1.0, 8.0)
_DISK_SECONDS: Final = 3.0
_DISTURBED: Final = 7
"""Of so many scripts, one has a mishap while connections are disturbed."""
_OF_EACH: Final = 4
"""Mishaps of each kind, so that some are of moves without a key."""
_SERVED: Final = 20
"""Requests on games whose server runs that are served before another one is repaired."""
_UNLIMITED: Final = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


class Broken(NamedTuple):
    """What has been broken so far, and who decides by chance."""

    counted: Counter[str]
    random: Random
    games: Callable[[], list[str]]
    """The ids of games that are played now."""
    served: Callable[[Collection[str]], int]
    """How many requests on these games have succeeded so far."""


Failure = Callable[[Stage, Broken], None]


def nothing(_: Stage, __: Broken) -> None:
    """Nothing fails."""
    time.sleep(0.5)


def kill_a_process(stage: Stage, broken: Broken) -> None:
    """Kill a worker of any kind, or gunicorn's master, and wait until another runs in its place."""
    command = broken.random.choice(_EVERY if not stage.background else (*COMMANDS, "web"))
    pid = broken.random.choice(_await_pids(stage, command))
    before = len(stage.pids(command))
    signal_all([pid], signal.SIGKILL)
    broken.counted["processes killed"] += 1
    _restore(stage)
    until(lambda: not runs(pid) and len(stage.pids(command)) >= before)
    time.sleep(broken.random.uniform(0.2, 1.5))


def restart_the_workers(stage: Stage, broken: Broken) -> None:
    """Let other web workers take the place of those that run, as after a change of settings."""
    old = _await_pids(stage, "web")
    signal_all(stage.pids("master"), signal.SIGHUP)
    broken.counted["rolling restarts"] += 1
    until(lambda: not any(runs(pid) for pid in old))
    _await_pids(stage, "web")
    served = broken.served(broken.games())
    until(lambda: broken.served(broken.games()) > served)


def disturb_connections(stage: Stage, broken: Broken) -> None:
    """Lose, cut off or delay the answer to one in some scripts, until each has happened some times."""
    proxy = stage.proxy
    assert proxy is not None
    before = proxy.injected.copy()
    proxy.every = _DISTURBED
    try:
        until(lambda: all(proxy.injected[each.value] >= before[each.value] + _OF_EACH for each in Mishap))
    finally:
        proxy.every = 0
    broken.counted["mishaps"] += (proxy.injected - before).total()


def kill_all_processes(stage: Stage, broken: Broken) -> None:
    """Kill all processes but the supervisor at once: workers of all kinds, gunicorn's master, and the server."""
    with connect(stage.nodes) as client:
        write_before_answering(client)
    before = [pid for command in _EVERY for pid in stage.pids(command)]
    broken.counted["processes killed"] += signal_all([*before, stage.service.embedded_server()], signal.SIGKILL)
    until(lambda: all(len(_running(stage, command)) >= 1 for command in _EVERY) and _is_ready(stage))
    time.sleep(broken.random.uniform(1.0, 3.0))


def freeze_processes(stage: Stage, broken: Broken) -> None:
    """Freeze one process of each kind for some seconds."""
    frozen = [broken.random.choice(_await_pids(stage, command)) for command in (*COMMANDS, "web")]
    broken.counted["processes frozen"] += signal_all(frozen, signal.SIGSTOP)
    try:
        time.sleep(broken.random.uniform(*_FROZEN_SECONDS))
    finally:
        signal_all(frozen, signal.SIGCONT)
    time.sleep(1.0)


def kill_the_server(stage: Stage, broken: Broken) -> None:
    """Kill the server, which writes to its file before it answers."""
    with connect(stage.nodes) as client:
        write_before_answering(client)
    broken.counted["servers killed"] += signal_all([stage.service.embedded_server()], signal.SIGKILL)
    _await_answers(stage)
    time.sleep(broken.random.uniform(0.2, 1.5))


def freeze_the_server(stage: Stage, broken: Broken) -> None:
    """Freeze the server for longer than a request waits for it."""
    pid = stage.service.embedded_server()
    broken.counted["servers frozen"] += signal_all([pid], signal.SIGSTOP)
    try:
        time.sleep(broken.random.uniform(*_FROZEN_SECONDS))
    finally:
        signal_all([pid], signal.SIGCONT)
    time.sleep(1.0)


def fill_the_memory(stage: Stage, broken: Broken) -> None:
    """Leave the server no memory for any write."""
    with connect(stage.nodes) as client:
        client.config_set("maxmemory", "1")
        broken.counted["times full"] += 1
        time.sleep(2.0)
        client.config_set("maxmemory", "0")
    time.sleep(1.0)


def fill_the_disk(stage: Stage, broken: Broken) -> None:
    """Keep the files of the server from growing."""
    data = stage.service.folder / "appendonlydir"
    pid = stage.service.embedded_server()
    with _limited([pid], max(file.stat().st_size for file in data.iterdir())):
        broken.counted["times full"] += 1
        broken.counted["of them noticed"] += _writes_fail(stage)
        time.sleep(_DISK_SECONDS)
    _await_writes(stage)
    time.sleep(1.0)


def make_files_read_only(stage: Stage, broken: Broken) -> None:
    """No process can write to a file, nor can the server rewrite its own."""
    pids = [pid for command in _EVERY for pid in stage.pids(command)]
    with _limited([*pids, stage.service.embedded_server()], 0):
        broken.counted["times read-only"] += 1
        broken.counted["of them noticed"] += _writes_fail(stage)
        with connect(stage.nodes) as client, suppress(redis.ResponseError):  # which says that it cannot
            client.bgrewriteaof()
        time.sleep(_DISK_SECONDS)
    _await_writes(stage)
    time.sleep(1.0)


def fail_over_by_sentinel(stage: Stage, broken: Broken) -> None:
    """Kill the primary; when its replica is the primary, start it again: it is the replica from then on."""
    sentinels = stage.sentinels
    assert sentinels is not None
    roles = {server.admin.execute_command("ROLE")[0]: server for server in sentinels.servers[:2]}
    primary, replica = roles["master"], roles["slave"]
    primary.kill()
    broken.counted["primaries killed"] += 1
    until(lambda: replica.admin.execute_command("ROLE")[0] == "master")
    time.sleep(1.0)
    primary.start()
    until(lambda: primary.admin.execute_command("ROLE")[::3] == ["slave", "connected"])
    time.sleep(broken.random.uniform(8.0, 10.0))  # Sentinel fails over again after twice its time-out


def fail_over_in_the_cluster(stage: Stage, broken: Broken) -> None:
    """Kill a primary that has games; when its replica is one, start it again: it is the replica from then on.

    The replica waits until games of other primaries were served meanwhile.
    """
    cluster, primary, hit = _primary_with_games(stage, broken)
    replica = cluster.replica_of(primary)
    replica.admin.config_set("cluster-replica-no-failover", "yes")
    primary.kill()
    broken.counted["primaries killed"] += 1
    _await_others(broken, hit)
    replica.admin.config_set("cluster-replica-no-failover", "no")
    until(lambda: replica.admin.execute_command("ROLE")[0] == "master")
    served = broken.served(hit)
    until(lambda: broken.served(hit) > served)
    primary.start()
    until(cluster.is_whole)
    time.sleep(2.0)


def freeze_a_replica(stage: Stage, broken: Broken) -> None:
    """Freeze the replica of a primary that has games; without it, none of their writes counts."""
    cluster, primary, hit = _primary_with_games(stage, broken)
    replica = cluster.replica_of(primary)
    replica.freeze()
    try:
        broken.counted["replicas frozen"] += 1
        _await_others(broken, hit)
    finally:
        replica.thaw()
    until(cluster.is_whole)


def _primary_with_games(stage: Stage, broken: Broken) -> tuple[Cluster, Server, frozenset[str]]:
    """Choose a primary, and return the games that it has."""
    cluster = stage.cluster
    assert cluster is not None
    owners = {game: cluster.primary_of(keys.state(game)) for game in broken.games()}
    primary = broken.random.choice(list(owners.values()))
    return cluster, primary, frozenset([game for game, owner in owners.items() if owner is primary])


def _await_others(broken: Broken, hit: frozenset[str]) -> None:
    """Wait until other games than these were served."""
    served = broken.served(set(broken.games()) - hit)
    until(lambda: broken.served(set(broken.games()) - hit) > served + _SERVED)


def _running(stage: Stage, command: str) -> list[int]:
    return [pid for pid in stage.pids(command) if runs(pid)]


def _await_pids(stage: Stage, command: str) -> list[int]:
    """Return the processes that run this command, when there is one."""
    until(lambda: bool(_running(stage, command)))
    return _running(stage, command)


def _restore(stage: Stage) -> None:
    """Start again what no supervisor does."""
    for number, each in enumerate(stage.background):
        if each.process.poll() is not None:
            stage.restore(number)


def _await_answers(stage: Stage) -> None:
    """Wait until the server answers again."""

    def answers() -> bool:
        with connect(stage.nodes) as client:
            return bool(client.ping())

    until(answers)


def _is_ready(stage: Stage) -> bool:
    """Return whether a web worker answers that it reaches the server."""
    with suppress(httpx.HTTPError):
        return httpx.get(f"{stage.service.url}/readyz").is_success
    return False


@contextmanager
def _limited(pids: list[int], size: int) -> Iterator[None]:
    """Keep these processes from writing to a file beyond this size, in bytes."""
    limited = []
    try:
        for pid in pids:
            try:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            except ProcessLookupError:
                continue
            limited.append(pid)
        yield
    finally:
        for pid in limited:
            try:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, _UNLIMITED)
            except ProcessLookupError:
                continue


def _writes_fail(stage: Stage) -> bool:
    """Return whether the server refuses writes within some seconds."""
    deadline = time.monotonic() + _DISK_SECONDS
    while time.monotonic() < deadline:
        if not _can_write(stage):
            return True
        time.sleep(0.05)
    return False


def _await_writes(stage: Stage) -> None:
    """Wait until the server accepts writes again."""
    until(lambda: _can_write(stage))


def _can_write(stage: Stage) -> bool:
    with connect(stage.nodes) as client:
        try:
            client.set("faults:probe", "x")
        except redis.ResponseError:
            return False
    return True
