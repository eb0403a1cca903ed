"""Honest players: each plays one domino game after another, both seats of a game on one connection, kept alive.

A move is a look at the game by the seat to move and the post of a listed move, with an ``Idempotency-Key`` and repeated
until it is answered, as the guide recommends. Owns what counts as a move, a failure and a delay.
"""

from __future__ import annotations

import contextlib
import threading
import time
from random import Random
from typing import Any, Final, NamedTuple

import orjson

from tools.attack.http import Address, Answer, Closed, Connection, request

PLAYERS: Final = 4
THINKING_SECONDS: Final = 0.03
_RETRY_SECONDS: Final = 0.1
_VICTIM_SECONDS: Final = 0.05
_NEW_GAME: Final = orjson.dumps({"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]})


class Fared(NamedTuple):
    """How honest players fared in a time: their moves, and the answers that they did not deserve."""

    seconds: float
    latencies: list[float]
    """Of each move, in seconds; of a move that was not finished, the time until the end."""
    moves: int
    server_errors: int
    refusals: int
    """Connections closed or silent, and answers 4xx."""

    @property
    def rate(self) -> float:
        """Moves per second."""
        return self.moves / self.seconds


class HonestPlayers:
    """Some honest players in threads, from ``start`` to ``stop``."""

    def __init__(self, address: Address) -> None:
        self._players = [_Player(address, f"127.0.1.{number + 1}", number) for number in range(PLAYERS)]

    def start(self) -> None:
        """Start to play."""
        for player in self._players:
            player.start()

    def stop(self) -> None:
        """Stop, at the latest when the current request is answered or its time is over."""
        for player in self._players:
            player.stopping.set()
        for player in self._players:
            player.join()

    def observe(self, seconds: float) -> Fared:
        """How they fare from now on for so many seconds."""
        began = time.perf_counter()
        for player in self._players:
            player.reset()
        time.sleep(seconds)
        taken = time.perf_counter() - began
        return _together([player.fared(began, taken) for player in self._players], taken)


class Victim(threading.Thread):
    """Seat 0 of a game whose seat 1 is an attacker: looks, waits and posts a listed move with its version."""

    def __init__(self, address: Address, path: str, token: str) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.made = 0
        self.stale = 0
        """Listed moves that were refused because the version had changed meanwhile (412)."""
        self._connection = Connection(address, "127.0.1.100")
        self._path = path
        self._token = token

    def run(self) -> None:
        """Play until ``stopping`` is set."""
        while not self.stopping.is_set():
            with contextlib.suppress(Closed):
                self._turn()
            self.stopping.wait(_VICTIM_SECONDS)
        self._connection.close()

    def _turn(self) -> None:
        view = self._connection.send(request("GET", self._path, token=self._token))
        moves = orjson.loads(view.body)["legal_moves"] if view.status == 200 else []
        if moves and not self.stopping.wait(_VICTIM_SECONDS):
            data = request("POST", f"{self._path}/moves", orjson.dumps(moves[0]), token=self._token)
            status = self._connection.send(data).status
            self.made += status == 201
            self.stale += status == 412


def _together(parts: list[Fared], seconds: float) -> Fared:
    return Fared(
        seconds,
        [latency for part in parts for latency in part.latencies],
        sum(part.moves for part in parts),
        sum(part.server_errors for part in parts),
        sum(part.refusals for part in parts),
    )


class _Player(threading.Thread):
    def __init__(self, address: Address, source: str, number: int) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self._connection = Connection(address, source, patience=5.0)
        self._rng = Random(number)  # noqa: S311 # reproducible on purpose
        self._keys = Random()  # noqa: S311 # unique, not secret
        self._lock = threading.Lock()
        self._latencies: list[float] = []
        self._server_errors = 0
        self._refusals = 0
        self._move_began: float | None = None

    def run(self) -> None:
        while not self.stopping.is_set():
            opened = self._ask("POST", "/v1/games", _NEW_GAME)
            if opened is not None:
                self._play(f"/v1/games/{opened['game']['id']}", [seat["token"] for seat in opened["seats"]])
            self._connection.close()

    def reset(self) -> None:
        """Forget what happened until now."""
        with self._lock:
            self._latencies = []
            self._server_errors = self._refusals = 0

    def fared(self, began: float, seconds: float) -> Fared:
        """What happened since then."""
        with self._lock:
            latencies = list(self._latencies)
            waiting = self._move_began
            unfinished = [] if waiting is None else [began + seconds - max(waiting, began)]
            return Fared(seconds, latencies + unfinished, len(latencies), self._server_errors, self._refusals)

    def _play(self, path: str, tokens: list[str]) -> None:
        seat = 0
        while not self.stopping.is_set():
            self.stopping.wait(THINKING_SECONDS)
            with self._lock:
                self._move_began = time.perf_counter()
            view = self._ask("GET", path, token=tokens[seat])
            if view is not None and view["legal_moves"]:
                move = self._rng.choice(view["legal_moves"])
                view = self._ask("POST", f"{path}/moves", orjson.dumps(move), tokens[seat])
                if view is not None:
                    with self._lock:
                        self._latencies.append(time.perf_counter() - (self._move_began or 0.0))
            with self._lock:
                self._move_began = None
            if view is None:
                return  # the game does not go on as expected: with another one
            if view["status"] != "playing":
                if view["status"] == "finished":
                    return
                continue  # between two rounds either seat may deal
            seat = view["turn"]["seat"]

    def _ask(
        self, method: str, path: str, body: bytes | None = None, token: str | None = None
    ) -> dict[str, Any] | None:
        """The answer of status 2xx, asked for until there is one; ``None`` if it is refused, or at the stop."""
        key = (("Idempotency-Key", f"{self._keys.getrandbits(128):032x}"),) if method == "POST" else ()
        data = request(method, path, body, token=token, headers=key)
        while not self.stopping.is_set():
            try:
                answer = self._connection.send(data)
            except Closed:
                with self._lock:
                    self._refusals += 1
            else:
                if answer.status < 300:
                    found: dict[str, Any] = orjson.loads(answer.body)
                    return found
                self._count(answer)
                if answer.status < 500 and answer.status != 429:
                    return None
            self.stopping.wait(_RETRY_SECONDS)
        return None

    def _count(self, answer: Answer) -> None:
        with self._lock:
            if answer.status >= 500:
                self._server_errors += 1
            else:
                self._refusals += 1
