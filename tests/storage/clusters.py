"""Several real servers on loopback: a Cluster, and a primary with a replica and three Sentinels.

Each server can be killed, frozen, thawed and started again.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import redis
from redis.crc import key_slot

from service.devserver.embedded import find_server
from service.devserver.terminal import die_with_parent
from tests.support import waiting
from tests.support.processes import free_ports
from tests.support.waiting import PATIENCE

NODE_TIMEOUT = 2.0
SERVICE = "games"


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; an error of redis-py counts as false."""
    waiting.until(condition, despite=(redis.RedisError,))


class Server:
    """One process at one port."""

    def __init__(self, folder: Path, port: int, options: dict[str, str], *, sentinel: bool = False) -> None:
        folder.mkdir(parents=True)
        self.folder, self.port, self.options, self.sentinel = folder, port, options, sentinel
        self.address = f"127.0.0.1:{port}"
        self.admin: Any = redis.Redis(port=port, protocol=2, socket_timeout=5, decode_responses=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it may take a moment until it answers."""
        file = self.folder / "server.conf"
        if not file.exists():
            file.write_text("".join(f"{name} {value}\n" for name, value in self._settings().items()))
        command = [find_server(), str(file), *(["--sentinel"] if self.sentinel else [])]
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                die_with_parent(command, signal.SIGKILL),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
            )

    def answers(self) -> bool:
        return bool(self.admin.ping())

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """As by kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        self.admin.close()
        self.kill()

    def _signal(self, sign: signal.Signals) -> None:
        os.kill(self.pid, sign)

    def _settings(self) -> dict[str, str]:
        common = {"port": str(self.port), "bind": "127.0.0.1", "dir": str(self.folder), "daemonize": "no"}
        if self.sentinel:
            return {**common, **self.options}
        data = {
            "save": '""',
            "appendonly": "yes",
            "appendfsync": "no",
            "repl-diskless-sync-delay": "0",
            "enable-debug-command": "yes",
        }
        return {**common, **data, **self.options}


class Servers:
    """A number of servers that are started and ended together."""

    servers: list[Server]

    def start(self) -> None:
        """Start them and wait until they work together."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for server in self.servers:
            server.stop()


class Cluster(Servers):
    """Three primaries with a replica each: the replica of ``servers[n]`` is ``servers[n + 3]``, at first."""

    _many = 6

    def __init__(self, folder: Path, **options: str) -> None:
        ports = free_ports(2 * self._many)
        shared = {"cluster-enabled": "yes", "cluster-node-timeout": str(int(NODE_TIMEOUT * 1000)), **options}
        self.servers = [
            Server(folder / str(port), port, {**shared, "cluster-port": str(bus)})
            for port, bus in zip(ports[: self._many], ports[self._many :], strict=True)
        ]
        self._buses = ports[self._many :]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(server.address for server in self.servers[:3])

    def start(self) -> None:
        """Start the servers and make a Cluster of them."""
        for server in self.servers:
            server.start()
        until(lambda: all(server.answers() for server in self.servers))
        bounds = [0, 5461, 10923, 16384]
        for number, server in enumerate(self.servers):
            server.admin.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if number < 3:
                server.admin.execute_command("CLUSTER ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1)
            if number:
                first = self.servers[0]
                server.admin.execute_command("CLUSTER MEET", "127.0.0.1", first.port, self._buses[0])
        until(lambda: all(self._knows_all(server) for server in self.servers))
        for primary, replica in zip(self.servers, self.servers[3:], strict=False):
            replica.admin.execute_command("CLUSTER REPLICATE", primary.admin.execute_command("CLUSTER MYID"))
        until(self.is_whole)

    def is_whole(self) -> bool:
        """Whether every slot has an owner, with a replica if there are any, as every server sees it."""
        return all(self._is_whole(server) for server in self.servers)

    def _is_whole(self, server: Server) -> bool:
        state = server.admin.execute_command("CLUSTER INFO")
        rows = server.admin.execute_command("CLUSTER SLOTS")
        role = server.admin.execute_command("ROLE")
        linked = role[0] == "master" or role[3] == "connected"
        replicas = self._many // 3 - 1
        replicated = role[0] != "master" or len(role[2]) == replicas
        served = state["cluster_state"] == "ok" and state["cluster_known_nodes"] == str(self._many)
        return linked and replicated and served and all(len(row) >= 3 for row in _rows(rows))

    def _knows_all(self, server: Server) -> bool:
        return bool(server.admin.execute_command("CLUSTER INFO")["cluster_known_nodes"] == str(self._many))

    def primary_of(self, key: bytes) -> Server:
        """The owner of a key, according to the servers that are running."""
        slot = key_slot(key)
        for server in self.servers:
            if server._process is not None and server.admin.execute_command("ROLE")[0] == "master":
                mine = server.admin.execute_command("CLUSTER NODES")
                for node in mine.values():
                    if "myself" in node["flags"] and any(int(a) <= slot <= int(b) for a, b in _ranges(node["slots"])):
                        return server
        raise LookupError(slot)

    def replica_of(self, primary: Server) -> Server:
        own = primary.admin.execute_command("ROLE")[2]
        return next(server for server in self.servers if server.port == int(own[0][1]))

    def fail_over(self, key: bytes, *, vote: bool = False, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Kill the owner of a key, and start it again when its replica has taken over, by itself or after a vote.

        Call ``meanwhile`` while the key has no owner.
        """
        primary = self.primary_of(key)
        replica = self.replica_of(primary)
        primary.kill()
        meanwhile()
        if not vote:
            replica.admin.execute_command("CLUSTER FAILOVER TAKEOVER")
        until(lambda: replica.admin.execute_command("ROLE")[0] == "master")
        primary.start()


class PrimariesOnly(Cluster):
    """Three primaries without replicas."""

    _many = 3


class Sentinels(Servers):
    """A primary and its replica, ``servers[0]`` and ``[1]``, under three Sentinels, ``servers[2:]``."""

    def __init__(self, folder: Path, password: str | None = None) -> None:
        ports = free_ports(5)
        data = {} if password is None else {"requirepass": password, "masterauth": password}
        self._password = password
        following = {**data, "replicaof": f"127.0.0.1 {ports[0]}"}
        self.servers = [Server(folder / "primary", ports[0], data), Server(folder / "replica", ports[1], following)]
        watch = {
            f"sentinel monitor {SERVICE}": f"127.0.0.1 {ports[0]} 2",
            f"sentinel down-after-milliseconds {SERVICE}": "1000",
            f"sentinel failover-timeout {SERVICE}": "4000",
        }
        if password is not None:
            watch[f"sentinel auth-pass {SERVICE}"] = password
        self.servers += [Server(folder / str(port), port, watch, sentinel=True) for port in ports[2:]]
        if password is not None:
            for server in self.servers[:2]:
                server.admin = redis.Redis(
                    port=server.port, password=password, protocol=2, socket_timeout=5, decode_responses=True
                )

    @property
    def url(self) -> str:
        who = "" if self._password is None else f":{self._password}@"
        return f"redis+sentinel://{who}{','.join(server.address for server in self.servers[2:])}/{SERVICE}"

    def start(self) -> None:
        """Start primary and replica, then the Sentinels."""
        for server in self.servers[:2]:
            server.start()
        until(lambda: self.servers[1].admin.execute_command("ROLE")[3] == "connected")
        for server in self.servers[2:]:
            server.start()
        until(lambda: all(self._is_whole(server) for server in self.servers[2:]))

    def _is_whole(self, sentinel: Server) -> bool:
        state: Any = sentinel.admin.sentinel_master(SERVICE)
        return int(state["num-slaves"]) == 1 and int(state["num-other-sentinels"]) == 2


def _rows(rows: Any) -> list[list[Any]]:
    """The rows of CLUSTER SLOTS, in either form that redis-py returns."""
    if isinstance(rows, dict):
        return [[*bounds, node["primary"], *node["replicas"]] for bounds, node in rows.items()]
    return list(rows)


def _ranges(slots: list[Any]) -> list[tuple[str, str]]:
    return [(each[0], each[-1]) for each in slots if each[0].isdecimal()]
