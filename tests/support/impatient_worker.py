"""The real worker with other time limits, so that a test of one is short, or does not depend on the machine's speed."""

from __future__ import annotations

from service.gunicorn_worker import Worker


class HastyWorker(Worker):
    """Waits a second where the real one waits for longer."""

    body_seconds = 1.0
    send_seconds = 1.0


class PatientWorker(Worker):
    """Waits, at a stop, for the next request of a busy client for as long as a test may take to send it."""

    last_request_seconds = 60.0
