"""The application of the service in a test, which names only what it is about."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from limits.storage import MemoryStorage, Storage

from service.backends.facade import ApplicationService
from service.backends.ports import Application as Backend
from service.backends.ports import ApplicationStore, Repeat
from service.games.facade import GameService
from service.games.ports import StorageUnavailable
from service.games.store.idempotency import Idempotency
from service.web import app as web
from service.web.app import Application, Ingress, WebParts
from service.web.http.streams import Streams
from service.web.metrics import Metrics
from service.web.problems.bans import Network
from service.web.rate_limits import Limits, RateLimits


def create_app(
    games: GameService,
    streams: Streams | None = None,
    *,
    apps: ApplicationService | None = None,
    metrics: Metrics | None = None,
    limits: RateLimits | None = None,
    proxies: int = 0,
    banned: Sequence[Network] = (),
    yield_control: Callable[[], None] = lambda: None,
    metrics_port: int = 0,
) -> Application:
    """The application for these games; without ``apps`` no key is valid, and there are no limits but those given."""
    parts = WebParts(
        games, apps or without_applications(), limits or rate_limits(), streams or Streams(), metrics, yield_control
    )
    return web.create_app(parts, Ingress(proxies, banned, metrics_port))


def rate_limits(
    connect: Callable[[], Storage] = MemoryStorage,
    clock: Callable[[], float] = time.time,
    *,
    workers: int = 1,
    **limits: int,
) -> RateLimits:
    """Rate limits that are counted in memory, unless ``connect`` returns another storage."""
    return RateLimits(connect, Limits(**limits), workers=workers, clock=clock)


def without_applications() -> ApplicationService:
    """The service of a store without applications."""
    return ApplicationService(
        NoApplications(), clock=lambda: 0, random_bytes=bytes, idempotency=Idempotency([bytes(32)])
    )


class NoApplications(ApplicationStore):
    """The store of a service without applications: there are none, and none can be made."""

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """There is none."""
        return None

    def reserve(self, name: str, app: str) -> str:
        """Raises ``StorageUnavailable``."""
        raise StorageUnavailable("no applications")

    def create(self, application: Backend, repeat: Repeat | None = None) -> bool:
        """Raises ``StorageUnavailable``."""
        raise StorageUnavailable("no applications")

    def read(self, app: str) -> Backend | None:
        """There is none."""
        return None

    def replace(
        self,
        before: Backend,
        after: Backend | None,
        repeat: Repeat | None = None,
    ) -> bool:
        """There is nothing to replace."""
        return False

    def all(self) -> list[Backend]:
        """There are none."""
        return []
