"""A module of the service has at most 550 lines, and a function at most 40, unless there is a reason.

The linter limits parameters and nested blocks (``pyproject.toml``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.support.serving import ROOT

MODULE_LINES: Final = 550
FUNCTION_LINES: Final = 40

LONG_FUNCTIONS: Final = {
    "bots/playout.py: best_of": "called for every move of every playout, which takes a tenth longer if it is divided",
    "engine/layout.py: Layout.join": "called for every tile of every playout: one pass without further calls",
    "engine/view.py: imagined": "one state, field by field",
    "games/commands/create.py: new_game": "one game, field by field, after the tokens of its seats",
    "games/store/transactions.py: Transactions.transact": "one loop, whose branches are all that can happen to a write",
    "metrics.py: Metrics.__init__": "one list of the metrics with their names and meanings",
}


def modules() -> Iterator[tuple[str, str]]:
    """The path of each module below ``service``, and its text."""
    for path in sorted((ROOT / "service").rglob("*.py")):
        yield path.relative_to(ROOT / "service").as_posix(), path.read_text("utf-8")


def functions() -> Iterator[tuple[str, int]]:
    """Each function with its module and class, and its lines."""
    for module, text in modules():
        yield from functions_in(ast.parse(text), f"{module}: ")


def functions_in(parent: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(parent):
        name = prefix
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{prefix}{node.name}."
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield name[:-1], node.end_lineno - node.lineno + 1
        yield from functions_in(node, name)


def test_no_module_is_long() -> None:
    assert not [module for module, text in modules() if len(text.splitlines()) > MODULE_LINES]


def test_only_these_functions_are_long() -> None:
    assert {function for function, many in functions() if many > FUNCTION_LINES} == LONG_FUNCTIONS.keys()
