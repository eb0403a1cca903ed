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
    "POST move": (97, 33, 12),
    "POST move, with an Idempotency-Key": (105, 35, 12),
    "POST move, dominospiel": (103, 33, 12),
    "POST move, menschenwolf": (99, 33, 13),
    "POST move, latin": (96, 32, 12),
    "POST move, game of an application": (98, 33, 12),
    "POST game": (172, 48, 13),
    "GET view": (56, 27, 11),
    "GET moves": (45, 23, 11),
    "GET score": (95, 32, 20),
    "GET events": (115, 28, 16),
    "GET view, not modified": (39, 19, 11),
    "POST move, before a bot": (109, 35, 13),
    "bot worker, greedy move": (209, 39, 18),
    "scheduler, time-out": (118, 27, 14),
    "outbox, one event": (85, 23, 9),
    "messenger, one message": (253, 37, 18),
}
"""For each way: the calls of functions of the service, the modules they are in, and how deep they are nested."""


MAX_ROUND_TRIPS = 8
"""Of a messenger to Redis, from the reminder of a move to what is noted of its delivery."""


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
    delivered = traced["messenger, one message"][3]
    assert delivered["redis.connection round_trip"] <= MAX_ROUND_TRIPS, delivered
    assert not too_long, "\n".join(["these ways have become longer (`make trace` shows a move in order)", *too_long])
