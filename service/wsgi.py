"""What a WSGI server imports: ``service.wsgi:create()``."""

from __future__ import annotations

import gc
import os
from typing import Final

from flask import Flask

from service.bootstrap import build_app
from service.config import Settings

_YOUNG: Final = 5_000
"""Objects more than there were, before the collector looks for circles among the new ones, for a millisecond or two.

A request makes none, and what it leaves is freed at once: what is new then are games to be remembered. It is refusals
of strange addresses, and faults, that leave circles.
"""


def create() -> Flask:
    """The application for the settings of the environment."""
    app = build_app(Settings.from_environ(os.environ))
    # What is there for good need not be looked through again: a full collection would stop all clients of the worker.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 50, 20)
    return app
