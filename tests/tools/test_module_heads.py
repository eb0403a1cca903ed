"""A module begins with what it owns, and what it does not depend on."""

from __future__ import annotations

import ast
from typing import Final

import pytest

from tests.support.serving import ROOT

PACKAGES: Final = ("bots", "devserver", "engine", "outgoing", "records", "render", "server", "storage")
"""Those of which this holds; others are added when it does."""
ONE_FOR_ALL: Final = ("engine/rules", "engine/variants")
"""Packages whose modules are all of a kind: an answer to a question, or a game."""
EXCEPTIONS: Final = {"engine/view.py": "it says that it is the only place where anything is redacted"}
MODULES: Final = (
    "cli.py",
    "cli_backends.py",
    "cli_games.py",
    "cli_operator.py",
    "config.py",
    "json_logging.py",
    "metrics_folder.py",
    "redis_url.py",
)
"""Modules of no package."""


def modules() -> list[str]:
    """The paths of the modules below ``service`` of which this holds."""
    service = ROOT / "service"
    inside = [path.relative_to(service) for package in PACKAGES for path in (service / package).rglob("*.py")]
    names = [
        path.as_posix() for path in inside if path.name != "__init__.py" and path.parent.as_posix() not in ONE_FOR_ALL
    ]
    return sorted([*names, *MODULES])


def head(module: str) -> str:
    return " ".join((ast.get_docstring(ast.parse((ROOT / "service" / module).read_text("utf-8"))) or "").split())


@pytest.mark.parametrize("phrase", ["owns ", "does not depend on "])
def test_a_module_says_what_it_owns_and_what_it_does_not_depend_on(phrase: str) -> None:
    silent = [module for module in modules() if phrase not in head(module).lower() and module not in EXCEPTIONS]
    assert not silent


def test_every_exception_is_needed() -> None:
    assert [module for module in EXCEPTIONS if "owns " in head(module).lower()] == []
