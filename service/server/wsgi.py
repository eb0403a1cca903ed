"""The entry point for a WSGI server: ``service.server.wsgi:create()``.

Owns the thresholds of garbage collection in a worker.
"""

from __future__ import annotations

import gc
import os
from typing import Final

from flask import Flask

from service.bootstrap.web import build_app
from service.config import Settings

_YOUNG_THRESHOLD: Final = 5_000
"""Net allocations between two collections of the youngest generation; a collection takes one or two milliseconds.

Ordinary requests leave no reference cycles: reference counting frees their objects, and most remaining objects are
cached games. Only requests to unknown addresses and unexpected errors leave cycles.
"""


def create() -> Flask:
    """Return the application for the settings in the environment. Raises ``InvalidSettings``."""
    app = build_app(Settings.from_environ(os.environ))
    # Exclude permanent objects from collections: a full collection would pause all requests of the worker.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_THRESHOLD, 50, 20)
    return app
