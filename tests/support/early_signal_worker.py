"""The real worker, the second of which gets a stop signal before its handlers are installed.

The environment variable ``EARLY_SIGNAL`` contains the moment, ``fork`` or ``boot``, and the name of the signal.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from service.server.gunicorn_worker import Worker

SIGNALLED_AGE = 2
_age = 0


class EarlySignalWorker(Worker):
    """Gets the signal right after the ``fork`` or, a little later, in its ``boot``."""

    def __init__(self, age: int, *rest: Any) -> None:
        global _age  # noqa: PLW0603 # a fork hook has no arguments
        _age = age
        super().__init__(age, *rest)

    def init_process(self) -> None:
        _send_signal("boot")
        super().init_process()


def _send_signal(moment: str) -> None:
    when, sign = os.environ["EARLY_SIGNAL"].split()
    if _age == SIGNALLED_AGE and when == moment:
        os.kill(os.getpid(), signal.Signals[sign])


os.register_at_fork(after_in_child=lambda: _send_signal("fork"))
