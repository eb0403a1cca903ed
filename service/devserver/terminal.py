"""The standard streams of the process that starts the others: lines for people, and closed descriptors.

Owns how a line is printed. Light to import.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence


def print_line(line: str) -> None:
    """Print to standard output; a closed one is ignored."""
    with contextlib.suppress(OSError):
        print(line, flush=True)


def warn(line: str) -> None:
    """Print to standard error; a closed one is ignored."""
    with contextlib.suppress(OSError):
        print(f"domino-service: {line}", file=sys.stderr, flush=True)


def claim_standard_streams() -> None:
    """Open closed standard descriptors, or a socket could get the number of one and be used as standard output."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 # it takes no keyword
    os.close(descriptor)


# A child process that ends with its parent.


_DIE_WITH_PARENT_SCRIPT = """
import ctypes, os, sys
parent, sign, *command = sys.argv[1:]
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
if os.getppid() == int(parent):
    os.execv(command[0], command)
"""


def die_with_parent(command: Sequence[str], sign: signal.Signals) -> list[str]:
    """Return the command line that runs ``command`` so that it gets ``sign`` when this process ends, even by SIGKILL.

    The first word must be an absolute path. Only Linux supports this; elsewhere the command is returned as it is. For
    Linux the parent is the thread that starts the child, which must therefore run as long as the process.
    """
    if sys.platform == "linux":
        return [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT_SCRIPT, str(os.getpid()), str(int(sign)), *command]
    else:
        return list(command)
