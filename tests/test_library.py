"""The engine as a library: its page, its example, and that it needs nothing but the standard library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from service import library
from service.engine.variants import variants
from service.library import GAMES, IllegalMove, InvalidSetup, Match, explain, parse_tile, play, read_record, verify
from service.texts import LANGUAGES
from tests.support import lanes
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")
STANDARD_LIBRARY_ALONE = """
import runpy, sys

class OthersAreAway:
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first != "service" and first not in sys.stdlib_module_names:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, OthersAreAway())
sys.path.insert(0, sys.argv[1])
sys.argv = ["one_match.py", "latin"]
runpy.run_path("examples/one_match.py", run_name="__main__")
"""


def test_the_page_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/library.md", "exec"), names)  # of our own page
    assert capsys.readouterr().out.splitlines()[0].endswith(".")


def test_the_page_names_all_that_stays_the_same() -> None:
    table = PAGE[PAGE.index("## All names") :]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    assert named == set(library.__all__)
    assert all(hasattr(library, name) for name in named)


def test_it_needs_the_standard_library_alone() -> None:
    command = [sys.executable, "-I", "-c", STANDARD_LIBRARY_ALONE, str(ROOT)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    assert re.search(r"^verified: True, [1-9][0-9]* moves, [1-9][0-9]* deals proven$", said, re.MULTILINE)
    assert said.splitlines()[-1].endswith("win the match.")


@pytest.mark.parametrize("game", lanes.in_lane(sorted(variants()), quick=["block", "latin", "fido"]))
def test_a_match_of_computer_players_is_proven_by_its_record(game: str) -> None:
    seats = GAMES[game].players[0]
    match = Match(game, [f"P{seat}" for seat in range(seats)], bots=dict.fromkeys(range(seats), "greedy"))
    while not match.is_over:
        seat = match.to_act[0]
        match.play(seat, match.choose(seat))
    record = read_record(match.record("2026-01-06T19:33:20.000Z"))
    report = verify(record)
    assert report.verified
    assert record.result == match.winners
    assert report.proven == len([each for each in record.rounds if each.lines])
    assert report.decisions > 0


def test_the_same_secret_deals_the_same_again() -> None:
    one, two, other = [Match("draw", ["Ada", "Bo"], secret=each * 32).record() for each in (b"a", b"a", b"b")]
    assert one == two != other
    assert "[Fairness" in one
    assert "arranged" not in one
    assert "arranged" in Match("draw", ["Ada", "Bo"], seed="a").record()


def test_a_record_of_a_running_round_tells_no_secret_of_the_rounds_to_come() -> None:
    match = Match("draw", ["Ada", "Bo"], secret=b"s" * 32)
    assert b"s" * 32 not in match.record().encode()
    assert "[Seed" not in match.record()


def test_a_refused_move_changes_nothing_and_is_explained() -> None:
    match = Match("block", ["Ada", "Bo"], seed="x")
    before, (seat,) = match.state, match.to_act
    you = match.view(seat).you
    assert you is not None
    absent = next(tile for tile in map(parse_tile, ("0-0", "1-1", "2-2", "3-3")) if tile not in you.hand)
    with pytest.raises(IllegalMove) as refused:
        match.play(seat, play(absent, None))
    assert match.state is before
    assert len({explain(refused.value, language) for language in LANGUAGES}) == len(LANGUAGES)
    with pytest.raises(ValueError, match="not to act"):
        match.choose(1 - seat)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"game": "mah-jongg"}, "game"),
        ({"players": ["Ada"]}, "players"),
        ({"options": {"hand": 99}}, "options.hand"),
        ({"bots": {0: "genius"}}, "bots.0"),
        ({"bots": {7: "greedy"}}, "bots.7"),
    ],
)
def test_what_cannot_be_set_up_is_refused_by_field(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidSetup) as refused:
        Match(**({"game": "block", "players": ["Ada", "Bo"]} | arguments))  # type: ignore[arg-type]
    assert list(refused.value.errors) == [field]
