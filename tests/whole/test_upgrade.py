"""A rolling upgrade under play, and back: no move is lost or doubled, and an older service leaves newer games alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from operator import ge
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.storage.servers import RealServer
from tests.support.serving import ROOT
from tests.support.table import Json
from tests.support.waiting import PATIENCE, until
from tests.whole.upgrading import (
    PEOPLE,
    PLAYED_SECONDS,
    WITH_BOT,
    Machines,
    Opponent,
    Player,
    moves_kept,
    write_next_version,
)

pytestmark = pytest.mark.nightly

WORKERS: Final = ("bots", "scheduler")
PLAYED_MOVES: Final = 35
"""Before, between and after the two upgrades, of all players together."""
BOTS: Final = [{"bot": "greedy"}, {"bot": "random"}]
ARRANGED: Final = {"seed": "the same deals", "options": {"limit": 30}}
"""With a seed, every decision of computer players is determined."""


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the next version."""
    return write_next_version(tmp_path_factory.mktemp("next"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    with RealServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def machines(server: RealServer, tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(server, tmp_path)
    yield machines
    machines.stop()


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
                await_moves(players)
                machines.start(machine, next_version)
            await_moves(players)
        finally:
            over.set()
        for each in playing:
            each.result(PATIENCE)


def await_moves(players: list[Player]) -> None:
    """Wait for ``PLAYED_SECONDS``, and on a slow machine until ``PLAYED_MOVES`` more moves are made."""
    wanted = sum([player.moves for player in players]) + PLAYED_MOVES
    time.sleep(PLAYED_SECONDS)
    until(lambda: sum([player.moves for player in players]) >= wanted)


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


class Watched:
    """Games in which nobody moves but the service: people whose time is over, and computer players alone."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._timed = [self._create(WITH_BOT, clock={"turn": 5}, absence={"then": "move"}) for _ in range(2)]
        self._alone = [self._create(BOTS, pace=pace, **ARRANGED) for pace in (0.3, 0.6)]

    def _create(self, players: list[Json], **more: Any) -> str:
        body = {"variant": "domino", "players": players, "pace": 0} | more
        return f"/v1/games/{self._player.ask('POST', '/v1/games', body)['game']['id']}"

    def time_outs(self) -> list[int]:
        """How many turns of each game with a clock are over because nobody moved."""
        events = map(self._player.events, self._timed)
        return [sum([event["type"] == "timed_out" for event in each]) for each in events]

    def computer_players(self) -> list[list[Json]]:
        """The events of each game of computer players alone, without their times."""
        events = map(self._player.events, self._alone)
        return [[{**event, "at": None} for event in each] for each in events]

    def play_undisturbed(self) -> list[Json]:
        """The events of another game of the same computer players with the same deals, which is over at once."""
        path = self._create(BOTS, **ARRANGED)
        until(lambda: self._player.ask("GET", path)["status"] == "finished")
        return [{**event, "at": None} for event in self._player.events(path)]


def test_computer_players_and_clocks_go_on_while_workers_are_upgraded(machines: Machines, next_version: Path) -> None:
    for machine in range(2):
        machines.start(machine, ROOT)
        for command in WORKERS:
            machines.start_other(command, machine, ROOT)
    over = threading.Event()
    with ExitStack() as opened:
        watching, *players = [opened.enter_context(closing(Opponent(machines.urls, number))) for number in range(3)]
        watched = Watched(watching)
        undisturbed = watched.play_undisturbed()
        with ThreadPoolExecutor(len(players)) as threads:
            playing = [threads.submit(player.play, over) for player in players]
            try:
                upgrade_all(machines, next_version, players, watched)
                until(lambda: all(len(each) == len(undisturbed) for each in watched.computer_players()))
                assert watched.computer_players() == [undisturbed] * 2
            finally:
                over.set()
            for each in playing:
                each.result(PATIENCE)
        assert all(moves_kept(player) > 10 for player in players)


def upgrade_all(machines: Machines, version: Path, players: list[Opponent], watched: Watched) -> None:
    """Replace one process after the other while the games go on, those of the web server first."""
    go_on(players, watched)
    for machine in range(2):
        machines.start(machine, version)
    for command in WORKERS:
        for machine in range(2):
            machines.start_other(command, machine, version)
    go_on(players, watched)


def go_on(players: list[Opponent], watched: Watched) -> None:
    """Wait until each person has moved against a computer player, and each clock has run out, some times."""
    moves = {player: player.moves + 5 for player in players}
    time_outs = [before + 1 for before in watched.time_outs()]
    until(lambda: all(player.moves > then for player, then in moves.items()), lambda: moves)
    until(lambda: all(map(ge, watched.time_outs(), time_outs)), watched.time_outs)
