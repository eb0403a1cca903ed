"""``examples/league`` on a whole service: rounds are paired, played, told by signed messages and rated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from examples.league.league import League
from tests.support.processes import Process, await_port, free_ports
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE, until
from tests.whole.table import connect

pytestmark = pytest.mark.nightly

PROGRAM = str(ROOT / "examples" / "league" / "league.py")
PLAYERS = ("Ada", "Bo", "Cleo", "Dan", "Eva")


class Club:
    """A league and the service that it plays on."""

    def __init__(self, service: Service, http: httpx.Client, folder: Path) -> None:
        self.service, self.http, self.folder = service, http, folder
        self.key = service.new_key()

    def run(self, *arguments: str, fails: bool = False) -> str:
        command = [sys.executable, PROGRAM, "--server", self.service.url, *arguments]
        environ = {**os.environ, "DOMINO_KEY": self.key, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            command, cwd=self.folder, env=environ, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    @property
    def data(self) -> Any:
        return json.loads((self.folder / "league.json").read_text("utf-8"))

    def play(self, table: Any) -> list[int]:
        """Play the match of a table; returns its winners."""
        random = Random(table["game"])
        tokens = [table["tokens"][name] for name in table["players"]]
        path = f"/v1/games/{table['game']}"
        view = self.http.get(path).json()
        while view["status"] != "finished":
            headers = {"Authorization": f"Bearer {tokens[view['to_act'][0]]}"}
            moves = self.http.get(f"{path}/moves", headers=headers).json()["legal_moves"]
            view = self.http.post(f"{path}/moves", json=random.choice(moves), headers=headers).raise_for_status().json()
        return list(view["winners"])


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    with Service(tmp_path / "data", WEBHOOK_NETWORKS="127.0.0.0/8") as service, connect(service.url) as http:
        yield Club(service, http, tmp_path)


def test_three_rounds_are_paired_played_and_rated(club: Club) -> None:
    club.run("begin", "dominospiel", "2", *PLAYERS)
    met: list[frozenset[str]] = []
    for number in range(3):
        club.run("round")
        tables = club.data["rounds"][number]
        assert len(tables) == 2
        assert "not over yet" in club.run("round", fails=True)
        assert club.run("links").count("/#/seat/") == 4
        met += [frozenset(table["players"]) for table in tables]
        for table in tables:
            club.play(table)
    assert len(set(met)) == len(met), "two players met twice, though others had not met"
    standings = club.run("standings").splitlines()
    assert [line.split()[1] for line in standings] != []
    assert sum(player["points"] for player in club.data["players"].values()) == 3 * (2 + 1)
    assert sorted(player["byes"] for player in club.data["players"].values()) == [0, 0, 1, 1, 1]
    assert club.data["players"][standings[0].split()[1]]["points"] == max(
        player["points"] for player in club.data["players"].values()
    )
    assert (club.folder / "league.json").stat().st_mode & 0o777 == 0o600


def test_the_end_of_a_match_is_told_by_a_signed_message(club: Club) -> None:
    club.run("begin", "dominospiel", "2", "Ada", "Bo")
    club.run("round")
    (port,) = free_ports(1)
    owner = {"Authorization": f"Bearer {club.key}"}
    wanted = {"url": f"http://127.0.0.1:{port}/", "events": ["game.finished"]}
    endpoint = club.http.post("/v1/webhooks", json=wanted, headers=owner).raise_for_status().json()
    command = [
        sys.executable,
        PROGRAM,
        "--server",
        club.service.url,
        "--file",
        str(club.folder / "league.json"),
        "listen",
    ]
    environ = {"DOMINO_KEY": club.key, "LEAGUE_SECRET": endpoint["secret"], "PORT": str(port)}
    with Process(command, club.folder / "log", **environ):
        await_port(port)
        opened = club.http.patch(f"/v1/webhooks/{endpoint['id']}", json={"status": "active"}, headers=owner)
        assert opened.is_success
        assert httpx.post(f"http://127.0.0.1:{port}/", json={"type": "game.finished"}).status_code == 401
        (table,) = club.data["rounds"][0]
        winners = club.play(table)
        until(lambda: "ranks" in club.data["rounds"][0][0])
    best = [table["players"][seat] for seat in winners]
    assert all(club.data["players"][name]["points"] > 0 for name in best)


def test_partners_are_rated_as_a_team_and_a_message_counts_once(tmp_path: Path) -> None:
    with League(tmp_path / "league.json") as league:
        league.begin("latin", 4, ["Ada", "Bo", "Cleo", "Dan"])
        (names,) = league.pair()
        league.data["rounds"] = [[{"game": "g", "players": names, "tokens": {}}]]
        teams = {0: 0, 1: 1, 2: 0, 3: 1}
        assert league.finished("g", {0: 1, 1: 2, 2: 1, 3: 2}, teams)
        assert not league.finished("g", {0: 2, 1: 1, 2: 2, 3: 1}, teams)
        won, lost = [[league.data["players"][names[seat]] for seat in side] for side in ((0, 2), (1, 3))]
        assert [player["points"] for player in won + lost] == [1.0, 1.0, 0.0, 0.0]
        assert won[0]["mu"] == won[1]["mu"] > lost[0]["mu"] == lost[1]["mu"]


def test_a_shared_first_place_is_half_a_point_for_each(tmp_path: Path) -> None:
    with League(tmp_path / "league.json") as league:
        league.begin("domino", 2, ["Ada", "Bo"])
        league.data["rounds"] = [[{"game": "g", "players": ["Ada", "Bo"], "tokens": {}}]]
        assert league.finished("g", {0: 1, 1: 1}, {})
        assert [player["points"] for player in league.data["players"].values()] == [0.5, 0.5]
