"""The scope of a test run, chosen by ``--scope``: every test and case, or an answer within three minutes.

The quick scope leaves out the files that are marked with ``pytestmark = pytest.mark.full`` (in other files, tests with
that marker), and takes a part of the cases where a test has very many of them. Nothing else in the tests depends on
the scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeVar

Scope = Literal["full", "quick"]
SCOPES: Final[tuple[Scope, ...]] = ("full", "quick")
Case = TypeVar("Case")

QUICK_VARIANTS: Final = ("domino", "fido", "menschenwolf")
"""Those that long tests of every variant take in the quick scope: two ends, many, and extra ones."""

_QUICK_SHARE: Final = 5
"""Of so many generated cases, the quick scope takes one."""
_chosen: Scope | None = None


def choose(scope: Scope) -> None:
    """Set the scope of this process, before tests are collected."""
    global _chosen  # noqa: PLW0603 # parameters of tests are made at import, where there is no configuration to ask
    _chosen = scope


def is_quick() -> bool:
    """Whether it is the quick scope. Not known while pytest loads ``conftest.py`` files."""
    assert _chosen is not None
    return _chosen == "quick"


def fewer(many: int) -> int:
    """So many generated cases, or a fifth of them in the quick scope, but at least one."""
    return max(many // _QUICK_SHARE, 1) if is_quick() else many


def in_scope(cases: Sequence[Case], quick: Sequence[Case]) -> Sequence[Case]:
    """The cases of a test: all of them, or those chosen for the quick scope, which must be among them."""
    assert set(quick) <= set(cases)
    return quick if is_quick() else cases
