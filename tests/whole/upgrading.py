"""A service that is upgraded under play: two machines on one store, and clients that play on both.

The next version is this one, with the next number of the stored format.
"""

from __future__ import annotations

import shutil
import threading
import time
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx

from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.processes import free_ports
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE

CODEC: Final = "service/games/store/codec.py"
NEXT: Final = {
    "FORMAT: Final = 1\n": "FORMAT: Final = 2\n",
    "READABLE: Final = frozenset({1})\n": "READABLE: Final = frozenset({1, 2})\n",
}
"""What is written in another way in the next version."""
MOVES: Final = frozenset({"played", "drew", "passed", "done", "flipped"})
PLAYED_SECONDS: Final = 3.0
"""For so long clients play before the first process is replaced, between two, and after the last."""
PEOPLE: Final = [{"name": "Ada"}, {"name": "Bo"}]
WITH_BOT: Final = [{"name": "Ada"}, {"bot": "greedy"}]
VARIANTS: Final = ("block", "draw", "matador", "domino")


def write_next_version(folder: Path) -> Path:
    """Write the next version into this folder."""
    shutil.copytree(ROOT / "service", folder / "service", ignore=shutil.ignore_patterns("__pycache__"))
    codec = folder / CODEC
    text = codec.read_text()
    for before, after in NEXT.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    codec.write_text(text)
    return folder


class OfVersion(Background):
    """A process of the version in this folder."""

    def __init__(self, command: str, redis_url: str, folder: Path, version: Path) -> None:
        self.cwd = version
        super().__init__(command, redis_url, folder)


class Machines:
    """Two machines on one store, each with a version of the service behind an address that stays."""

    def __init__(self, server: RealServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._ports = free_ports(2)
        self._running: dict[int, Service] = {}
        self._others: dict[tuple[str, int], Background] = {}
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]

    def start(self, machine: int, version: Path) -> None:
        """Start a version on a machine, in place of what runs there."""
        if machine in self._running:
            assert self._running[machine].stop() == 0
        settings = {"REDIS_URL": self._server.url, "SECRET_KEY": "s" * 40, "PORT": str(self._ports[machine])}
        service = Service(self._folder / f"{machine}", cwd=version, WORKERS="1", **settings)
        service.start()
        self._running[machine] = service

    def start_other(self, command: str, machine: int, version: Path) -> None:
        """Start a bot worker or a scheduler of a version on a machine, in place of what runs there."""
        if (command, machine) in self._others:
            assert self._others[command, machine].stop() == 0
        folder = self._folder / f"{command}-{machine}"
        self._others[command, machine] = OfVersion(command, self._server.url, folder, version)

    def stop(self) -> None:
        for other in self._others.values():
            other.stop()
        for service in self._running.values():
            service.stop()


class Player:
    """Plays one game after the other through both machines; what was not answered is sent again under its key."""

    seats: tuple[int, ...] = (0, 1)
    """Those for which it moves."""

    def __init__(self, urls: list[str], number: int) -> None:
        self._clients = [httpx.Client(base_url=url, timeout=PATIENCE) for url in urls]
        self._random = Random(number)
        self._keys = (f"upgrade-player-{number}-{each:06}" for each in count())
        self.made: dict[str, list[int]] = {}
        """The versions after the moves that were answered as made, by game."""

    @property
    def moves(self) -> int:
        """How many moves were answered as made."""
        return sum(map(len, list(self.made.values())))

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        """The answer, of any machine that gives one."""
        headers = {"Idempotency-Key": next(self._keys)} if method == "POST" else {}
        headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._random.choice(self._clients).request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != 503:
                assert answer.is_success, (method, path, answer.text)
                return answer.json()
            assert time.monotonic() < deadline, (method, path, answer and answer.text)
            time.sleep(0.05)

    def play(self, over: threading.Event) -> None:
        while not over.is_set():
            self.play_game(over, self._random.choice(VARIANTS))

    def play_game(self, over: threading.Event, variant: str) -> None:
        """Play the first round of a new game."""
        self.play_on(self.ask("POST", "/v1/games", {"variant": variant, "players": PEOPLE}), over)

    def play_on(self, created: Json, over: threading.Event) -> None:
        """Play a new game to the end of its first round."""
        path = f"/v1/games/{created['game']['id']}"
        tokens = [seat["token"] for seat in created["seats"]]
        made = self.made[path] = []
        view = created["game"]
        while not over.is_set() and view["status"] == "playing":
            view = self.move(path, tokens[view["turn"]["seat"]])
            made.append(view["version"])

    def move(self, path: str, token: str) -> Json:
        """Make any legal move; returns the view after it."""
        moves = self.ask("GET", f"{path}/moves", token=token)["legal_moves"]
        view: Json = self.ask("POST", f"{path}/moves", self._random.choice(moves), token)
        return view

    def events(self, path: str) -> list[Json]:
        events: list[Json] = []
        while True:
            page = self.ask("GET", f"{path}/events?after={len(events)}&limit=100")
            events += page["events"]
            if not page["more"]:
                return events


class Opponent(Player):
    """Plays one game after the other against a computer player, from seat 0."""

    seats = (0,)

    def play_game(self, over: threading.Event, variant: str) -> None:
        self.play_on(self.ask("POST", "/v1/games", {"variant": variant, "players": WITH_BOT, "pace": 0}), over)

    def play_on(self, created: Json, over: threading.Event) -> None:
        path, token = f"/v1/games/{created['game']['id']}", created["seats"][0]["token"]
        made = self.made[path] = []
        view = created["game"]
        while not over.is_set() and view["status"] == "playing":
            if view["turn"]["seat"] == 0:
                view = self.move(path, token)
                made.append(view["version"])
            else:
                time.sleep(0.05)
                view = self.ask("GET", path, token=token)


def moves_kept(player: Player) -> int:
    """How many moves the player has made: those in the games are exactly those that were answered as made."""
    for path, made in player.made.items():
        moves = [event for event in player.events(path) if event["type"] in MOVES]
        events = [event["version"] for event in moves if event["seat"] in player.seats]
        # The version after a move is that of its event, or of what followed from it, up to the next move.
        assert events == [max(version for version in events if version <= after) for after in made], path
    return player.moves
