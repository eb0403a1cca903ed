"""The real worker, the second of which is stopped before it has signal handlers (``UNTIMELY``: when and how)."""

from __future__ import annotations

import os
import signal
from typing import Any

from service.gunicorn_worker import Worker

STRUCK = 2
_forked = 0


class UntimelyWorker(Worker):
    """Stopped right after the ``fork`` or, a little later, in its ``boot``."""

    def __init__(self, age: int, *rest: Any) -> None:
        global _forked  # noqa: PLW0603 # a hook of fork is told nothing
        _forked = age
        super().__init__(age, *rest)

    def init_process(self) -> None:
        _strike("boot")
        super().init_process()


def _strike(moment: str) -> None:
    when, sign = os.environ["UNTIMELY"].split()
    if _forked == STRUCK and when == moment:
        os.kill(os.getpid(), signal.Signals[sign])


os.register_at_fork(after_in_child=lambda: _strike("fork"))
