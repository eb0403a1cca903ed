"""What an attacker process does with the requests that it gets, until its time is over.

Every attacker is robust to refusals: an answer of any status counts as done, and after a closed connection it opens the
next one. Owns the processes of the attackers. Does not depend on what is requested.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from multiprocessing.connection import Connection as Pipe
from typing import Any, Final, NamedTuple

import orjson

from tools.attack.http import Address, Closed, Connection, request

ATTACKERS: Final = 4
_PATIENCE: Final = 5.0
PAUSE_SECONDS: Final = 0.01
"""After a closed connection, so that a refused attacker does not use up the processors itself."""
_STOP_SECONDS: Final = _PATIENCE + 1
_DRIP_SECONDS: Final = 0.02
_SLOW_READER_SECONDS: Final = 0.2
_ZEROS: Final = bytes(1 << 16)
_CHUNK: Final = b"10000\r\n" + _ZEROS + b"\r\n"

Done = Counter[str]
"""Requests by their outcome: a status, or what happened instead."""
Act = Callable[["Attacker"], Done]


class Attacker(NamedTuple):
    """One attacker: its own address, its requests and when it ends, by ``time.monotonic``."""

    target: Address
    source: str
    requests: tuple[bytes, ...]
    facts: dict[str, Any]
    """What some kinds of attackers need besides, such as a token."""
    end: float

    def in_turn(self) -> Iterator[bytes]:
        """Yield the requests, again and again as long as there is time."""
        for each in cycle(self.requests):
            if not self.has_time():
                return
            yield each

    def has_time(self) -> bool:
        """Return whether there is time left."""
        return time.monotonic() < self.end

    def connection(self) -> Connection:
        """Return a connection from its address."""
        return Connection(self.target, self.source, _PATIENCE)


class Order(NamedTuple):
    """What all attackers of an attack do: ``act``, each with the requests and facts of its number."""

    act: Act
    requests: Sequence[Sequence[bytes]]
    facts: Sequence[dict[str, Any]] = ()


class Attackers:
    """The processes of some attackers, which wait for ``go``."""

    def __init__(self, target: Address, order: Order, sources: Sequence[str]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tools.attack.attackers"])
        self._pipes: list[Pipe] = []
        self._processes = []
        for number, source in enumerate(sources):
            ours, theirs = context.Pipe()
            chosen = tuple(order.requests[number % len(order.requests)]) if order.requests else ()
            facts = order.facts[number % len(order.facts)] if order.facts else {}
            attacker = Attacker(target, source, chosen, facts, 0.0)
            process = context.Process(target=_wait_and_attack, args=(theirs, order.act, attacker), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        for pipe in self._pipes:
            pipe.recv()  # it runs and has all its requests

    def go(self, seconds: float) -> None:
        """Begin, and end after that time."""
        for pipe in self._pipes:
            pipe.send(seconds)

    def wait(self, seconds: float) -> None:
        """Wait until all have ended, at most so long."""
        until = time.monotonic() + seconds
        for pipe in self._pipes:
            pipe.poll(max(0.0, until - time.monotonic()))

    def stop(self) -> Done:
        """Wait until all have ended, or end them; returns what they have done. Does nothing the second time."""
        done: Done = Counter()
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            with contextlib.suppress(EOFError, OSError):
                if pipe.poll(_STOP_SECONDS):
                    done += pipe.recv()
            pipe.close()
            process.join(_STOP_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()
        self._pipes, self._processes = [], []
        return done


def _wait_and_attack(pipe: Pipe, act: Act, attacker: Attacker) -> None:
    pipe.send(None)
    with contextlib.suppress(EOFError):
        seconds = pipe.recv()
        pipe.send(act(attacker._replace(end=time.monotonic() + seconds)))


# ── Kinds of attackers ───────────────────────────────────────────────────────────────────────────────────────────────


def wait(attacker: Attacker) -> Done:
    """Do nothing: shows how much the moves of honest players vary by themselves."""
    time.sleep(max(0.0, attacker.end - time.monotonic()))
    return Counter()


def send_in_turn(attacker: Attacker) -> Done:
    """Send the requests one after another on a connection that is kept alive."""
    done: Done = Counter()
    connection = attacker.connection()
    for each in attacker.in_turn():
        send_counted(connection, each, done)
    connection.close()
    return done


def pour(attacker: Attacker) -> Done:
    """Send a head and then a body without end, as fast as it is read; again when the connection is closed."""
    done: Done = Counter()
    sent_bytes = 0
    for head in attacker.in_turn():
        piece = memoryview(_CHUNK if b"chunked" in head else _ZEROS)
        connection = attacker.connection()
        with contextlib.suppress(Closed, OSError):
            raw = connection.open()
            raw.settimeout(_SLOW_READER_SECONDS)
            raw.sendall(head)
            left = piece
            while attacker.has_time():
                with contextlib.suppress(TimeoutError):
                    sent = raw.send(left)
                    left = left[sent:] or piece
                    sent_bytes += sent
        connection.close()
        done["connections"] += 1
        time.sleep(PAUSE_SECONDS)
    done["MiB"] = sent_bytes >> 20
    return done


def drip(attacker: Attacker) -> Done:
    """Send a head and the rest of it byte by byte, until the connection is closed."""
    done: Done = Counter()
    for head in attacker.in_turn():
        connection = attacker.connection()
        with contextlib.suppress(Closed, OSError):
            raw = connection.open()
            raw.sendall(head)
            while attacker.has_time():
                raw.sendall(b"x")
                time.sleep(_DRIP_SECONDS)
        connection.close()
        done["connections"] += 1
        time.sleep(PAUSE_SECONDS)
    return done


def hold_and_hang_up(attacker: Attacker) -> Done:
    """Open many connections with the request each, hang all of them up, and so on.

    ``connections``: how many; ``seconds``: how long all of them are held.
    """
    done: Done = Counter()
    while attacker.has_time():
        held: list[socket.socket] = []
        selector = selectors.DefaultSelector()
        until = min(attacker.end, time.monotonic() + attacker.facts["seconds"])
        while time.monotonic() < until:
            if len(held) < attacker.facts["connections"]:
                try:
                    raw = attacker.connection().open()
                    raw.sendall(attacker.requests[0])
                    raw.settimeout(0)
                except (Closed, OSError):
                    done["closed"] += 1
                    time.sleep(PAUSE_SECONDS)
                    continue
                held.append(raw)
                selector.register(raw, selectors.EVENT_READ)
            elif not selector.get_map():
                break  # none of them is open any more
            for key, _ in selector.select(0 if len(held) < attacker.facts["connections"] else 0.1):
                with contextlib.suppress(OSError):
                    _receive(selector, key, done)
        selector.close()
        done["connections"] += len(held)
        for raw in held:
            raw.close()
        time.sleep(PAUSE_SECONDS)
    return done


def seek_and_go(attacker: Attacker) -> Done:
    """Seek a table, and leave it at once; with ``fills`` have computer players take its open seats instead."""
    done: Done = Counter()
    connection = attacker.connection()
    for each in attacker.in_turn():
        answer = send_counted(connection, each, done)
        sat = orjson.loads(answer) if answer else {}
        if "token" not in sat:
            continue
        seats, method, body = [sat["seat"]], "DELETE", None
        if attacker.facts.get("fills"):
            seats = [seat["seat"] for seat in sat["game"]["players"] if seat["kind"] == "open"]
            method, body = "PUT", b'{"bot": "random"}'
        for seat in seats:
            path = f"/v1/games/{sat['game']['id']}/players/{seat}"
            send_counted(connection, request(method, path, body, token=sat["token"]), done)
    connection.close()
    return done


def _receive(selector: selectors.BaseSelector, key: selectors.SelectorKey, done: Done) -> None:
    """Read from a connection; the first data begin with the status, none are its end."""
    raw: socket.socket = key.fileobj  # type: ignore[assignment]  # as registered
    data = raw.recv(1 << 16)
    if key.data is None and data:
        done[data[9:12].decode(errors="replace")] += 1
        selector.modify(raw, selectors.EVENT_READ, "answered")
    if not data:
        selector.unregister(raw)


def change_tokens(attacker: Attacker) -> Done:
    """As seat 1, change the own token all the time, and make the own moves.

    ``path``: of the game; ``token``: of the seat.
    """
    done: Done = Counter()
    connection = attacker.connection()
    path, token = attacker.facts["path"], attacker.facts["token"]
    while attacker.has_time():
        for _ in range(20):
            body = send_counted(connection, request("POST", f"{path}/players/1/token", b"{}", token=token), done)
            if body:
                token = orjson.loads(body).get("token", token)  # a refusal has none
        view = send_counted(connection, request("GET", path, token=token), Counter())
        moves = orjson.loads(view).get("legal_moves") if view else None
        if moves:
            send_counted(connection, request("POST", f"{path}/moves", orjson.dumps(moves[0]), token=token), Counter())
    connection.close()
    return done


def send_counted(connection: Connection, data: bytes, done: Done) -> bytes:
    """Return the body of the answer; empty if there is none."""
    try:
        answer = connection.send(data)
    except Closed:
        done["closed"] += 1
        time.sleep(PAUSE_SECONDS)
        return b""
    done[str(answer.status)] += 1
    return answer.body
