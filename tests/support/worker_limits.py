"""The real worker with other time limits, so that tests are short and do not depend on the speed of the machine."""

from __future__ import annotations

from service.server.gunicorn_worker import Worker


class ShortLimitsWorker(Worker):
    """Closes slow connections after a second."""

    body_seconds = 1.0
    send_seconds = 1.0


class LongLastRequestWorker(Worker):
    """Waits a minute, at a stop, for the next request of a busy client."""

    last_request_seconds = 60.0
