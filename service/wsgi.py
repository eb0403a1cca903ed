"""What a WSGI server imports: ``service.wsgi:create()``."""

from __future__ import annotations

import gc
import os
from typing import Final

from flask import Flask

from service.bootstrap import build_app
from service.config import Settings

_YOUNG: Final = 20_000
"""Objects made before the collector looks for circles; requests make few, and what they leave is freed at once."""


def create() -> Flask:
    """The application for the settings of the environment."""
    app = build_app(Settings.from_environ(os.environ))
    # What is there for good need not be looked through again: a full collection would stop all clients of the worker.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 50, 20)
    return app
