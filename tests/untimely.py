"""The real worker, whose second one is told to stop before it has a handler for that: ``UNTIMELY`` says when."""

from __future__ import annotations

import os
import signal
from typing import Any

from service.worker import Worker

STRUCK = 2
_forked = 0


class UntimelyWorker(Worker):
    """Told to stop right after the ``fork`` or, a little later, in its ``boot``."""

    def __init__(self, age: int, *rest: Any) -> None:
        global _forked  # noqa: PLW0603 # a hook of fork is told nothing
        _forked = age
        super().__init__(age, *rest)

    def init_process(self) -> None:
        _strike("boot")
        super().init_process()


def _strike(moment: str) -> None:
    if _forked == STRUCK and os.environ["UNTIMELY"] == moment:
        os.kill(os.getpid(), signal.SIGTERM)


os.register_at_fork(after_in_child=lambda: _strike("fork"))
