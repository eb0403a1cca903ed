"""`make strength` still runs, adds up and judges. Its figures are no matter here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strength.__main__ import main
from bench.strength.report import plot
from bench.strength.results import Results, measured
from bench.strength.rounds import Outcome, play_deal
from bench.strength.rows import ROWS, Row, Setup
from service.bots.choice import EDITION


def run(folder: Path, *arguments: str) -> int:
    return main([*arguments, "--jobs", "1", "--minutes", "1", "--kept", str(folder), "--write", str(folder)])


def test_runs_add_up_and_the_page_has_every_row(tmp_path: Path) -> None:
    kept = tmp_path / f"edition-{EDITION}" / "reported"
    run(tmp_path, "greedy", "random", "fido", "set=6", "--deals", "2")
    run(tmp_path, "greedy", "random", "fido", "set=6", "--deals", "3")
    (file,) = kept.iterdir()
    assert len(file.read_text().splitlines()) == 3
    page = (tmp_path / "strength.md").read_text()
    assert all(f"| {row.setup.name} |" in page for row in ROWS)
    assert page.count("not measured") == len(ROWS) - 1
    assert (tmp_path / "strength.svg").read_text().count("<circle") == 1


def test_the_exit_status_says_whether_the_bounds_are_reached(tmp_path: Path) -> None:
    assert run(tmp_path, "greedy", "random", "dominospiel", "players=2", "--deals", "1") == 1
    row = next(row for row in ROWS if row.name == "greedy over random, dominospiel players=2")
    Results(tmp_path, "reported").add(row, [Outcome(deal, 0.9 + deal % 2 / 50, 1.0, []) for deal in range(1, 120)])
    assert run(tmp_path, "greedy", "random", "dominospiel", "players=2", "--deals", "1") == 0


@pytest.mark.parametrize("seats", [3, 4])
def test_equal_levels_come_out_equal(seats: int) -> None:
    row = Row("greedy", "greedy", Setup("fido", seats, (("set", 6),)), 0.5, 1)
    outcome = play_deal(row, "any", 1)
    assert outcome.win == pytest.approx(0.5)
    assert outcome.lead == pytest.approx(0)


def test_a_row_is_judged_by_the_lower_end_of_its_interval() -> None:
    row = Row("expert", "greedy", Setup("domino", 2), 0.5, 1)
    surely = [Outcome(deal, 0.6 + deal % 2 / 10, 1.0, [2.0]) for deal in range(120)]
    hardly = [Outcome(deal, float(deal % 9 > 3), 1.0, [2.0]) for deal in range(120)]
    assert measured(row, surely).reached
    assert not measured(row, hardly).reached
    assert not measured(row, surely[:99]).reached
    assert "<circle" in plot([measured(row, surely)])
