"""``examples/duplicate`` on a whole service: the same boards at all tables, counted against their mean."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.events import RoundEnded
from service.engine.moves import DEAL
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED
from service.engine.variants import variants
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.nightly

PROGRAM = str(ROOT / "examples" / "duplicate" / "duplicate.py")
PAIRS = ("Ada+Bo", "Cleo+Dan", "Eva+Finn", "Gus+Hana")


def run(folder: Path, service: Service, *arguments: str, fails: bool = False) -> str:
    command = [sys.executable, PROGRAM, "--server", service.url, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def play(http: httpx.Client, game: Any, seed: str) -> int:
    """Play a board to its end; returns the difference of the pairs."""
    random, path = Random(seed), f"/v1/games/{game['game']}"
    view = http.get(path).json()
    names = [player["name"] for player in view["players"]]
    while view["status"] != "finished":
        headers = {"Authorization": f"Bearer {game['tokens'][names[view['to_act'][0]]]}"}
        moves = http.get(f"{path}/moves", headers=headers).json()["legal_moves"]
        view = http.post(f"{path}/moves", json=random.choice(moves), headers=headers).raise_for_status().json()
    return int(view["players"][0]["total"] - view["players"][1]["total"])


def test_pairs_are_compared_by_the_tiles_that_they_held(service: Service, http: httpx.Client, tmp_path: Path) -> None:
    run(tmp_path, service, "begin", "2", *PAIRS)
    data = json.loads((tmp_path / "event.json").read_text("utf-8"))
    games = data["games"]
    assert [(each["board"], each["table"], each["pairs"]) for each in games] == [
        (1, 1, [0, 1]),
        (1, 2, [3, 2]),
        (2, 1, [0, 3]),
        (2, 2, [1, 2]),
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

    results = [play(http, each, f"{number}") for number, each in enumerate(games[:3])]
    head, *lines = run(tmp_path, service, "standings").splitlines()
    assert head.startswith("Boards that all tables have finished: 1.")
    assert abs(sum([float(line.split()[1]) for line in lines])) < 1e-9
    results.append(play(http, games[3], "3"))
    expected = dict.fromkeys(range(4), 0.0)
    for board in (0, 2):
        mean = (results[board] + results[board + 1]) / 2
        for at in (board, board + 1):
            first, second = games[at]["pairs"]
            expected[first] += results[at] - mean
            expected[second] -= results[at] - mean
    head, *lines = run(tmp_path, service, "standings").splitlines()
    assert head.startswith("Boards that all tables have finished: 2.")
    told = {line.split()[0]: float(line.split()[1]) for line in lines}
    assert told == {PAIRS[pair]: points for pair, points in expected.items()}
    assert abs(sum(told.values())) < 1e-9


@pytest.mark.parametrize("tables", range(2, 9))
def test_better_pairs_come_out_ahead_wherever_they_sit(tables: int) -> None:
    """The first pair of each table is 20 points better than its opponents; luck is the same for all at a board."""
    module, random = program(), Random(tables)
    results = []
    for board in range(8):
        luck = random.randrange(-60, 60)
        for table in range(tables):
            first, second = module.pairs_at(board, table, tables)
            results.append((board, (first, second), luck + (20 if first % 2 == 0 else -20)))
        assert sorted(pair for at, pairs, _ in results if at == board for pair in pairs) == list(range(2 * tables))
    finished, points = module.compare(results, tables)
    assert finished == 8
    assert min(points[pair] for pair in range(0, 2 * tables, 2)) > max(points[pair] for pair in range(1, 2 * tables, 2))


def test_an_event_is_not_replaced_and_the_seeds_of_its_boards_are_kept(service: Service, tmp_path: Path) -> None:
    run(tmp_path, service, "begin", "2", *PAIRS)
    kept = (tmp_path / "event.json").read_text("utf-8")
    assert "event.json has an event" in run(tmp_path, service, "begin", "2", *PAIRS, fails=True)
    assert (tmp_path / "event.json").read_text("utf-8") == kept
    games = json.loads(kept)["games"]
    assert [len({each["seed"] for each in games if each["board"] == board}) for board in (1, 2)] == [1, 1]
    assert games[0]["seed"] != games[2]["seed"]


def test_a_board_ends_with_its_round_also_if_that_is_tied() -> None:
    """Without the tie rule, 2 of these 100 deals would be followed by another."""
    rules, ended_by = variants()["latin"].rules(program().RULES, 4), Counter[str]()
    for number in range(100):
        deck, random = Deck(seed_from_text(f"t{number}")), Random(number)
        events, state = advance(rules, deck, rules.start(), 0, move=DEAL)
        while (seat := state.turn) is not None:
            events, state = advance(rules, deck, state, seat, move=random.choice(legal_moves(rules, state, seat)))
        assert state.phase == FINISHED
        (ended,) = [event for event in events if isinstance(event, RoundEnded)]
        ended_by[ended.round.ended_by] += 1
    assert set(ended_by) == {"out", "blocked"}


def program() -> Any:
    """The program as a module."""
    specification = spec_from_file_location("duplicate", PROGRAM)
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["begin", "2", "Ada+Bo", "Cleo+Dan"], "at least four"),
        (["begin", "3", *PAIRS], "even number of boards"),
        (["begin", "2", "Ada", "Bo", "Cleo", "Dan"], "two names"),
        (["begin", "2", "+Bo", *PAIRS[1:]], "two names"),
        (["begin", "2", "Ada+Ada", *PAIRS[1:]], "nobody else has"),
        (["begin", "2", "Ada+Bo", "Ada+Dan", *PAIRS[2:]], "nobody else has"),
        (["begin", "2", f"{'A' * 1000}+Bo", *PAIRS[1:]], "The service refuses: "),
        (["--server", "http://127.0.0.1:9", "begin", "2", *PAIRS], "No answer from http://127.0.0.1:9"),
        (["links"], "There is no event"),
        (["standings"], "There is no event"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    arguments: list[str], reason: str, service: Service, tmp_path: Path
) -> None:
    said = run(tmp_path, service, *arguments, fails=True)
    assert reason in said
    assert said.count("\n") == 1
    assert not (tmp_path / "event.json").exists()


def test_a_file_that_is_no_event_is_named(service: Service, tmp_path: Path) -> None:
    for content in ("{", "[1]", '{"pairs": []}'):
        (tmp_path / "event.json").write_text(content, "utf-8")
        assert run(tmp_path, service, "standings", fails=True) == "event.json is not the file of an event.\n"
