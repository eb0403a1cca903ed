"""``examples/duplicate`` on a whole service: the same boards at all tables, counted against their mean."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from tests.support.serving import ROOT, Service

pytestmark = pytest.mark.full

PROGRAM = str(ROOT / "examples" / "duplicate" / "duplicate.py")
PAIRS = ("Ada+Bo", "Cleo+Dan", "Eva+Finn", "Gus+Hana")


def run(folder: Path, service: Service, *arguments: str, fails: bool = False) -> str:
    command = [sys.executable, PROGRAM, "--server", service.url, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def play(http: httpx.Client, game: Any, seed: str) -> int:
    """Play a board to its end; returns the difference of the pairs."""
    random, path = Random(seed), f"/v1/games/{game['game']}"
    view = http.get(path).json()
    names = [player["name"] for player in view["players"]]
    while view["status"] != "finished":
        headers = {"Authorization": f"Bearer {game['tokens'][names[view['to_act'][0]]]}"}
        moves = http.get(f"{path}/moves", headers=headers).json()["moves"]
        view = http.post(f"{path}/moves", json=random.choice(moves), headers=headers).raise_for_status().json()
    return int(view["players"][0]["total"] - view["players"][1]["total"])


def test_pairs_are_compared_by_the_tiles_that_they_held(service: Service, http: httpx.Client, tmp_path: Path) -> None:
    run(tmp_path, service, "begin", "2", *PAIRS)
    data = json.loads((tmp_path / "event.json").read_text("utf-8"))
    games = data["games"]
    assert [(each["board"], each["table"], each["pairs"]) for each in games] == [
        (1, 1, [0, 1]),
        (1, 2, [2, 3]),
        (2, 1, [1, 0]),
        (2, 2, [3, 2]),
    ]
    hands = []
    for each in games:
        names = [player["name"] for player in http.get(f"/v1/games/{each['game']}").json()["players"]]
        tokens = [each["tokens"][name] for name in names]
        hands.append(
            [
                http.get(f"/v1/games/{each['game']}", headers={"Authorization": f"Bearer {token}"}).json()["you"][
                    "hand"
                ]
                for token in tokens
            ]
        )
    assert hands[0] == hands[1] != hands[2] == hands[3]
    assert run(tmp_path, service, "links").count("/#/seat/") == 16

    results = [play(http, each, f"{number}") for number, each in enumerate(games)]
    expected = dict.fromkeys(range(4), 0.0)
    for board in (0, 2):
        mean = (results[board] + results[board + 1]) / 2
        for at in (board, board + 1):
            first, second = games[at]["pairs"]
            expected[first] += results[at] - mean
            expected[second] -= results[at] - mean
    told = {line.split()[0]: float(line.split()[1]) for line in run(tmp_path, service, "standings").splitlines()}
    assert told == {PAIRS[pair]: points for pair, points in expected.items()}
    assert abs(sum(told.values())) < 1e-9


@pytest.mark.parametrize("arguments", [["2", "Ada+Bo", "Cleo+Dan"], ["3", *PAIRS], ["2", "Ada", "Bo", "Cleo", "Dan"]])
def test_an_event_that_cannot_be_played_is_refused(arguments: list[str], service: Service, tmp_path: Path) -> None:
    assert run(tmp_path, service, "begin", *arguments, fails=True)
    assert not (tmp_path / "event.json").exists()
