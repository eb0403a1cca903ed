"""The Pythons that the benchmark runs on, and the compiled build of the service.

Owns the second environment, what a Python says of how it was built, and the unpacked wheel. Does not depend on what is
measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple
from zipfile import ZipFile

import orjson

from tools import wheel_compiled

ROOT: Final = Path(__file__).parent.parent
SYSTEM_PYTHON: Final = ROOT / ".venv-bench-system" / "bin" / "python"
"""Where ``make bench`` installs the same packages for the Python of the system, if it is another one."""
_FACTS: Final = (
    "import json, platform, sys, sysconfig; "
    "print(json.dumps([platform.python_implementation(), platform.python_version(), sys.implementation.cache_tag, "
    "'--enable-optimizations' in (sysconfig.get_config_var('CONFIG_ARGS') or ''), "
    "'posix_local' in sysconfig.get_scheme_names()]))"
)
_KEPT: Final[list[tempfile.TemporaryDirectory[str]]] = []


class Python(NamedTuple):
    """A Python with the packages of the benchmark."""

    path: str
    name: str
    """Implementation and version."""
    tag: str
    """What compiled modules must be made for."""
    built: str
    """With which optimisation."""


def python_of(path: str) -> Python:
    """Return what a Python says of itself."""
    said = subprocess.run([path, "-c", _FACTS], capture_output=True, check=True).stdout
    implementation, version, tag, optimised, debian = orjson.loads(said)
    built = "without profile-guided optimisation"
    if optimised:
        built = "with profile-guided optimisation"
    elif debian:
        built = "by Debian, with profile-guided optimisation"  # by its rules, which CONFIG_ARGS does not tell
    return Python(path, f"{implementation} {version}", tag, built)


@cache
def pythons() -> tuple[Python, ...]:
    """Return this Python, and that of the system if it is another one and ``make bench`` has prepared it."""
    own = python_of(sys.executable)
    if not SYSTEM_PYTHON.exists() or SYSTEM_PYTHON.resolve() == Path(sys.executable).resolve():
        return (own,)
    return own, python_of(str(SYSTEM_PYTHON))


def no_compiled_service() -> str:
    """Why the compiled build cannot be made here; empty if it can."""
    if find_spec("mypyc") is None:
        return "mypyc is not installed (make bench installs it)"
    return wheel_compiled.missing()


@cache
def compiled_service() -> Path:
    """Return the folder with the unpacked wheel: the file ``COMPILED_WHEEL``, or else built once, in half a minute."""
    folder = folder_of_this_process("domino-bench-compiled-")
    (folder / "build").mkdir()
    with ZipFile(os.environ.get("COMPILED_WHEEL") or wheel_compiled.build(folder / "build")) as wheel:
        wheel.extractall(folder / "unpacked")
    return folder / "unpacked"


def folder_of_this_process(prefix: str) -> Path:
    """Return a new folder that is removed when this process ends."""
    _KEPT.append(tempfile.TemporaryDirectory(prefix=prefix))
    return Path(_KEPT[-1].name)
