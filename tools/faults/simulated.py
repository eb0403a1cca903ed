"""Histories in one process, with simulated faults and time: many more moves than real servers have time for.

Owns how many are made, and on how many processors. A history is one seed, the same at every run.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from itertools import count
from typing import Final, NamedTuple

from tests.histories.simulation import simulate

_MAX_COMPLAINTS: Final = 100
_SEEDS: Final = 20
"""Of a piece of work."""


class Simulated(NamedTuple):
    """What the histories were."""

    histories: int
    acknowledged: int
    injected: Counter[str]
    lost: list[str]
    doubled: list[str]
    wrong: list[str]
    seconds: float


def simulated(acknowledged: int, first_seed: int = 0) -> Simulated:
    """Histories from this seed on, until so many writes were acknowledged."""
    began = time.monotonic()
    found = Simulated(0, 0, Counter(), [], [], [], 0.0)
    context = multiprocessing.get_context("forkserver")
    with context.Pool(os.cpu_count()) as pool:
        for piece in pool.imap(_piece, count(first_seed, _SEEDS)):
            found = Simulated(
                found.histories + piece.histories,
                found.acknowledged + piece.acknowledged,
                found.injected + piece.injected,
                [*found.lost, *piece.lost][:_MAX_COMPLAINTS],
                [*found.doubled, *piece.doubled][:_MAX_COMPLAINTS],
                [*found.wrong, *piece.wrong][:_MAX_COMPLAINTS],
                time.monotonic() - began,
            )
            if found.acknowledged >= acknowledged:
                break
    return found


def _piece(first_seed: int) -> Simulated:
    results = [(seed, simulate(seed)) for seed in range(first_seed, first_seed + _SEEDS)]
    return Simulated(
        len(results),
        sum(each.verdict.outcomes["made"] for _, each in results),
        sum([each.injected for _, each in results], Counter()),
        [f"seed {seed}: {what}" for seed, each in results for what in each.verdict.lost],
        [f"seed {seed}: {what}" for seed, each in results for what in each.verdict.doubled],
        [f"seed {seed}: {what}" for seed, each in results for what in each.verdict.wrong],
        0.0,
    )
