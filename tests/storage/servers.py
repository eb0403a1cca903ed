"""Servers for the tests of the store: a real one that can be killed or frozen, and a fake one with given answers."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import hiredis
import redis

from service.devserver.embedded import EmbeddedServer
from tests.storage.clusters import Cluster, Server, until
from tests.support.waiting import PATIENCE


class RealServer:
    """A Redis or Valkey of its own, with its data on disk."""

    def __init__(self, folder: Path, **options: str) -> None:
        own = {"enable-protected-configs": "yes", "appendfsync": "no"}  # what is written survives a kill -9
        self._server = EmbeddedServer(folder, options={**own, **options})
        self._server.start()
        self.admin = redis.Redis.from_url(self.url, protocol=2, socket_timeout=10)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def socket_path(self) -> Path:
        return self._server.socket_path

    def kill(self) -> None:
        """As by kill -9."""
        pid = self._server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert self._server._process is not None
        self._server._process.wait(PATIENCE)

    def start(self) -> None:
        self._server.start()

    def freeze(self) -> None:
        assert self._server.pid is not None
        os.kill(self._server.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._server.pid is not None
        os.kill(self._server.pid, signal.SIGCONT)

    def stop(self) -> None:
        self.admin.close()
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def configure(self, **settings: str) -> None:
        for name, value in settings.items():
            self.admin.config_set(name.replace("_", "-"), value)


SERVERS: dict[str, type[RealServer] | type[Cluster]] = {"redis": RealServer, "cluster": Cluster}
"""What runs in a folder of its own, by name."""


def fill(admin: redis.Redis, percent: int, ballast: str = "ballast") -> None:
    """Set ``maxmemory`` so that what is in use, 10 MB or more, is so many percent of it."""
    admin.setrange(ballast, 10_000_000, b"x")  # without a long command, whose buffers would count for a moment
    memory = admin.info("memory")
    used = memory["used_memory"] - memory["mem_not_counted_for_evict"]
    admin.config_set("maxmemory", used * 100 // percent)


def write_before_answering(client: redis.Redis) -> None:
    """Make the server save every write to its file before it answers, until it is started again.

    While a slow disk syncs, a server that syncs every second lets its answers run ahead of the file by up to two
    seconds; a kill -9 in that moment may lose them.
    """
    client.config_set("appendfsync", "always")


@contextmanager
def frozen(server: RealServer | Server) -> Iterator[None]:
    """It answers nothing."""
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextmanager
def full(server: RealServer) -> Iterator[None]:
    """Its memory is full."""
    server.configure(maxmemory="1")
    try:
        yield
    finally:
        server.configure(maxmemory="0")


@contextmanager
def read_only(server: RealServer) -> Iterator[None]:
    """It is a replica of a server that is away."""
    server.admin.replicaof("127.0.0.1", "1")
    try:
        yield
    finally:
        server.admin.replicaof("NO", "ONE")


@contextmanager
def too_few_replicas(server: RealServer) -> Iterator[None]:
    """It has fewer replicas than it requires."""
    server.configure(min_replicas_to_write="1")
    try:
        yield
    finally:
        server.configure(min_replicas_to_write="0")


@contextmanager
def unable_to_save(server: RealServer) -> Iterator[None]:
    """It requires that its data are saved, and they cannot be."""
    folder = str(server.admin.config_get("dir")["dir"])
    lost = Path(folder, "lost")
    lost.mkdir()
    server.configure(appendonly="no", dir=str(lost), save="3600 1")
    shutil.rmtree(lost)
    server.admin.bgsave()
    until(lambda: server.admin.info("persistence")["rdb_last_bgsave_status"] == "err")
    try:
        yield
    finally:
        server.configure(dir=folder, save="", appendonly="yes")
        until(lambda: not server.admin.info("persistence")["aof_rewrite_in_progress"])


Answer = bytes | None
"""What a fake server sends: bytes, or ``None`` to close the connection."""


class Loopback(ABC):
    """Listens on loopback, and serves in a thread until the end of its ``with``."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.wake, self._waker = socket.socketpair()
        self._thread = threading.Thread(target=self.serve)
        self.url = f"redis://127.0.0.1:{self.listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waker.close()
        self._thread.join(PATIENCE)
        self.listening.close()
        self.wake.close()

    @abstractmethod
    def serve(self) -> None:
        """Serve until ``wake`` can be read."""


class FakeServer(Loopback):
    """Takes any number of connections and answers each command by ``answer(command)``.

    ``commands`` are those received whole, in their order, whatever the connection.
    """

    def __init__(self, answer: Callable[[list[bytes]], Answer], tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self._answer = answer
        self._tls = tls
        self.commands: list[list[bytes]] = []

    def serve(self) -> None:
        clients: dict[socket.socket, Any] = {}
        try:
            while True:
                ready, _, _ = select.select([self.wake, self.listening, *clients], [], [], 30)
                if self.wake in ready or not ready:
                    return
                for each in ready:
                    if each is self.listening:
                        clients[self._accept()] = hiredis.Reader()
                    elif not self._serve_client(each, clients[each]):
                        del clients[each]
                        each.close()
        finally:
            for client in clients:
                client.close()

    def _accept(self) -> socket.socket:
        client, _ = self.listening.accept()
        client.settimeout(10)
        return client if self._tls is None else self._tls.wrap_socket(client, server_side=True)

    def _serve_client(self, client: socket.socket, reader: Any) -> bool:
        """Answer what was received; returns whether the connection stays open."""
        try:
            received = client.recv(65536)
            if not received:
                return False
            reader.feed(received)
            while (command := reader.gets()) is not False:
                self.commands.append(command)
                answer = self._answer(command)
                if answer is None:
                    return False
                client.sendall(answer)
        except OSError:
            return False
        return True
