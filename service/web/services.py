"""The dependencies of the handlers of one application.

Owns what a handler is given.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, NamedTuple, Protocol

from flask import Flask, current_app

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
"""Where the services of an application are among its extensions."""


class Geometries(Protocol):
    """The geometries of tables, as ``service.web.board`` keeps them."""

    def get(self, table: TableView, aspect: int, admit: Callable[[int], None]) -> Geometry:
        """Return the geometry of a table."""

    def forget(self, games: Container[str]) -> None:
        """Drop the geometries of the tables of these games."""


class Services(NamedTuple):
    """Games, hints and reviews, owners of games, rate limits, streams, cached responses and geometries, and metrics.

    ``views`` caches the views that streams show, as many streams may show the same one. ``yield_control`` is
    called during long computations to let other requests run.
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
    """The URLs at which others can reach the service, as far as it knows."""

    def forget(self, games: Container[str]) -> None:
        """Drop games that were deleted from all caches, and have their streams end."""
        self.drop_cached(games)
        self.streams.recheck(games)

    def drop_cached(self, games: Container[str]) -> None:
        """Drop games from all caches, so that they are read anew."""
        self.games.forget(games)
        for cache in (self.responses, self.views, self.geometries):
            cache.forget(games)


def install(app: Flask, services: Services) -> None:
    """Attach the services to an application."""
    app.extensions[EXTENSION] = services


def current_services() -> Services:
    """Return the services of the application that handles the current request."""
    services: Services = current_app.extensions[EXTENSION]
    return services


def installed(app: Flask) -> Services:
    """Return the services of an application."""
    services: Services = app.extensions[EXTENSION]
    return services
