"""The real worker with less patience, so that a test of its patience is a short one."""

from __future__ import annotations

from service.gunicorn_worker import Worker


class HastyWorker(Worker):
    """Waits a second where the real one waits for longer."""

    body_seconds = 1.0
    send_seconds = 1.0
