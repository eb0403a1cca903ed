"""The page on the way of a move shows the calls that a move makes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from service.engine.tiles import parse_tile
from tests.support.waiting import PATIENCE
from tools.trace import BEGIN, END, PAGE, traced

pytestmark = pytest.mark.gate


def test_the_page_shows_the_trace_of_a_move() -> None:
    _, _, rest = PAGE.read_text().partition(BEGIN)
    shown, end, _ = rest.partition(END)
    assert end, "the page has no place for the trace"
    # In a process of its own: what other tests have put into caches would be missing from the trace.
    command = [sys.executable, "-m", "tools.trace"]
    trace = subprocess.run(
        command, cwd=PAGE.parent.parent, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert shown.strip() == trace.stdout.strip(), "write it anew: make trace ARGS=--write"
    assert {"`web.access`", "`games.commands.move`", "`games.store.transactions`", "`engine.referee`"} <= set(
        shown.split()
    )


def test_calls_are_counted_with_their_depth() -> None:
    with traced() as calls:
        parse_tile("0-1")
    assert [(call.depth, call.module, call.function) for call in calls] == [(1, "engine.tiles", "parse_tile")]
