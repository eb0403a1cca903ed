"""The background processes of a run without REDIS_URL: bot workers, schedulers and messengers.

Owns starting them, restarting one that ends by itself, and stopping them. On Linux they also end when their parent is
killed. Light to import.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from service.devserver.child_process import die_with_parent

RESTART_PAUSE_SECONDS = 2.0
"""From the end of a process to its next start: one that cannot run must not be started all the time."""
STOP_SECONDS = 5.0


class BackgroundProcess:
    """One process, ``python -m service`` with this command. Start it and check it by ``check``, then stop it.

    It inherits these ``descriptors``. ``report`` is called with a line for people when it ended by itself, ``ended``
    with its process id.
    """

    def __init__(
        self,
        command: str,
        environ: Mapping[str, str],
        descriptors: Sequence[int],
        *,
        report: Callable[[str], None],
        ended: Callable[[int], None],
    ) -> None:
        self.command = command
        self._environ = environ
        self._descriptors = descriptors
        self._report = report
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, or ``None`` while it does not run."""
        return None if self._process is None else self._process.pid

    def check(self) -> None:
        """Start it if it does not run, after a pause if it has just ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            how = describe_exit(self._process.returncode)
            self._report(f"the process `{self.command}` ended by itself ({how}); restarting it")
            self._ended(self._process.pid)
            self._process = None
            self._start_at = time.monotonic() + RESTART_PAUSE_SECONDS
        if self._process is None and time.monotonic() >= self._start_at:
            self._process = subprocess.Popen(
                die_with_parent([sys.executable, "-m", "service", self.command], signal.SIGTERM),
                stdin=subprocess.DEVNULL,
                env=self._environ,
                pass_fds=self._descriptors,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches the parent only
            )

    def request_stop(self) -> None:
        """Have it finish what it is doing, and end."""
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait until it has ended after ``request_stop``; kill it after ``STOP_SECONDS``."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
            self._process.kill()
            self._process.wait()
            self._process = None


def describe_exit(status: int) -> str:
    """Return how a process ended, for people."""
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
