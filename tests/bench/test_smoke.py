"""Every part of the benchmark still runs. Its figures are no matter here.

What only the dependency group `bench` has (FastAPI, matplotlib) and what needs Node is measured by `make bench`; the
tests of those are skipped, by name, where it is not installed, as are those of the two other engines.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import report
from bench.bursts import STATUS, Work, prepared
from bench.driver import Refused, burst, end_of, request
from bench.figures import Spread, percentile, ratios, spread
from bench.floor.sizes import Sizes, sizes_of
from bench.hosted import measure
from bench.parts import LOAD, PARTS, part
from bench.parts.engine import dominoes_round, open_spiel_round
from bench.parts.load import VERDICT
from bench.parts.peers import PEERS
from bench.plot import Panel, line_with_band, panels
from bench.report import Goal, Section, Table
from bench.scale import SMOKE
from bench.setups import LONGEST, USUAL, long_matches, matches
from bench.stand import Name, Stand, missing

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with Stand(SMOKE.workers) as stand:
        yield stand


@pytest.mark.parametrize("name", PARTS)
def test_a_part_runs_and_has_something_to_say(stand: Stand, name: str) -> None:
    section = part(name)(stand, SMOKE)
    if not section.tables and section.left_out:
        pytest.skip(section.left_out[0])
    assert section.tables
    assert all(table.rows and all(len(row) == len(table.head) for row in table.rows) for table in section.tables)
    assert section.title in report.show(section)


def test_the_load_run_plays_on_a_cluster_and_finds_nothing_lost_or_doubled(stand: Stand) -> None:
    section = part(LOAD)(stand, SMOKE)
    assert all(table.rows and all(len(row) == len(table.head) for row in table.rows) for table in section.tables)
    assert [goal.what for goal in section.goals if not goal.reached] == []
    (rows,) = [table.rows for table in section.tables if table.title == VERDICT]
    verdict = {row[0]: row[1] for row in rows}
    assert int(verdict["acknowledged moves of people, compared with the events"].replace(",", "")) > 0
    assert verdict["matches or streams that failed"] == "0"


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_does_the_work_of_the_floor(stand: Stand, name: Name) -> None:
    fault = missing(name)
    if fault is not None:
        pytest.skip(fault)
    played = matches(USUAL, 1, SMOKE.longest)
    work = Work(played, measure(stand["service"].address, stand.redis, played[0]), 2, 2)
    for kind in STATUS:
        if kind != "GET view, 304":
            assert burst(stand[name].address, prepared(stand, kind, work, name), STATUS[kind]).latencies


def test_open_spiel_plays_a_round() -> None:
    pytest.importorskip("open_spiel", reason="OpenSpiel: open_spiel is not installed (make install-dev installs it)")
    open_spiel_round()()


def test_the_package_dominoes_plays_a_round() -> None:
    pytest.importorskip("dominoes", reason="PyPI dominoes: dominoes is not installed (make install-dev installs it)")
    dominoes_round()()


def test_a_plot_is_svg() -> None:
    pytest.importorskip("matplotlib", reason="the plot: matplotlib is not installed (make bench installs it)")
    assert "<svg" in line_with_band([Spread(1.0, 0.5, 2.0)] * 3, title="Cost", across="move", up="ms")
    curves = [Panel("ms", {"a move": [1.0, 2.0]}, logarithmic=True), Panel("a second", {"moves": [3.0, 4.0]})]
    assert "<svg" in panels("tables", [1.0, 2.0], curves)


def test_a_burst_refuses_an_answer_that_it_does_not_expect(stand: Stand) -> None:
    with pytest.raises(Refused, match="404"):
        burst(stand["service"].address, [[request("GET", "/v1/games/nowhere")]], 200)


def test_the_end_of_an_answer_follows_from_its_content_length() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nServer: any\r\n\r\n"
    assert end_of(head[:-1]) is None
    assert end_of(head + b"bod") is None
    assert end_of(head + b"body") == len(head) + 4
    assert end_of(b"HTTP/1.1 304 NOT MODIFIED\r\nServer: any\r\n\r\n") == 42
    with pytest.raises(Refused, match="without a length"):
        end_of(b"HTTP/1.1 200 OK\r\nServer: any\r\n\r\n")


def test_an_id_of_the_floor_contains_its_sizes() -> None:
    assert sizes_of(Sizes(700, 40, 1500).id(3)) == Sizes(700, 40, 1500)


def test_long_matches_are_as_long_as_asked_for() -> None:
    (match,) = long_matches(LONGEST, 1, 183)
    assert len(match.steps) >= 183


def test_figures_are_medians_with_their_quartiles() -> None:
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == Spread(3.0, 2.0, 4.0)
    assert spread([7.0]).show() == "7.00 (7.00 – 7.00)"
    assert percentile([float(number) for number in range(1, 101)], 99) == 100.0
    assert ratios({"mine": [1.0, 3.0], "its": [2.0, 4.0]}, "mine", "its").median == 0.625


def test_the_page_shows_the_goals_that_are_reached_and_those_that_are_not() -> None:
    goals = [Goal("moves", "≥ 0.9", "0.95", reached=True), Goal("views", "≥ 0.9", "0.8", reached=False)]
    table = Table("Moves", ("game", "a second"), [("fido", "12")])
    page = report.page([Section(title="Speed", text="Fast.", tables=[table], goals=goals)], "a server")
    assert "| moves | ≥ 0.9 | 0.95 | yes |" in page
    assert "| views | ≥ 0.9 | 0.8 | **no** |" in page
    assert "| fido | 12 |" in page
