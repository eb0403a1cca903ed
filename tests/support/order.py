"""The order of the tests of a run by several workers: first those that take longest.

pytest-xdist gives every worker a share: as many tests as each other, which follow one another. Whoever is done takes
over the last tests of another share. If these were long ones, the run would end with one worker and nothing to share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby, islice
from typing import TypeVar

import pytest

Test = TypeVar("Test")


def rank(item: pytest.Item) -> int:
    """Return 0 for what takes minutes, 1 for other files that the quick lane leaves out, 2 for all others."""
    if item.get_closest_marker("long"):
        return 0
    return 1 if item.get_closest_marker("gate") or item.get_closest_marker("nightly") else 2


def longest_first(
    tests: Sequence[Test], workers: int, *, rank: Callable[[Test], int], file: Callable[[Test], object]
) -> list[Test]:
    """All tests, so that each share begins with those of lowest rank; the files of ranks 0 and 1 are dealt in turn."""
    files = [list(each) for some in (0, 1) for _, each in groupby([it for it in tests if rank(it) == some], key=file)]
    others = iter([it for it in tests if rank(it) > 1])
    shares = [list(chain.from_iterable(files[number::workers])) for number in range(workers)]
    left = len(tests)
    for number, share in enumerate(shares):
        size = left // (workers - number)
        share.extend(islice(others, max(size - len(share), 0)))
        left -= size
    return [*chain.from_iterable(shares), *others]
