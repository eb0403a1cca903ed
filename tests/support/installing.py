"""Environments of their own, for a built wheel: what ``locks/run.txt`` lists is linked from that of the tests."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.programs import run
from tests.support.serving import ROOT

LOCK = ROOT / "locks" / "run.txt"
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def build_wheel(sources: Path, folder: Path) -> Path:
    """The wheel of the service, built in this folder of sources."""
    run(sources, *_PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), ".")
    (built,) = folder.glob("*.whl")
    return built


def install(wheel: Path, folder: Path) -> Path:
    """A new environment in this folder, which has the wheel and what it needs, and nothing else; its programs."""
    run(folder.parent, sys.executable, "-m", "venv", "--without-pip", str(folder))
    (own,) = folder.glob("lib/python*/site-packages")
    for name, place in dict(each for it in locked() for each in _top_level(it.name)).items():
        (own / name).symlink_to(place)
    run(folder, *_PIP, "--python", str(folder), "install", "--no-deps", "--no-index", str(wheel))
    return folder / "bin"


def locked() -> list[Requirement]:
    """What is installed with the wheel on this machine."""
    lines = re.findall(r"^[a-z].*?(?= \\)", LOCK.read_text("utf-8"), re.MULTILINE)
    return [it for it in map(Requirement, lines) if it.marker is None or it.marker.evaluate()]


def _top_level(name: str) -> Iterator[tuple[str, Path]]:
    """The files and folders of an installed distribution in site-packages, each with its path."""
    found = distribution(name)
    for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        yield top, Path(str(found.locate_file(top)))
