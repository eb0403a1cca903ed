"""The wheel has all that the service needs: installed elsewhere, its command serves."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.serving import ROOT, Service
from tests.whole.table import Table, connect

pytestmark = pytest.mark.full

BUILD_SECONDS = 120.0
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "service")


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
    source = str(folder / "source")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), source)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment of its own, which has the wheel, and finds the dependencies in that of the tests.

    ``domino-service`` itself is in both; its own folder comes first.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=BUILD_SECONDS)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    pip("--python", str(folder), "install", "--no-deps", "--no-index", "--ignore-installed", str(wheel))
    return folder / "bin" / "domino-service"


def pip(*words: str) -> None:
    environ = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words],
        env=environ,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_of_the_service_is_in_the_wheel(wheel: Path) -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "service").rglob("*") if path.is_file()}
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("service/")}
    assert packed == {name for name in files if "__pycache__" not in name}


def test_the_installed_command_serves_from_any_folder(command: Path, tmp_path: Path) -> None:
    with Service(tmp_path / "data", command=[str(command), "serve"], cwd=tmp_path) as service:
        with connect(service.url) as http:
            table = Table.create(http, "domino", 2)
            assert table.view()["status"] == "playing"
        where = subprocess.run(
            [command.parent / "python", "-c", "import service; print(service.__file__)"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(where.stdout).is_relative_to(command.parents[1])
        assert service.stop() == 0
