"""Honest players: each plays one domino game after another, both seats of a game on one connection, kept alive.

A move is a look at the game by the seat to move and the post of a listed move, with an ``Idempotency-Key`` and repeated
until it is answered, as the guide recommends. Owns what counts as a move and a delay.
"""

from __future__ import annotations

import contextlib
import threading
import time
from random import Random
from typing import Final, NamedTuple

import orjson

from tools.attack.client import HonestClient
from tools.attack.http import Address, Closed, Connection, request

PLAYERS: Final = 4
THINKING_SECONDS: Final = 0.03
_VICTIM_SECONDS: Final = 0.05
_NEW_GAME: Final = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}


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
        self._marked = 0.0

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

    def mark(self) -> None:
        """Count in ``fared`` what happens from now on."""
        self._marked = time.perf_counter()
        for player in self._players:
            player.reset()

    def fared(self) -> Fared:
        """Return how they have fared since ``mark``."""
        seconds = time.perf_counter() - self._marked
        latencies: list[float] = []
        moves = errors = refusals = 0
        for player in self._players:
            done, waiting, server_errors, refused = player.happened(self._marked)
            latencies += done + waiting
            moves, errors, refusals = moves + len(done), errors + server_errors, refusals + refused
        return Fared(seconds, latencies, moves, errors, refusals)

    def observe(self, seconds: float) -> Fared:
        """Return how they fare from now on for so many seconds."""
        self.mark()
        time.sleep(seconds)
        return self.fared()


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


class _Player(HonestClient):
    def __init__(self, address: Address, source: str, number: int) -> None:
        super().__init__(address, source)
        self._rng = Random(number)  # noqa: S311 # reproducible on purpose

    def run(self) -> None:
        while not self.stopping.is_set():
            opened = self.ask("POST", "/v1/games", _NEW_GAME)
            if opened is not None:
                self._play(f"/v1/games/{opened['game']['id']}", [seat["token"] for seat in opened["seats"]])
            self.connection.close()

    def _play(self, path: str, tokens: list[str]) -> None:
        seat = 0
        while not self.stopping.is_set():
            self.stopping.wait(THINKING_SECONDS)
            self.begin()
            view = self.ask("GET", path, token=tokens[seat])
            made = None
            if view is not None and view["legal_moves"]:
                view = made = self.ask("POST", f"{path}/moves", self._rng.choice(view["legal_moves"]), tokens[seat])
            self.end(done=made is not None)
            if view is None:
                return  # the game does not go on as expected: with another one
            if view["status"] != "playing":
                if view["status"] == "finished":
                    return
                continue  # between two rounds either seat may deal
            seat = view["turn"]["seat"]
