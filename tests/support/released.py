"""A release, built by the command that builds one, for all tests of a run; what is compiled is not optimised."""

from __future__ import annotations

import fcntl
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from tests.support.programs import run
from tests.support.serving import ROOT
from tools.release import version

VERSION = version()
_TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
COMPILED = f"domino_service-{VERSION}-{_TAG}-{_TAG}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}.whl"
"""For this platform, where there is a C compiler."""


class Release(NamedTuple):
    """What the command wrote into a folder, and the lines that it printed."""

    folder: Path
    said: list[str]

    @property
    def compiled_wheel(self) -> Path:
        """The wheel with a compiled engine."""
        return self.folder / COMPILED


def built_once(folder: Path) -> Release:
    """The release in this folder, which all workers share: whoever comes second waits for the first one."""
    dist, said = folder / "dist", folder / "said"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            command = (sys.executable, "-m", "tools.release", "--no-image", str(dist))
            said.write_text(run(ROOT, *command, OPT_LEVEL="0"), "utf-8")
    return Release(dist, said.read_text("utf-8").splitlines())
