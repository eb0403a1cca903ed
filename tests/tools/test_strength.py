"""`make strength` still runs, adds up and judges. Its figures are no matter here."""

from __future__ import annotations

import shutil
from math import isinf, sqrt
from pathlib import Path
from statistics import stdev

import orjson
import pytest

from service.games.model.seats import LEVELS
from service.games.queries.catalogue import measured_strength
from tests.support.serving import ROOT
from tools.strength import duels, reviews, reviews_report
from tools.strength.__main__ import main
from tools.strength.report import DATA, PAGE, PLOT, data, plot
from tools.strength.results import FEWEST, FIGURES, Results, known, measured, write
from tools.strength.reviews import SETUPS, Figures, Reviewed, Shared
from tools.strength.rounds import Outcome, play_deal
from tools.strength.rows import ROWS, Row, Setup

pytestmark = pytest.mark.nightly


def run(folder: Path, *arguments: str, kept: str = "") -> int:
    written = ["--kept", str(folder / kept), "--write", str(folder)]
    return main([*arguments, "--jobs", "1", "--minutes", "1", *written])


def test_runs_add_up_and_the_page_has_every_row(tmp_path: Path) -> None:
    kept = tmp_path / "reported" / "greedy 1 and random 1"
    run(tmp_path, "greedy", "random", "fido", "set=6", "--deals", "2")
    run(tmp_path, "greedy", "random", "fido", "set=6", "--deals", "3")
    (file,) = kept.iterdir()
    assert len(file.read_text().splitlines()) == 3
    page = (tmp_path / PAGE).read_text()
    assert all(f"| {row.setup.name} |" in page for row in ROWS)
    assert page.count("not measured") == len(ROWS) - 1
    assert (tmp_path / PLOT).read_text().count("<circle") == 1
    assert orjson.loads((tmp_path / DATA).read_bytes()) == []


def test_the_exit_status_says_whether_the_bounds_are_reached(tmp_path: Path) -> None:
    assert run(tmp_path, "greedy", "random", "dominospiel", "players=2", "--deals", "1") == 1
    row = next(row for row in ROWS if row.name == "greedy over random, dominospiel players=2")
    Results(tmp_path, "reported").add(row, [Outcome(deal, 0.9 + deal % 2 / 50, 1.0, []) for deal in range(1, 120)])
    assert run(tmp_path, "greedy", "random", "dominospiel", "players=2", "--deals", "1") == 0


def test_the_figures_of_the_project_stay_where_a_run_has_fewer_deals(tmp_path: Path) -> None:
    first, second = ROWS[:2]
    outcomes = [Outcome(deal, 0.8 + deal % 2 / 10, 1.0, [2.0]) for deal in range(120)]
    results = Results(tmp_path / "elsewhere", "reported")
    results.add(first, outcomes)
    results.add(second, outcomes)
    write(tmp_path, known(tmp_path, ROWS, results).values())
    fewer = Results(tmp_path / "here", "reported")
    fewer.add(first, outcomes[:119])
    fewer.add(second, [*outcomes, *outcomes])
    found = known(tmp_path, ROWS, fewer)
    assert found[first] == measured(first, outcomes)
    assert found[second] == measured(second, [*outcomes, *outcomes])
    assert {each.deals for row, each in found.items() if row not in (first, second)} == {0}


def test_figures_of_another_edition_are_not_those_of_a_row(tmp_path: Path) -> None:
    row = ROWS[0]
    write(tmp_path, [measured(row, [Outcome(deal, 0.8, 1.0, []) for deal in range(120)])])
    file = tmp_path / FIGURES
    file.write_text(file.read_text().replace("greedy 1", "greedy 0"))
    assert known(tmp_path, [row], Results(tmp_path, "reported"))[row].deals == 0


def test_the_pages_are_those_of_the_figures_of_the_project(tmp_path: Path) -> None:
    shutil.copytree(ROOT / FIGURES.parent, tmp_path / FIGURES.parent)
    run(tmp_path, "no such row")
    for page in (PAGE, PLOT, DATA, duels.PAGE, FIGURES):
        assert (tmp_path / page).read_text() == (ROOT / page).read_text(), page


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


def test_the_data_of_the_service_have_the_rows_with_enough_deals() -> None:
    row = Row("greedy", "random", Setup("fido", 3, (("set", 6),)), 0.5, 1)
    outcomes = [Outcome(deal, 0.8 + deal % 2 / 10, 1.0, [2.0]) for deal in range(120)]
    assert orjson.loads(data([measured(row, outcomes[:99])])) == []
    (kept,) = orjson.loads(data([measured(row, outcomes)]))
    assert (kept["share"], kept["deals"], kept["options"]) == (0.85, 120, {"set": 6})


def test_the_page_and_the_data_of_the_service_agree() -> None:
    told, weaker = [], ""
    for line in (ROOT / PAGE).read_text().splitlines():
        if line.startswith("## "):
            stronger, _, weaker = line[3:].lower().partition(" over ")
        elif weaker and "±" in line and line.startswith("|"):
            name, share, _bound, _lead, deals, *_ = [cell.strip() for cell in line.strip("|").split("|")]
            if int(deals) >= FEWEST and {stronger, weaker} <= set(LEVELS):  # the others are only compared with
                told.append((f"{stronger} over {weaker}, {name}", share, int(deals)))
    assert told == [
        (
            Row(each.stronger, each.weaker, Setup(each.variant, each.players, tuple(each.options.items())), 0, 0).name,
            f"{100 * each.share:.1f} ± {100 * each.interval:.1f} %",
            each.deals,
        )
        for each in measured_strength()
    ]
    assert told


def reviewed(deal: int, *given_away: float) -> Reviewed:
    """A deal with ten decisions of each level, which gave away so much each."""
    return Reviewed(deal, (10, 10, 10), tuple([10 * each for each in given_away]), 30, 6000, 30.0, 900)


def figures_of(deals: int, *means: float) -> Figures:
    """Figures of deals that stray a little around these means."""
    return reviews.figures(
        SETUPS[0], [reviewed(deal, *[each + deal % 2 / 10 for each in means]) for deal in range(deals)]
    )


def test_reviews_add_up_and_their_page_has_every_game(tmp_path: Path) -> None:
    assert run(tmp_path, "review", "tiddly-wink", "--deals", "1") == 1
    assert run(tmp_path, "review", "tiddly-wink", "--deals", "2") == 1
    (file,) = (tmp_path / "reported").glob("reviews of */*")
    assert [orjson.loads(line)[0] for line in file.read_text().splitlines()] == [0, 1]
    page = (tmp_path / reviews_report.PAGE).read_text()
    assert all(f"| {setup.name} |" in page for setup in SETUPS)
    assert page.count("not measured") == len(SETUPS) - 1
    assert not (tmp_path / PAGE).exists()


def test_figures_of_reviews_stay_where_a_run_has_fewer_deals(tmp_path: Path) -> None:
    run(tmp_path, "review", "tiddly-wink", "--deals", "2", kept="first")
    page = (tmp_path / reviews_report.PAGE).read_text()
    run(tmp_path, "review", "bergen", "--deals", "2", kept="second")
    both = (tmp_path / reviews_report.PAGE).read_text()
    (line,) = [line for line in page.splitlines() if "| 2 of 40 |" in line]
    assert line in both.splitlines()
    assert both.count("not measured") == len(SETUPS) - 2
    run(tmp_path, "review", "tiddly-wink", "--deals", "1", kept="third")
    assert (tmp_path / reviews_report.PAGE).read_text() == both


def test_the_page_on_reviews_is_that_of_the_figures_of_the_project() -> None:
    none = [reviews.figures(setup, []) for setup in SETUPS]
    figures = reviews.known(ROOT, none)
    assert reviews_report.page(figures) == (ROOT / reviews_report.PAGE).read_text()
    assert all(each.shared for each in figures)


def test_figures_that_nothing_could_show_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Where the weakest level gave away nothing, no number of worlds would make a mistake clear."""
    found = reviews.figures(SETUPS[0], [reviewed(deal, 0, 0, 0) for deal in range(3)])
    assert isinf(found.worlds_wanted)
    reviews.write(tmp_path, [found])
    assert reviews.known(tmp_path, [reviews.figures(SETUPS[0], [])]) == [found]
    luck = reviews.figures(SETUPS[0], [], [Shared(0, (8, 8, 18), (2, 8, 18))])
    assert reviews.known(tmp_path, [luck]) == [found._replace(shared=1, spread=luck.spread, left=luck.left)]


def test_the_order_of_levels_is_shown_by_intervals_of_the_same_deals() -> None:
    deals = reviews.deals_of(SETUPS[0])
    ordered = figures_of(deals, 3.0, 2.0, 1.0)
    assert ordered.given_away == pytest.approx((3.05, 2.05, 1.05))
    assert [each.lead for each in ordered.comparisons] == pytest.approx([1, 1])
    assert ordered.shown
    assert not figures_of(deals - 1, 3.0, 2.0, 1.0).shown
    assert not figures_of(deals, 3.0, 1.0, 1.0).shown
    assert not figures_of(deals, 3.0, 1.0, 2.0).shown


@pytest.mark.parametrize(("deals", "quantile"), [(11, 2.228), (30, 2.045), (61, 2.000)])
def test_intervals_of_few_deals_are_wider(deals: int, quantile: float) -> None:
    """Student's t, from a table; residuals alternate, so that their standard deviation is known."""
    given_away = [1.0 + (-1) ** deal / 10 for deal in range(deals)]
    found = reviews.figures(SETUPS[0], [reviewed(deal, each, 0, 0) for deal, each in enumerate(given_away)])
    assert found.errors[0] == pytest.approx(quantile * stdev(given_away) / sqrt(deals), rel=0.005)


def test_a_mistake_needs_the_worlds_in_which_it_is_two_errors() -> None:
    """A single world strays by 1 here, and random gives away 1: in four worlds, two errors are as much."""
    deals = [reviewed(deal, 1.0, 0.5, 0.0) for deal in range(2)]
    found = reviews.figures(SETUPS[0], deals)
    assert (found.worlds, found.worlds_wanted, found.milliseconds) == (200, 4, 30)


def test_what_is_left_of_a_spread_is_that_of_the_skill() -> None:
    found = reviews.figures(SETUPS[0], [], [Shared(deal, (8, 8, 18), (2, 8, 18)) for deal in range(3)])
    assert (found.spread, found.left) == (3, (0.5, 1, 1))


def test_the_page_on_reviews_shows_the_order_in_every_game() -> None:
    lines = [line for line in (ROOT / reviews_report.PAGE).read_text().splitlines() if line.endswith(" | shown |")]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [setup.name for setup in SETUPS]
