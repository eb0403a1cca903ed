"""A package, and a module that is long, begins with what it owns, and what it does not depend on."""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import Final

import pytest

from tests.support.serving import ROOT

LONG: Final = 150
"""A module with more lines than this is read by its head first."""
ONE_FOR_ALL: Final = ("engine/rules", "engine/variants")
"""Packages whose modules are all of a kind: an answer to a question, or a game."""
ROOM: Final = ("routes.py", "seat_routes.py", "waiting_routes.py", "schemas.py", "serializers.py")
"""The modules of a resource's package in ``web``, of which ``web`` says once what each kind owns."""
EXCEPTIONS: Final = {"engine/view.py": "it says that it is the only place where anything is redacted"}


def heads() -> dict[str, str]:
    """The heads of the packages and the long modules below ``service`` of which this holds, by path."""
    service = ROOT / "service"
    paths = [
        *service.glob("*/__init__.py"),
        *[path for path in service.rglob("*.py") if is_long(path.read_text("utf-8"))],
    ]
    inside = {path.relative_to(service) for path in paths}
    return {path.as_posix(): head(path.as_posix()) for path in sorted(inside) if not is_of_a_kind(path)}


def is_long(text: str) -> bool:
    return len(text.splitlines()) > LONG


def is_of_a_kind(path: PurePath) -> bool:
    """Whether its package says what it owns."""
    return path.parent.as_posix() in ONE_FOR_ALL or (path.parent.parent.as_posix() == "web" and path.name in ROOM)


def head(module: str) -> str:
    return " ".join(
        (ast.get_docstring(ast.parse((ROOT / "service" / module).read_text("utf-8"))) or "").split()
    ).lower()


@pytest.mark.parametrize("phrase", ["owns ", "does not depend on "])
def test_a_head_says_what_is_owned_and_what_it_does_not_depend_on(phrase: str) -> None:
    told = heads()
    assert len(told) > 80
    assert [path for path, text in told.items() if phrase not in text and path not in EXCEPTIONS] == []


def test_every_exception_is_needed() -> None:
    assert [module for module in EXCEPTIONS if "owns " in head(module)] == []


def test_web_says_what_each_kind_of_module_owns() -> None:
    assert all(f"``{kind}``" in head("web/__init__.py") for kind in ("routes", "schemas", "serializers"))
