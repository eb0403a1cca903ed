"""The three lanes of tests: which tests each has, and the processor time that it may take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support import lanes
from tests.support.processor_time import budgets, folder_of
from tests.support.serving import ROOT

QUICK: Final = 300
"""Processor seconds that ``make test`` may take."""
CHECK: Final = 60
"""Processor seconds of ``make check``."""
CHECK_TEST_GATE: Final = 1600
"""Processor seconds of what ``.ci/run`` runs: fifteen minutes of two cores, with some room."""
CUT: Final = re.compile(r"\b(?:fewer|in_lane|variants_in_lane)\(|\bsaved_game\b")
"""What the cases of a test depend on that has more of them in the gate."""
FILES: Final = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path != Path(__file__)]


def files_of(lane: lanes.Lane, monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    monkeypatch.setattr(lanes, "_chosen", lane)
    return {path for path in FILES if lanes.may_have_tests(path.read_text("utf-8"))}


def test_budgets_keep_what_the_lanes_promise() -> None:
    quick, gate = (sum(budgets()[lane].values()) for lane in ("quick", "gate"))
    assert quick <= QUICK
    assert CHECK + quick + gate <= CHECK_TEST_GATE


@pytest.mark.parametrize("lane", lanes.LANES)
def test_every_folder_of_a_lane_has_a_budget(lane: lanes.Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {folder_of(path.relative_to(ROOT).as_posix()) for path in files_of(lane, monkeypatch)}
    assert budgets()[lane].keys() == folders | {"start"}


def test_every_file_is_in_the_nightly_lane_and_in_one_of_the_others_or_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, gate, nightly = (files_of(lane, monkeypatch) for lane in lanes.LANES)
    assert nightly == set(FILES)
    assert all("pytest.mark.nightly" in path.read_text("utf-8") for path in nightly - quick - gate)
    assert all("pytest.mark." in path.read_text("utf-8") for path in quick & gate)


def test_a_file_whose_cases_depend_on_the_lane_is_marked() -> None:
    """Else its cases for the gate would be run by night alone."""
    marked = re.compile(r"pytest\.mark\.(?:quick|quick_and_gate|gate|nightly)\b")
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in FILES}
    assert not [path for path, text in texts.items() if CUT.search(text) and not marked.search(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import pytest", {"quick", "nightly"}),
        ("pytestmark = pytest.mark.gate", {"gate", "nightly"}),
        ("pytestmark = pytest.mark.nightly", {"nightly"}),
        ("pytestmark = pytest.mark.quick", {"quick", "nightly"}),
        ("pytestmark = pytest.mark.quick_and_gate", {"quick", "gate", "nightly"}),
        ("pytestmark = [\n    pytest.mark.gate,\n    pytest.mark.skipif(True)]", {"gate", "nightly"}),
        ("pytestmark = [pytest.mark.nightly]\n@pytest.mark.gate\n", {"gate", "nightly"}),
        ("@pytest.mark.gate\n", {"quick", "gate", "nightly"}),
        ("@pytest.mark.nightly\n", {"quick", "nightly"}),
    ],
)
def test_the_text_of_a_file_tells_its_lanes(text: str, expected: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for lane in lanes.LANES:
        monkeypatch.setattr(lanes, "_chosen", lane)
        found |= {lane} if lanes.may_have_tests(text) else set()
    assert found == expected


def test_the_closest_mark_of_a_test_counts() -> None:
    assert lanes.lanes_of(["parametrize", "gate", "nightly"]) == {"gate", "nightly"}
    assert lanes.lanes_of(["skipif"]) == lanes.UNMARKED


def test_a_shorter_lane_takes_fewer_cases_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for lane in lanes.LANES:
        monkeypatch.setattr(lanes, "_chosen", lane)
        taken.append((lanes.fewer(100), lanes.fewer(1), lanes.in_lane("abc", quick="a", gate="ab")))
    assert taken == [(10, 1, "a"), (25, 1, "ab"), (100, 1, "abc")]
