"""Serves the floor: the plain one by gunicorn's gevent worker as it comes, the others exactly as the service is."""

from __future__ import annotations

import os
import sys
from typing import Final

from bench.builds import ROOT

_CONF: Final = str(ROOT / "service" / "server" / "gunicorn_conf.py")


def _words() -> tuple[str, ...]:
    """Return the options of gunicorn."""
    if os.environ["FLOOR"] != "plain":
        return ("-c", _CONF)
    address = f"{os.environ['HOST']}:{os.environ['PORT']}"
    return ("-k", "gevent", "-w", os.environ["WORKERS"], "-b", address, "--keep-alive", "5", "--log-level", "warning")


if __name__ == "__main__":
    command = [sys.executable, "-m", "gunicorn", *_words(), "bench.floor.app:create()"]
    os.execv(sys.executable, command)  # noqa: S606
