"""The entry point for a WSGI server: ``service.server.wsgi:create()``.

Owns when garbage is collected in a worker.
"""

from __future__ import annotations

import gc
import os
from typing import Final

from flask import Flask

from service.bootstrap.web import build_app
from service.config import Settings

_YOUNG_THRESHOLD: Final = 5_000
"""Net allocations between two collections of the youngest generation, each of which takes one or two milliseconds.

Ordinary requests leave no reference cycles, so that their objects are freed by reference counting, and most new objects
are cached games. Cycles come from requests to unknown addresses and from unexpected errors.
"""


def create() -> Flask:
    """Return the application for the settings in the environment. Raises ``InvalidSettings``."""
    app = build_app(Settings.from_environ(os.environ))
    # Permanent objects are excluded from collections: a full one would pause all requests of the worker.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_THRESHOLD, 50, 20)
    return app
