"""Every attack of `make attack` still runs, and honest players play meanwhile. Its figures are no matter here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from service.games.commands.validation import check_request
from tests.support.processes import runs
from tests.workers.tables import VARIANTS
from tools.attack.__main__ import BEGIN, END, FAULTS_BEGIN, FAULTS_END, FAULTS_PAGE, PAGE
from tools.attack.attacks import attacks
from tools.attack.bot_tables import fraction_of
from tools.attack.cost import costs
from tools.attack.faults import wanted_game
from tools.attack.measure import Crowd, Held, held, requests_in
from tools.attack.pace import same_distribution
from tools.attack.race import race
from tools.attack.shares import Holding, holdings
from tools.attack.target import ROOT, Target

pytestmark = pytest.mark.nightly


def test_the_table_has_a_row_for_every_attack() -> None:
    command = [sys.executable, "-m", "tools.attack", "--seconds", "0.1", "--attackers", "1"]
    command += ["--only", *[each.name for each in attacks()]]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=True)
    assert said.stderr == ""
    head, *rows = said.stdout.splitlines()
    assert head.startswith("attack ")
    assert len(rows) == len(attacks())
    service, honest_moves = head.index("service"), head.index("honest moves")
    for attack, row in zip(attacks(), rows, strict=True):
        assert row.startswith(f"{attack.name} ")
        assert row[service:].startswith(f"{ROOT.name} ")
        assert "could not be prepared" not in row
    assert any(float(row[honest_moves:].split()[0]) > 0 for row in rows), "no honest player moved"


@pytest.mark.parametrize("holding", holdings(), ids=lambda each: each.name)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all addresses of the loopback interface")
def test_an_attack_on_what_is_held_is_measured(holding: Holding) -> None:
    found = held(ROOT, holding, "127.0.7.1", 0.05)
    assert isinstance(found, Held), found
    assert requests_in(found.result.done)
    assert (found.stored != "–") == holding.fills
    assert "cannot be asked" not in (found.others_calm, found.others)


@pytest.mark.parametrize("clocked", [False, True])
def test_games_under_faults_have_as_many_players_as_their_rules_ask_for(clocked: bool) -> None:
    for number in range(len(VARIANTS)):
        check_request(wanted_game("seed", number, clocked=clocked), lambda: None)


def test_the_honest_wait_for_computer_players() -> None:
    with Target() as target, Crowd(target, {"greedy": 1, "expert": 1}) as crowd:
        crowd.settle(60)
        seen = crowd.observe(3)
    assert all(waited.answers for waited in seen.waited.values())
    assert fraction_of([seen.waited], seen.waited) == pytest.approx(1)
    assert seen.fared.moves


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a clock for the processor time of other processes")
def test_the_cost_of_a_request_is_the_processor_time_of_the_workers() -> None:
    with Target() as target:
        found, left = costs(target, 2)
    assert found
    assert left >= 0
    assert found == sorted(found, key=lambda cost: cost.seconds, reverse=True)
    assert found[0].seconds > 0


def test_moves_that_race_their_deadline_are_judged() -> None:
    raced = race(10, games=2)
    assert [*raced.verdict.complaints, *raced.early, *raced.untold] == []
    assert raced.counted["turns"]


def test_samples_that_differ_are_told_apart() -> None:
    assert same_distribution(range(500), range(500)) == 1.0
    assert same_distribution(range(500), range(200, 700)) < 0.001
    assert 0.05 < same_distribution(range(500), range(35, 535)) < 0.95


def test_nothing_is_left_behind() -> None:
    with Target() as target:
        workers = target.workers()
        assert len(workers) == 2
        assert target.is_ready(5)
    assert not any(map(runs, workers))


@pytest.mark.parametrize(("page", "begin", "end"), [(PAGE, BEGIN, END), (FAULTS_PAGE, FAULTS_BEGIN, FAULTS_END)])
def test_the_page_has_a_place_for_the_tables(page: Path, begin: str, end: str) -> None:
    _, found, rest = page.read_text().partition(begin)
    assert found
    assert end in rest
