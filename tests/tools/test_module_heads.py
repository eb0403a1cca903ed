"""A module begins with what it owns, and what it does not depend on."""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import Final

import pytest

from tests.support.serving import ROOT

ONE_FOR_ALL: Final = ("engine/rules", "engine/variants")
"""Packages whose modules are all of a kind: an answer to a question, or a game."""
ROOM: Final = ("routes.py", "owner_routes.py", "seat_routes.py", "schemas.py", "serializers.py")
"""The modules of a resource's package in ``web``, of which ``web`` says once what each kind owns."""
EXCEPTIONS: Final = {"engine/view.py": "it says that it is the only place where anything is redacted"}


def modules() -> list[str]:
    """The paths of the modules below ``service`` of which this holds."""
    service = ROOT / "service"
    inside = [path.relative_to(service) for path in service.rglob("*.py")]
    return sorted([path.as_posix() for path in inside if not is_package(path) and not is_of_a_kind(path)])


def is_package(path: PurePath) -> bool:
    """Whether this is the module of a package, or the entry point of the program."""
    return path.name in ("__init__.py", "__main__.py")


def is_of_a_kind(path: PurePath) -> bool:
    """Whether its package says what it owns."""
    return path.parent.as_posix() in ONE_FOR_ALL or (path.parent.parent.as_posix() == "web" and path.name in ROOM)


def head(module: str) -> str:
    return " ".join((ast.get_docstring(ast.parse((ROOT / "service" / module).read_text("utf-8"))) or "").split())


@pytest.mark.parametrize("phrase", ["owns ", "does not depend on "])
def test_a_module_says_what_it_owns_and_what_it_does_not_depend_on(phrase: str) -> None:
    silent = [module for module in modules() if phrase not in head(module).lower() and module not in EXCEPTIONS]
    assert not silent


def test_every_exception_is_needed() -> None:
    assert [module for module in EXCEPTIONS if "owns " in head(module).lower()] == []


def test_web_says_what_each_kind_of_module_owns() -> None:
    assert all(f"``{kind}``" in head("web/__init__.py") for kind in ("routes", "schemas", "serializers"))
