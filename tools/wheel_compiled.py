"""Builds the wheel of the service with a compiled engine: ``python -m tools.wheel_compiled`` writes it into ``dist``.

mypyc makes machine code of the modules that take the time of a move and of a decision of a computer player. They are
the same sources: the wheel has them, too, and Python prefers the library beside them. It is for this platform and this
version of Python.

It is built in a copy, so that the tree stays as it is. Needs what ``locks/compile.txt`` lists, and a C compiler. With
``OPT_LEVEL=0`` the compiler does not optimise, and takes a fifth of the time; tests of what it does need no more.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ("LICENSE", "README.md", "pyproject.toml", "service")

PATTERNS: Final = ("service/engine/*.py", "service/engine/rules/*.py")
BOTS: Final = (
    *("endgame", "expert", "greedy", "inference", "knowledge"),
    *("likelihood", "playout", "worlds"),
)
"""Of the computer players, what a decision of the expert runs."""
HOSTING: Final = (
    *("games/access", "games/model/following", "games/model/tokens"),
    *("games/model/views", "games/store/codec", "games/store/transactions"),
    "web/view/serializers",
)
"""Of what hosts the games, what a move and a view run and no library calls back.

Not the commands, which are methods of ``GameCommands``: a compiled function does not become one.
"""
INTERPRETED: Final = frozenset({"__init__", "deal", "events", "presence", "state"})
"""Modules whose classes are stored by the types of their fields, of which mypyc keeps ``tuple``, not what is in it."""

SETUP: Final = """
import os, sys
from mypyc.build import mypycify
from setuptools import setup

opt_level = os.environ.get("OPT_LEVEL", "3")
libraries = mypycify({modules!r}, opt_level=opt_level, debug_level="0", group_name="domino_service")
for library in libraries if sys.platform != "win32" else ():
    library.extra_compile_args.append("-fno-semantic-interposition")
setup(ext_modules=libraries)
"""
"""Without lines for debuggers, which would tell the folder of the build. And, as Python itself is built, without calls
through the linker's table for functions of the same library, which nothing replaces: a round takes 2.5 % fewer
instructions."""
_PIP: Final = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel")
_OFFLINE: Final = ("--no-index", "--no-deps", "--no-build-isolation")


def main() -> int:
    """Build the wheel; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.wheel_compiled", description="Builds the wheel with a compiled engine."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="where it is written")
    folder: Path = parser.parse_args().folder.resolve()
    if reason := missing():
        parser.error(reason)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        wheel = build(Path(made))
        sys.stdout.write(f"{shutil.copy(wheel, folder)}\n")
    return 0


def missing() -> str:
    """Return what this machine lacks to build it; empty if nothing."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"there is no C compiler: {compiler} was not found"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "the headers of Python are missing; on Debian and Ubuntu: apt install python3-dev"
    return ""


def modules(root: Path) -> list[str]:
    """Return the paths of the modules that are compiled, from the root."""
    found = [path for pattern in PATTERNS for path in root.glob(pattern) if path.stem not in INTERPRETED]
    found += [root / "service" / "bots" / f"{name}.py" for name in BOTS]
    found += [root / "service" / f"{name}.py" for name in HOSTING]
    return sorted([path.relative_to(root).as_posix() for path in found])


def build(folder: Path) -> Path:
    """Build the wheel from a copy of the sources in this empty folder; returns its path.

    Raises ``SystemExit`` with all that was said, if it fails.
    """
    sources, built = folder / "sources", folder / "built"
    sources.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, sources)
    (sources / "setup.py").write_text(SETUP.format(modules=modules(sources)), "utf-8")
    command = (*_PIP, *_OFFLINE, "--wheel-dir", str(built), ".")
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    (wheel,) = built.iterdir()
    return wheel


if __name__ == "__main__":
    sys.exit(main())
