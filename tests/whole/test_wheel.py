"""The wheel has all that the service needs, and nothing else: installed elsewhere, its command serves."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.support.installing import build_wheel, install, locked
from tests.support.serving import ROOT, Service
from tests.whole.table import Table, connect

pytestmark = pytest.mark.nightly

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "service")
SERVED = ROOT / "service" / "web" / "openapi"
STARTED = ("__main__", "cli", "bootstrap.web", "server.gunicorn_conf", "server.gunicorn_worker")
"""The modules that the commands and gunicorn load; they import all others but the games, which are found by name."""
ONLY_FOR_TOOLS = {"apispec", "pyyaml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, for setuptools writes into the folder that it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (folder / "source").mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / "source" / name)
    return build_wheel(folder / "source", folder)


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment of its own, which has the wheel and what ``locks/run.txt`` lists."""
    return install(wheel, tmp_path_factory.mktemp("installed") / "venv") / "domino-service"


def imported(path: Path) -> Iterator[str]:
    """What a module imports, also in functions: of ``from x import y`` ``x`` and ``x.y``, a module or not."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_every_file_of_the_service_is_in_the_wheel(wheel: Path) -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "service").rglob("*") if path.is_file()}
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("service/")}
    assert packed == {name for name in files if "__pycache__" not in name}


def test_nothing_but_the_service_is_in_the_wheel(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        required = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    assert tops == {"service", metadata.partition("/")[0]}
    plain = {it.name.lower() for it in map(Requirement, required) if "extra" not in str(it.marker)}
    assert "flask" in plain
    assert not (plain | {it.name for it in locked()}) & ONLY_FOR_TOOLS


def test_every_module_of_the_wheel_is_used_by_a_command_or_a_worker(wheel: Path) -> None:
    """A module that only a test or a tool imports belongs to that."""
    with ZipFile(wheel) as archive:
        files = [Path(name) for name in archive.namelist() if name.endswith(".py")]
    modules = {".".join(file.with_suffix("").parts).removesuffix(".__init__"): ROOT / file for file in files}
    games = [name for name in modules if name.startswith("service.engine.variants.")]
    files_only = {"service.client", "service.web.openapi"}
    found, left = set(), ["service", *games, "service.library", *(f"service.{name}" for name in STARTED)]
    while left:
        name = left.pop()
        if name in modules and name not in found:
            found.add(name)
            left += [name.rpartition(".")[0], *imported(modules[name])]
    assert modules.keys() - found == files_only


def test_the_installed_command_serves_from_any_folder(command: Path, tmp_path: Path) -> None:
    python = command.parent / "python"
    for name in ("apispec", "yaml", "pytest"):
        missing = subprocess.run([python, "-c", f"import {name}"], capture_output=True, text=True, check=False)
        assert f"No module named '{name}'" in missing.stderr
    with Service(tmp_path / "data", command=[str(command), "serve"], cwd=tmp_path) as service:
        with connect(service.url) as http:
            assert Table.create(http, "domino", 2).view()["status"] == "playing"
            assert http.get("/openapi.yaml").content == (ROOT / "openapi.yaml").read_bytes()
            assert http.get("/openapi.json").content == (SERVED / "openapi.json").read_bytes()
        where = subprocess.run(
            [python, "-c", "import service; print(service.__file__)"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(where.stdout).is_relative_to(command.parents[1])
        assert service.stop() == 0
