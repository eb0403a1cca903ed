"""The standard streams of the supervising process, and child processes that end with it. Light to import."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, TextIO


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print to standard output, or to ``stream``; a closed one is ignored."""
    with contextlib.suppress(OSError):
        # In one call, as other processes log to the same terminal: with PYTHONUNBUFFERED, `end` is another call.
        print(f"{line}\n", end="", file=stream or sys.stdout, flush=True)


def warn(line: str) -> None:
    """Print to standard error; a closed one is ignored."""
    print_line(f"domino-service: {line}", sys.stderr)


def claim_standard_streams() -> None:
    """Open closed standard descriptors, so that no socket gets their number and is used as standard output."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 # it takes no keyword
    os.close(descriptor)


_DIE_WITH_PARENT_SCRIPT = """
import ctypes, os, sys
parent, sign, *command = sys.argv[1:]
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
if os.getppid() == int(parent):
    os.execv(command[0], command)
"""


def die_with_parent(command: Sequence[str], sign: signal.Signals) -> list[str]:
    """Return a command line that runs ``command`` and sends it ``sign`` when this process ends, even by SIGKILL.

    The first word must be an absolute path. Only Linux supports this; elsewhere ``command`` is returned unchanged. On
    Linux, the signal is sent when the thread ends that started the child, so it must be a thread that never ends.
    """
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT_SCRIPT, str(os.getpid()), str(int(sign)), *command]


class ChildProcess(subprocess.Popen[bytes]):
    """A child process in a session of its own, so that Ctrl-C in the terminal reaches only this process.

    ``name`` is for messages. ``sign`` ends it at once, also when this process ends (``die_with_parent``). ``options``
    are those of ``Popen``.
    """

    def __init__(self, name: str, command: Sequence[str], sign: signal.Signals, **options: Any) -> None:
        super().__init__(die_with_parent(command, sign), stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self.name = name
        self._sign = sign
        self.start_again = partial(ChildProcess, name, command, sign, **options)

    def end_message(self) -> str:
        """Return a message that the process, whose end ``poll`` has seen, ended by itself, and how."""
        status = self.returncode
        cause = f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        return f"{self.name} ended by itself ({cause})"

    def end(self, seconds: float) -> None:
        """Send ``sign`` if it runs, and wait for its end, at most ``seconds``; then kill it and its children."""
        self.send_signal(self._sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: on macOS, for ended processes
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()
        with contextlib.suppress(ChildProcessError):
            while True:  # in a container, orphans become children of the first process, which can be this one
                os.waitpid(-self.pid, 0)
