"""The dependencies that each handler of a Flask application gets as ``services``."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, NamedTuple, Protocol

from flask import current_app

from service.backends.facade import BackendsFacade
from service.games.facade import GamesFacade
from service.games.model.views import TableView
from service.learning.queries import Learning
from service.metrics import Metrics
from service.render.geometry import Geometry
from service.web.http.responses import ResponseCache
from service.web.http.streams import Streams
from service.web.rate_limits import RateLimits

EXTENSION: Final = "domino"
"""The key of the services in ``Flask.extensions``."""


class Geometries(Protocol):
    """A cache of the geometries of tables; ``service.web.board`` implements it."""

    def get(self, table: TableView, aspect: int, admit: Callable[[int], None]) -> Geometry:
        """Return the geometry of a table."""

    def forget(self, games: Container[str]) -> None:
        """Drop the geometries of the tables of these games."""


class Services(NamedTuple):
    """The dependencies of the handlers.

    ``learning``: hints and reviews.
    ``backends``: applications, which own games.
    ``views``: a cache of the views that streams send, as many streams may send the same one.
    ``yield_control``: called during long computations to let other requests run.
    ``addresses``: the URLs at which clients can reach the service, as far as it knows.
    """

    games: GamesFacade
    learning: Learning
    backends: BackendsFacade
    limits: RateLimits
    streams: Streams
    responses: ResponseCache
    views: ResponseCache
    geometries: Geometries
    metrics: Metrics
    yield_control: Callable[[], None]
    addresses: tuple[str, ...]

    def forget(self, games: Container[str]) -> None:
        """Drop deleted games from all caches, and end their streams."""
        self.drop_cached(games)
        self.streams.recheck(games)

    def drop_cached(self, games: Container[str]) -> None:
        """Drop games from all caches, so that they are read again."""
        self.games.forget(games)
        for cache in (self.responses, self.views, self.geometries):
            cache.forget(games)


def current_services() -> Services:
    """Return the services of the application that handles the current request."""
    services: Services = current_app.extensions[EXTENSION]
    return services
