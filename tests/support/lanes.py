"""The lane of a test run, chosen by ``--lane``: an answer in minutes, what has to hold before a change lands, or all.

======== ============= ==================================================================================
lane     command       tests
======== ============= ==================================================================================
quick    make test     files without a mark, those marked ``quick``, and those marked ``quick_and_gate``
gate     make gate     files marked ``gate``, and those marked ``quick_and_gate`` with other cases
nightly  make nightly  every file, with every case
======== ============= ==================================================================================

A file has its mark in a line ``pytestmark = pytest.mark.gate``, by which a lane leaves files out without importing
them. A single test of a file may have a mark of its own. ``quick`` says that the night runs further cases of the file.
Nothing else in the tests depends on the lane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeVar

Lane = Literal["quick", "gate", "nightly"]
LANES: Final[tuple[Lane, ...]] = ("quick", "gate", "nightly")
Case = TypeVar("Case")

MARKS: Final[dict[str, frozenset[Lane]]] = {
    "quick": frozenset({"quick", "nightly"}),
    "gate": frozenset({"gate", "nightly"}),
    "quick_and_gate": frozenset({"quick", "gate", "nightly"}),
    "nightly": frozenset({"nightly"}),
}
"""The lanes of a file or test by its mark."""
UNMARKED: Final = MARKS["quick"]

QUICK_VARIANTS: Final = ("domino", "fido", "menschenwolf")
"""The games of long tests in the quick lane: with two ends, with many, and with additional ends."""
GATE_VARIANTS: Final = (*QUICK_VARIANTS, "latin")
"""The games of long tests in the gate: those, and one in teams."""

_SHARE: Final[dict[Lane, int]] = {"quick": 10, "gate": 4, "nightly": 1}
"""Of so many generated cases, a lane takes one."""
_MARK: Final = r"pytest\.mark\.(quick|gate|quick_and_gate|nightly)\b"
_OF_FILE: Final = re.compile(rf"^pytestmark = (?:\[[^\]]*?)?{_MARK}", re.MULTILINE)
_chosen: Lane | None = None


def choose(lane: Lane) -> None:
    """Set the lane of this process, before tests are collected."""
    global _chosen  # noqa: PLW0603 # parameters of tests are made at import, where there is no configuration to ask
    _chosen = lane


def current() -> Lane:
    """Return the chosen lane; there is none yet while pytest loads ``conftest.py`` files."""
    assert _chosen is not None
    return _chosen


def fewer(count: int) -> int:
    """Return the number of generated cases in this lane, of ``count`` in the nightly one: at least one."""
    return max(count // _SHARE[current()], 1)


def in_lane(
    cases: Sequence[Case], *, quick: Sequence[Case] | None = None, gate: Sequence[Case] | None = None
) -> Sequence[Case]:
    """Return the cases of a test in this lane: by night all. A shorter lane may share those of the other."""
    chosen = {"nightly": cases, "gate": quick if gate is None else gate, "quick": gate if quick is None else quick}
    of_lane = chosen[current()]
    assert of_lane is not None
    assert all(case in cases for case in of_lane)
    return of_lane


def lanes_of(marks: Sequence[str]) -> frozenset[Lane]:
    """Return the lanes of a test with these marks, the closest first."""
    return next((MARKS[mark] for mark in marks if mark in MARKS), UNMARKED)


def may_have_tests(text: str) -> bool:
    """Return whether a file with this text may have tests for this lane; what it has is known after its import."""
    of_file = _OF_FILE.search(text)
    possible = [lanes_of([of_file[1]] if of_file else []), *(MARKS[mark] for mark in re.findall(_MARK, text))]
    return any(current() in lanes for lanes in possible)
