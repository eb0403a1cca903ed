"""The ways of requests and reminders through the service have at most so many calls, modules and levels.

The ceilings are the numbers of today (``python -m tests.tools.ways`` prints them), so that no way becomes longer
unnoticed. A change that shortens a way lowers its ceiling; one that has to lengthen a way raises it, and its commit
says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

CEILINGS = {
    "POST move": (119, 39, 12),
    "POST move, with an Idempotency-Key": (127, 41, 12),
    "POST move, dominospiel": (126, 38, 12),
    "POST move, menschenwolf": (123, 38, 14),
    "POST move, latin": (117, 38, 12),
    "POST move, game of an application": (120, 39, 12),
    "POST game": (240, 57, 13),
    "GET view": (67, 29, 12),
    "GET moves": (56, 25, 12),
    "GET score": (119, 35, 20),
    "GET events": (181, 30, 15),
    "GET view, not modified": (48, 20, 12),
    "POST move, before a bot": (141, 43, 15),
    "bot worker, greedy move": (343, 50, 18),
    "scheduler, time-out": (130, 32, 12),
    "outbox, one event": (137, 27, 10),
}
"""For each way: the calls of functions of the service, the modules they are in, and how deep they are nested."""


def test_no_way_is_longer_than_its_ceiling() -> None:
    # In a process of its own: what other tests have put into caches would change the counts.
    command = [sys.executable, "-m", "tests.tools.ways", "--json"]
    root = Path(__file__).parents[2]
    traced = json.loads(subprocess.run(command, cwd=root, stdout=subprocess.PIPE, timeout=PATIENCE, check=True).stdout)
    assert set(traced) == set(CEILINGS)
    too_long = []
    for way, (calls, modules, depth, functions) in traced.items():
        if any(now > most for now, most in zip((calls, modules, depth), CEILINGS[way], strict=True)):
            listed = [f"    {count:3} × {name}" for name, count in functions.items()]
            head = f"{way}: {calls} calls, {modules} modules, {depth} deep; at most {CEILINGS[way]}:"
            too_long.append("\n".join([head, *listed]))
    assert not too_long, "\n".join(["these ways have become longer (`make trace` shows a move in order)", *too_long])
