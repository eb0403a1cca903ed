"""A rolling upgrade under play, and back: no move is lost or doubled, and an older service leaves newer games alone.

The next version is this one, with the next number of the stored format.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
import pytest

from tests.storage.servers import RealServer
from tests.support.processes import free_ports
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.whole.table import PATIENCE

pytestmark = pytest.mark.full

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
VARIANTS: Final = ("block", "draw", "matador", "domino")


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the next version."""
    folder = tmp_path_factory.mktemp("next")
    shutil.copytree(ROOT / "service", folder / "service", ignore=shutil.ignore_patterns("__pycache__"))
    codec = folder / CODEC
    text = codec.read_text()
    for before, after in NEXT.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    codec.write_text(text)
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "redis")
    yield server
    server.stop()


class Machines:
    """Two machines on one store, each with a version of the service behind an address that stays."""

    def __init__(self, server: RealServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._ports = free_ports(2)
        self._running: dict[int, Service] = {}
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]

    def start(self, machine: int, version: Path) -> None:
        """Start a version on a machine, in place of what runs there."""
        if machine in self._running:
            assert self._running[machine].stop() == 0
        settings = {"REDIS_URL": self._server.url, "SECRET_KEY": "s" * 40, "PORT": str(self._ports[machine])}
        service = Service(self._folder / f"{machine}", cwd=version, WORKERS="1", **settings)
        service.start()
        self._running[machine] = service

    def stop(self) -> None:
        for service in self._running.values():
            service.stop()


@pytest.fixture
def machines(server: RealServer, tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(server, tmp_path)
    yield machines
    machines.stop()


class Player:
    """Plays one game after the other through both machines; what was not answered is sent again under its key."""

    def __init__(self, urls: list[str], number: int) -> None:
        self._clients = [httpx.Client(base_url=url, timeout=PATIENCE) for url in urls]
        self._random = Random(number)
        self._keys = (f"upgrade-player-{number}-{each:06}" for each in count())
        self.made: dict[str, list[int]] = {}
        """The versions after the moves that were answered as made, by game."""

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
            token = tokens[view["turn"]["seat"]]
            moves = self.ask("GET", f"{path}/moves", token=token)["moves"]
            view = self.ask("POST", f"{path}/moves", self._random.choice(moves), token)
            made.append(view["version"])

    def events(self, path: str) -> list[Json]:
        events: list[Json] = []
        while True:
            page = self.ask("GET", f"{path}/events?after={len(events)}&limit=100")
            events += page["events"]
            if not page["more"]:
                return events


def test_a_rolling_upgrade_under_play_loses_and_doubles_no_move(machines: Machines, next_version: Path) -> None:
    for machine in range(2):
        machines.start(machine, ROOT)
    over = threading.Event()
    with ExitStack() as opened:
        players = [opened.enter_context(closing(Player(machines.urls, number))) for number in range(3)]
        upgrade_under_play(machines, next_version, players, over)
        assert sum(map(moves_kept, players)) > 100


def upgrade_under_play(machines: Machines, next_version: Path, players: list[Player], over: threading.Event) -> None:
    """Replace one machine's version after the other while the players play."""
    with ThreadPoolExecutor(len(players)) as threads:
        playing = [threads.submit(player.play, over) for player in players]
        try:
            for machine in range(2):
                time.sleep(PLAYED_SECONDS)
                machines.start(machine, next_version)
            time.sleep(PLAYED_SECONDS)
        finally:
            over.set()
        for each in playing:
            each.result(PATIENCE)


def moves_kept(player: Player) -> int:
    """How many moves the games of a player have: exactly those that were answered as made."""
    for path, made in player.made.items():
        events = [event["version"] for event in player.events(path) if event["type"] in MOVES]
        # The version after a move is that of its event, or of what followed from it, up to the next move.
        assert events == [max(version for version in events if version <= after) for after in made], path
    return sum(map(len, player.made.values()))


@pytest.fixture
def older(machines: Machines) -> Iterator[Player]:
    """Who plays on the first machine, which has this version."""
    machines.start(0, ROOT)
    with closing(Player(machines.urls[:1], 1)) as player:
        yield player


@pytest.fixture
def newer(machines: Machines, next_version: Path) -> Iterator[Player]:
    """Who plays on the second machine, which has the next version."""
    machines.start(1, next_version)
    with closing(Player(machines.urls[1:], 2)) as player:
        yield player


def test_an_older_version_leaves_newer_games_alone_and_serves_the_others(
    older: Player, newer: Player, server: RealServer, machines: Machines
) -> None:
    game = newer.ask("POST", "/v1/games", {"variant": "domino", "players": PEOPLE})
    key, token = f"domino:{{{game['game']['id']}}}", game["seats"][0]["token"]
    stored = server.admin.get(key)
    assert stored is not None
    with httpx.Client(base_url=machines.urls[0], timeout=PATIENCE) as http:
        for method, end in (("GET", ""), ("GET", "/moves"), ("GET", "/events"), ("POST", "/moves")):
            body = {"action": "pass"} if method == "POST" else None
            path = f"/v1/games/{game['game']['id']}{end}"
            refused = http.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
            assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
            assert int(refused.headers["Retry-After"]) > 0
        assert http.get("/readyz").status_code == 200
    assert server.admin.get(key) == stored
    over = threading.Event()
    older.play_game(over, "domino")
    assert moves_kept(older) > 10


def test_a_newer_version_plays_on_what_an_older_one_began(older: Player, newer: Player) -> None:
    created = older.ask("POST", "/v1/games", {"variant": "domino", "players": PEOPLE, "seed": "older"})
    newer.play_on(created, threading.Event())
    assert moves_kept(newer) > 10


def test_a_game_of_the_newer_version_waits_for_it_after_going_back(
    machines: Machines, next_version: Path, server: RealServer
) -> None:
    machines.start(0, next_version)
    with closing(Player(machines.urls[:1], 3)) as player:
        created = player.ask("POST", "/v1/games", {"variant": "domino", "players": PEOPLE})
        path = f"/v1/games/{created['game']['id']}"
        stored = server.admin.get(f"domino:{{{created['game']['id']}}}")
        machines.start(0, ROOT)
        with httpx.Client(base_url=machines.urls[0], timeout=PATIENCE) as http:
            assert http.get(path).status_code == 503
        player.play_game(threading.Event(), "block")
        machines.start(0, next_version)
        assert server.admin.get(f"domino:{{{created['game']['id']}}}") == stored
        player.play_on(created, threading.Event())
        assert moves_kept(player) > 10
