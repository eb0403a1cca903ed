"""The wheel with a compiled engine plays as the sources do: that of a release, tested where there is nothing else.

Skipped where there is no C compiler, with one line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.bots.playing import matches_to_compare
from tests.support.installing import install
from tests.support.programs import run
from tests.support.released import Release
from tests.support.serving import ROOT, Service
from tests.support.table import match_finished
from tests.whole.table import Table, connect
from tools.release import copy_sources
from tools.wheel_compiled import INTERPRETED, missing, modules

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]

WHICH = "from service.engine import build, referee; print(build.BUILD, referee.__file__)"
ALL_CASES = ("tests/engine", "tests/perft")
SOME_CASES = (
    *("tests/bots", "tests/laws", "tests/games"),
    *("tests/api/test_view.py", "tests/api/test_moves.py", "tests/api/test_preconditions.py"),
)
"""Each compiled module runs in these. Compiling can change a type, a default or an overflow, which the first few cases
show as well as many do; what the rules say is found in the sources, and so is where other people's code differs."""


@pytest.fixture(scope="session")
def wheel(release: Release) -> Path:
    return release.compiled_wheel


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment of its own, which has no mypy."""
    return install(wheel, tmp_path_factory.mktemp("installed") / "venv")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that git knows but the service, so that the tests import the one that is installed."""
    folder = tmp_path_factory.mktemp("tree")
    copy_sources(folder)
    (folder / "service").rename(folder / "left out")
    return folder


def in_tree(tree: Path, programs: Path, *words: str) -> str:
    """What the installed Python prints, which also finds the packages of the tests, after its own."""
    (own,) = programs.parent.glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    return run(tree, str(programs / "python"), *words, PYTHONPATH=":".join([str(own), *others]))


def test_the_wheel_is_of_this_platform_and_has_the_sources_too(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = {name.partition(".")[0] for name in names if name.endswith(".so")}
    assert libraries == {"domino_service__mypyc", *(name.removesuffix(".py") for name in modules(ROOT))}
    packed = {name for name in names if name.startswith("service/") and not name.endswith(".so")}
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "service").rglob("*") if path.is_file()}
    assert packed == {name for name in files if "__pycache__" not in name}
    assert not wheel.name.endswith("-none-any.whl")
    assert not [name for name in libraries if Path(name).name in INTERPRETED]


def test_the_installed_engine_is_compiled(programs: Path, tree: Path) -> None:
    build, file = in_tree(tree, programs, "-c", WHICH).split()
    assert build == "compiled"
    assert Path(file).is_relative_to(programs.parent)
    assert file.endswith(".so")


@pytest.mark.parametrize(("lane", "tests"), [("nightly", ALL_CASES), ("quick", SOME_CASES)])
def test_the_same_tests_pass(programs: Path, tree: Path, lane: str, tests: tuple[str, ...]) -> None:
    said = in_tree(tree, programs, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--lane", lane, *tests)
    assert " passed" in said


def test_every_level_decides_as_the_sources_do(programs: Path, tree: Path) -> None:
    assert in_tree(tree, programs, "-m", "tests.bots.playing").strip() == matches_to_compare()


def test_it_serves_and_says_that_it_is_compiled(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "domino-service"), "serve"]
    with Service(tmp_path / "data", command=command, cwd=tmp_path) as service, connect(service.url) as http:
        assert http.get("/version").json()["engine"] == "compiled"
        table = Table.create(http, "domino", 2, options={"limit": 1})
        table.client.play_until(table, match_finished)
