"""What the handlers of one application work with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from flask import Flask, current_app

from service.games.service import GameService
from service.web.metrics import Metrics
from service.web.rate_limits import RateLimits
from service.web.streams import Streams

_EXTENSION: Final = "domino"


class Services(NamedTuple):
    """The games, the limits and the streams of an application, and what it says of itself.

    ``document`` returns the OpenAPI document as YAML. Without ``metrics``, nothing is measured. In long work
    ``yield_control`` lets other requests run.
    """

    games: GameService
    limits: RateLimits
    streams: Streams
    document: Callable[[], str]
    metrics: Metrics | None
    yield_control: Callable[[], None]


def install(app: Flask, services: Services) -> None:
    """Give an application its services."""
    app.extensions[_EXTENSION] = services


def current_services() -> Services:
    """The services of the application that handles the current request."""
    services: Services = current_app.extensions[_EXTENSION]
    return services
