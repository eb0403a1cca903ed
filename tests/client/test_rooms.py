"""The modules of the page are in rooms, and import only from their own room and from those below it.

Imports of types count, too. That no modules import each other in a circle is asked only of what the browser loads.
"""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from posixpath import join, normpath
from typing import Final

import pytest

import service.client

CLIENT: Final = Path(service.client.__file__).parent
PAGE: Final = CLIENT.parents[1] / "docs" / "page.md"

LAYERS: Final = (
    *(("main.js",), ("views",), ("table", "setup", "checks"), ("game",)),
    *(("shell",), ("texts",), ("vendor", "events.js")),
)
"""From the top: a room, or a module outside of them, imports from no other of its own layer."""

LEVELS: Final = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
ROOMS: Final = [room for room in LEVELS if "." not in room]
MODULES: Final = sorted(
    path.relative_to(CLIENT).as_posix() for path in CLIENT.rglob("*.js") if path.parent.name != "vendor"
)

COMMENT: Final = re.compile(r"^\s*/\*\*.*?\*/", re.DOTALL | re.MULTILINE)
SPECIFIER: Final = re.compile(r'\b(?:from |import |import\()"(\.[^"]+)"')


@cache
def text_of(module: str) -> str:
    return (CLIENT / module).read_text("utf-8")


def imports(text: str, module: str) -> set[str]:
    """The modules that a text names in imports, by their paths below ``CLIENT``."""
    return {normpath(join(module, "..", name)) for name in SPECIFIER.findall(text)}


def room(module: str) -> str:
    return module.partition("/")[0]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_in_a_room_and_imports_from_none_above_or_beside_it(module: str) -> None:
    own = LEVELS[room(module)]
    wrong = {
        name for name in imports(text_of(module), module) if room(name) != room(module) and LEVELS[room(name)] <= own
    }
    assert not wrong


def test_modules_are_not_loaded_in_a_circle() -> None:
    graph = {module: imports(COMMENT.sub("", text_of(module)), module) for module in MODULES}
    assert sum(map(len, graph.values())) > 100
    assert {*TopologicalSorter(graph).static_order()} > set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_begins_with_what_it_owns(module: str) -> None:
    assert re.match(r"/\*\*\s+(\* )?[A-Z]", text_of(module))


def test_each_room_is_described() -> None:
    described = re.findall(r"^\| `([a-z]+)/` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(described) == sorted([*ROOMS, "styles"])
