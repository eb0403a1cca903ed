"""Serves the floor exactly as the service is served: the same supervisor, gunicorn, worker and options."""

from __future__ import annotations

import os
import sys

from service import supervisor
from service.config import Settings

if __name__ == "__main__":
    sys.exit(supervisor.serve(Settings.from_environ(os.environ), app="bench.floor.app:create()"))
