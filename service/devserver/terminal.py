"""The standard streams of the process that starts the others: lines for people, and closed descriptors.

Owns how a line is printed. Light to import.
"""

from __future__ import annotations

import contextlib
import os
import sys


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
