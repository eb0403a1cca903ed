"""Serves the floor exactly as the service is served: the same gunicorn, its worker and its settings."""

from __future__ import annotations

import os
import sys
from typing import Final

from bench.builds import ROOT

_CONF: Final = str(ROOT / "service" / "server" / "gunicorn_conf.py")

if __name__ == "__main__":
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "-c", _CONF, "bench.floor.app:create()"])  # noqa: S606
