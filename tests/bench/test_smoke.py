"""Every part of the benchmark still runs. Its figures are no matter here.

What only the dependency group `bench` has (FastAPI, matplotlib) and what needs Node is measured by `make bench`; the
tests of those are skipped, by name, where it is not installed, as are those of the two other engines.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from bench import report
from bench.additions import additions
from bench.bursts import STATUS, Work, prepared
from bench.candidates import COMPILED, FLOORS, Name, missing
from bench.driver import Connection, Refused, burst, end_of, request
from bench.figures import Spread, percentile, ratios, spread
from bench.floor.sizes import Sizes, sizes_of
from bench.hosted import Measures, create_game, measure
from bench.parts import LOAD, PARTS, part
from bench.parts.load import VERDICT
from bench.parts.peers import PEER_KINDS, PEERS
from bench.plays import dominoes_round, open_spiel_round
from bench.plot import Panel, line_with_band, panels
from bench.processes import exact_seconds, tree
from bench.report import Goal, Kept, Section, Table
from bench.scale import SMOKE
from bench.setups import LONGEST, USUAL, Match, long_matches, matches
from bench.stand import Stand
from tests.support.released import Release

pytestmark = pytest.mark.nightly

NO_SIZES: Final = Measures(Sizes(0, 0, 0), Sizes(0, 0, 0), Sizes(0, 0, 0))
"""Only the floor needs them."""


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with Stand(SMOKE.workers) as stand:
        yield stand


@pytest.mark.parametrize("name", PARTS)
def test_a_part_runs_and_has_something_to_say(stand: Stand, name: str) -> None:
    section = part(name)(stand, SMOKE._replace(compiled=False))
    if not section.tables and section.left_out:
        pytest.skip(section.left_out[0])
    assert_complete(section)


def assert_complete(section: Section) -> None:
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
    for kind in PEER_KINDS:
        assert burst(stand[name].address, prepared(stand, kind, work, name), STATUS[kind]).latencies


def test_the_compiled_build_is_measured_beside_the_pure_one(
    stand: Stand, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the release which the tests have built; all in one test, as it starts services of its own."""
    fault = missing(COMPILED)
    if fault is not None:
        pytest.skip(fault)
    monkeypatch.setenv("COMPILED_WHEEL", str(release.compiled_wheel))
    with Connection(stand[COMPILED].address) as connection:
        assert orjson.loads(connection.send(request("GET", "/version")).body)["engine"] == "compiled"
    work = Work(matches(USUAL, 1, SMOKE.longest), NO_SIZES, 2, 2)
    for kind in STATUS:
        assert burst(stand[COMPILED].address, prepared(stand, kind, work, COMPILED), STATUS[kind]).latencies
    for name in ("engine", "additions"):
        section = part(name)(stand, SMOKE)
        assert_complete(section)
        assert any("compiled" in goal.what for goal in section.goals)


@pytest.mark.parametrize("name", FLOORS)
def test_the_floor_deals_stores_and_answers_games_and_refuses_wrong_bodies(stand: Stand, name: Name) -> None:
    (match,) = matches(USUAL, 1, SMOKE.longest)
    with Connection(stand[name].address) as connection:
        opened = orjson.loads(connection.send(request("POST", "/v1/games", body=match.request)).body)
        with pytest.raises(Refused, match="422"):
            connection.send(request("POST", "/v1/games", body=match.request.replace(b'"fido"', b'"chess"')))
    key = f"floor:{{{opened['game']['id']}}}"
    stored = orjson.loads(stand.redis.get(key).partition(b" ")[2])
    dealt = [tuple(tile) for player in stored["players"] for tile in player["hand"]] + list(map(tuple, stored["stock"]))
    assert len(dealt) == len(set(dealt)) == 91
    assert [player["tiles"] for player in opened["game"]["players"]] == [len(it["hand"]) for it in stored["players"]]
    hashes = [hashlib.sha256(seat["token"].encode()).hexdigest() for seat in opened["seats"]]
    assert hashes == [player["token_hash"] for player in stored["players"]]
    assert stand.redis.llen(f"{key}:events") == 1


def test_additions_ask_for_what_they_are_named_after(stand: Stand) -> None:
    work = Work(matches(USUAL, 1, SMOKE.longest), NO_SIZES, 1, 1)
    clock, bot, owner = additions(stand, work, games=1)
    with Connection(stand["service"].address) as connection:
        assert "clock" in _view(connection, clock.having.match(0))
        assert _view(connection, bot.having.match(0))["players"][3]["kind"] == "bot"
        owned = owner.having.match(0)
        path = create_game(connection, owned).path
        assert connection.send(request("GET", path, token=owned.key)).status == 200
        with pytest.raises(Refused, match="401"):
            connection.send(request("GET", create_game(connection, owner.without.match(0)).path, token=owned.key))
    for each in (clock, bot, owner):
        assert each.without.match(0).steps == each.having.match(0).steps
        scripts = prepared(stand, "POST move", each.having, "service")
        assert burst(stand["service"].address, scripts, 201).latencies


def _view(connection: Connection, match: Match) -> dict[str, Any]:
    game = create_game(connection, match)
    view: dict[str, Any] = orjson.loads(connection.send(request("GET", game.path, token=game.tokens[0])).body)
    return view


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
    section = Section(title="Speed", text="Fast.", tables=[table], goals=goals)
    page = report.page([Kept(section, "2026-11-27 10:00 UTC", "abc")], "a server")
    assert "| moves | ≥ 0.9 | 0.95 | yes |" in page
    assert "| views | ≥ 0.9 | 0.8 | **no** |" in page
    assert "| fido | 12 |" in page


def test_what_is_kept_of_parts_is_one_page(tmp_path: Path) -> None:
    table = Table("Moves", ("game", "a second"), [("fido", "12")])
    measured = [
        Kept(Section(title=name, text="Fast.", tables=[table], plots={"a.svg": "<svg/>"}), at, "abc")
        for name, at in (("moves", "2026-11-27 10:00 UTC"), ("engine", "2026-11-27 11:00 UTC"))
    ]
    for each in measured:
        report.keep(tmp_path, each.section.title, each)
    assert report.kept(tmp_path, ["moves", "engine"]) == measured
    assert "| date | 2026-11-27 10:00 UTC to 2026-11-27 11:00 UTC |" in report.page(measured, "a server")
    with pytest.raises(FileNotFoundError):
        report.kept(tmp_path, ["moves", "growth"])


def test_processes_below_one_are_found_and_their_processor_time_is_their_own() -> None:
    busy = "sum(range(20_000_000)); print(0, flush=True); input()"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        below = tree(process.pid)
        (child,) = below[process.pid]
        assert exact_seconds(child) > exact_seconds(process.pid)
        assert list(below) == [process.pid, child]
        process.communicate(b"\n")
