"""The remote worker alone, under gevent as in the messenger."""

import os

from gevent import monkey

monkey.patch_all()

import gevent  # noqa: E402 # after the patch
from prometheus_client import CollectorRegistry  # noqa: E402

from service.bootstrap import build_worker_parts  # noqa: E402
from service.config import Settings  # noqa: E402
from service.outgoing.sender import Sender  # noqa: E402
from service.web.metrics import Metrics  # noqa: E402
from service.workers.loop import Stop, run  # noqa: E402
from service.workers.metrics import WorkerMetrics  # noqa: E402
from service.workers.remote_worker import build_remote_worker  # noqa: E402


def main() -> None:
    """Ask remote players until a stop is requested."""
    settings = Settings.from_environ(os.environ)
    stop = Stop()
    stop.install()
    registry = CollectorRegistry()
    parts = build_worker_parts(settings, Metrics(registry))
    sender = Sender("domino", networks=settings.webhook_networks)
    worker = build_remote_worker(parts, sender, WorkerMetrics(registry), settings, gevent.spawn)
    run(worker.step, stop)
    worker.close()


main()
