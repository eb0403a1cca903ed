"""How tests wait: for what they want to see, however long that takes, and never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE: Final = 180.0
"""Seconds after which a test fails that waits for a process or a thread: only a test that fails waits so long.

A shorter one is a statement about the code, and belongs to a test that says which.
"""


def until(
    condition: Callable[[], T],
    told: Callable[[], object] = lambda: "it did not come true",
    *,
    despite: tuple[type[Exception], ...] = (),
    pause: float = 0.02,
) -> T:
    """Wait for a condition, and return what it returned; in vain, fail with what is ``told``.

    An error of ``despite`` counts as false.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            found = condition()
        except despite:
            pass
        else:
            if found:
                return found
        assert time.monotonic() < deadline, told()
        time.sleep(pause)
