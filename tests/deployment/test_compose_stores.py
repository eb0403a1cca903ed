"""The stores of examples/compose, started by the commands of the files: a server fails, and games go on.

The servers run as processes on addresses of loopback in the place of containers; what they run is what the files say.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import redis

from service.devserver.embedded import find_server
from service.devserver.terminal import die_with_parent
from tests.deployment.tools import EXAMPLES, larger, tool
from tests.storage.clusters import until
from tests.support.programs import run
from tests.support.serving import Service
from tests.support.waiting import PATIENCE
from tests.whole.table import Table, connect

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has every address of 127.0.0.0/8"),
]
SENTINEL_PORT = 26379


def prefix() -> str:
    """The first three numbers of addresses that no other process of the tests uses."""
    number = os.getpid() % (64 * 256)
    return f"127.{64 + number // 256}.{number % 256}"


class Containers:
    """The services of a file that run the image of the store, each as a process in a folder of its own."""

    def __init__(self, folder: Path, file: str) -> None:
        self.config = larger(file, STORES=prefix(), STORE_MAXMEMORY="64mb")
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._programs = folder / "bin"
        self._programs.mkdir(parents=True)
        (self._programs / "valkey-server").symlink_to(find_server())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._running):
            self.kill(name)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the web server that concern its store."""
        given: dict[str, str] = self.config["services"]["service"]["environment"]
        return {name: given[name] for name in ("REDIS_URL", "DURABILITY")}

    def add_program(self, name: str, path: str) -> None:
        (self._programs / name).symlink_to(path)

    def start(self, *names: str) -> None:
        """Start these services, or start them again."""
        for name in names:
            service = self.config["services"][name]
            own = self._folder / name
            own.mkdir(exist_ok=True)
            words = [word.replace("$$", "$") for word in service["command"]]
            with (own / "log").open("ab") as log:
                self._running[name] = subprocess.Popen(
                    die_with_parent([str(shutil.which(words[0])), *words[1:]], signal.SIGKILL),
                    cwd=own,
                    env={
                        "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
                        **(service.get("environment") or {}),
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def kill(self, name: str) -> None:
        """As by kill -9, with what the service has started."""
        process = self._running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    def finish(self, name: str) -> int:
        """Wait for the end of a service that ends by itself; its status."""
        return self._running[name].wait(PATIENCE)

    def client(self, name: str, port: int = 6379) -> Any:
        """A client of one server."""
        address = self.config["services"][name]["networks"]["stores"]["ipv4_address"]
        return redis.Redis(address, port, protocol=2, socket_timeout=5, decode_responses=True)


def accepts_games(http: httpx.Client) -> bool:
    """Whether a new game is acknowledged."""
    body = {"variant": "domino", "players": [{"name": "A"}, {"name": "B"}]}
    answer = http.post("/v1/games", json=body)
    assert answer.status_code in (201, 503), answer.text
    return answer.status_code == 201


def play_over_a_failure(
    containers: Containers, folder: Path, fail: Callable[[], None], repair: Callable[[], None]
) -> None:
    """Create a game, let a server fail, and find the game again; then create others."""
    with Service(folder, SECRET_KEY="x" * 32, **containers.settings) as service, connect(service.url) as http:
        until(lambda: http.get("/readyz").status_code == 200)
        table = Table.create(http, "fido", seed="a rainy evening", options={"rounds": 1})
        fail()
        until(lambda: http.get(table.path, headers=table.headers(0)).status_code == 200)
        repair()
        until(lambda: accepts_games(http))
        assert list(table.play(1))[-1]["status"] == "finished"


def test_sentinel_replaces_a_store_that_fails_and_takes_it_back_as_the_replica(tmp_path: Path) -> None:
    with Containers(tmp_path / "stores", "replica.yaml") as containers:
        store, replica = containers.client("store"), containers.client("store-replica")
        sentinel = containers.client("sentinel-2", SENTINEL_PORT)
        containers.start("store")
        until(store.ping)
        containers.start("store-replica")
        until(lambda: replica.role()[3] == "connected")
        containers.start("sentinel-1", "sentinel-2", "sentinel-3")
        until(lambda: sentinel.sentinel_master("games")["num-other-sentinels"] == 2)
        until(lambda: sentinel.sentinel_master("games")["num-slaves"] == 1)

        def fail() -> None:
            containers.kill("store")
            until(lambda: replica.role()[0] == "master")

        def repair() -> None:
            containers.start("store")
            until(lambda: store.role()[0] == "slave")
            until(lambda: store.role()[3] == "connected")

        play_over_a_failure(containers, tmp_path / "web", fail, repair)
        for name, client, role in (("store-replica", replica, "master"), ("store", store, "slave")):
            containers.kill(name)
            containers.start(name)
            until(client.ping)
            assert client.role()[0] == role  # as its file has been changed, and not as it was written at first


def test_the_nodes_are_joined_once_and_a_replica_takes_over(tmp_path: Path) -> None:
    with Containers(tmp_path / "stores", "cluster.yaml") as containers:
        containers.add_program("valkey-cli", tool("valkey-cli", "redis-cli"))
        nodes = [f"node-{number}" for number in range(1, 7)]
        clients = {name: containers.client(name) for name in nodes}
        containers.start(*nodes)
        until(lambda: all(client.ping() for client in clients.values()))
        for _ in range(2):  # the second time there is nothing to do
            containers.start("cluster")
            assert containers.finish("cluster") == 0
        until(lambda: all(client.cluster("INFO")["cluster_state"] == "ok" for client in clients.values()))
        primary = next(name for name in nodes if clients[name].role()[0] == "master")
        until(lambda: len(clients[primary].role()[2]) == 1)
        others = [clients[name] for name in nodes if name != primary]

        def fail() -> None:
            containers.kill(primary)
            until(lambda: sum(client.role()[0] == "master" for client in others) == 3)

        def repair() -> None:
            containers.start(primary)
            until(lambda: clients[primary].role()[0] == "slave" and clients[primary].role()[3] == "connected")

        play_over_a_failure(containers, tmp_path / "web", fail, repair)


def test_the_secrets_that_the_readme_makes_are_those_of_the_service_and_its_store(tmp_path: Path) -> None:
    address = f"{prefix()}.31"
    (commands,) = re.findall(r"```sh\n(.+?)```", (EXAMPLES / "README.md").read_text("utf-8"), re.DOTALL)
    run(tmp_path, "sh", "-euc", commands.replace("@store:", f"@{address}:"), PATH=os.environ["PATH"])
    services = larger("secrets.yaml")["services"]

    def here(text: str) -> str:
        return text.replace("/run/secrets", str(tmp_path / "secrets"))

    _program, *options = [here(word) for word in services["store"]["command"]]
    command = die_with_parent([find_server(), *options, "--bind", address], signal.SIGKILL)
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as store:
        try:
            client: Any = redis.Redis(address, protocol=2, socket_timeout=5)
            until(lambda: refuses_strangers(client))
            files = ("REDIS_URL", "REDIS_URL_FILE", "SECRET_KEY", "SECRET_KEY_FILE")
            settings: dict[str, Any] = {name: here(services["service"]["environment"][name]) for name in files}
            with Service(tmp_path / "web", **settings) as service, connect(service.url) as http:
                assert accepts_games(http)
        finally:
            store.kill()


def refuses_strangers(client: Any) -> bool:
    """Whether the server runs, and answers nobody without its password; an answer to others fails."""
    try:
        client.ping()
    except redis.AuthenticationError:
        return True
    raise AssertionError("the store has no password")
