"""The calls that a move makes, and the picture of them in ``docs/architecture.md``."""

from __future__ import annotations

import re

import pytest

from service.engine.tiles import parse_tile
from tools.trace import ROOT, trace_move, traced

pytestmark = pytest.mark.gate


def test_a_move_takes_the_way_that_the_architecture_shows() -> None:
    """Behind the worker, with which the picture begins."""
    picture = (ROOT.parent / "docs" / "architecture.md").read_text().partition("\n## A move\n")[2]
    shown = re.findall(r"^[ │├└]*[├└] ([a-z_.]+)  ?", picture.split("```")[1], re.MULTILINE)
    modules = iter([module for module, _ in trace_move().stays()])
    assert len(shown) > 5
    assert [module for module in shown if module not in modules] == []


def test_calls_are_counted_with_their_depth() -> None:
    with traced() as calls:
        parse_tile("0-1")
    assert [(call.depth, call.module, call.function) for call in calls] == [(1, "engine.tiles", "parse_tile")]
