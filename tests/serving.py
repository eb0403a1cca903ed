"""A whole service for tests: the real command, real gunicorn workers, a real embedded server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 30
STOP_SECONDS = 30


class Service:
    """``python -m service`` on a free port, its data in ``folder``; stopped by its process id."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self._environ = {**os.environ, "PORT": "0", "WORKERS": "2", "DATA_DIR": str(folder), **environ}
        self.url = ""
        self.lines: list[str] = []
        self._listening = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        self._listening.clear()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "service"],
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(START_SECONDS) or not self.url:
            self.stop()
            raise AssertionError("the service did not start:\n" + "\n".join(self.lines))

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_SECONDS)
        self._reader.join(STOP_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            found = re.search(r"(http://[\w.:\[\]]+\d)", line)
            if found and not self._listening.is_set():
                self.url = found[1]
                self._listening.set()
        self._listening.set()
