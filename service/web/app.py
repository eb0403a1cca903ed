"""The Flask application: routes, errors, CORS, and nothing it would have to remember.

Must not know which store keeps the games.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Flask, Response
from werkzeug.middleware.proxy_fix import ProxyFix

from service.games.hosting import Games
from service.web import (
    cors,
    event_routes,
    fairness_routes,
    game_routes,
    problems,
    record_routes,
    service_routes,
    variant_routes,
)
from service.web.limiting import Limits
from service.web.metrics import Metrics
from service.web.routing import Routes
from service.web.streams import Streams
from service.web.watching import Watching

MOST_STREAMS: Final = 4000
"""Streams that a worker holds at a time, where nothing else is said."""


class Application(Flask):
    """The application of one worker."""

    url_map_class = Routes

    def __init__(self, streams: Streams) -> None:
        super().__init__("service.web", static_folder=None)
        self._streams = streams

    def drain(self) -> None:
        """The worker is about to stop: let the streams end."""
        self._streams.drain()

    def make_default_options_response(self) -> Response:
        """The methods of an address, and no body: without this it would be an empty page of HTML."""
        response = super().make_default_options_response()
        response.status_code = 204
        del response.headers["Content-Type"]
        return response


def create_app(
    games: Games,
    document: Callable[[], str],
    streams: Streams | None = None,
    *,
    metrics: Metrics | None = None,
    limits: Limits | None = None,
    proxies: int = 0,
    breathe: Callable[[], None] = lambda: None,
) -> Application:
    """The application over these games; ``document`` gives the text of the contract.

    Without ``metrics`` nothing is counted and no request is logged, without ``limits`` anybody may ask as often as
    they like. So many ``proxies`` in front are trusted to say who asks. In long work ``breathe`` lets others run.
    """
    streams = streams or Streams(MOST_STREAMS)
    limits = limits or Limits()
    app = Application(streams)
    app.url_map.merge_slashes = False
    problems.install(app, limits)
    plain_headers = cors.install(app)
    app.register_blueprint(variant_routes.blueprint())
    app.register_blueprint(game_routes.blueprint(games, metrics, limits))
    app.register_blueprint(event_routes.blueprint(games, streams, limits))
    app.register_blueprint(fairness_routes.blueprint(games, limits))
    app.register_blueprint(record_routes.blueprint(games, limits, breathe))
    app.register_blueprint(service_routes.blueprint(games, document, metrics))
    app.register_blueprint(service_routes.reader())
    if proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=0, x_host=0)  # type: ignore[method-assign]
    app.wsgi_app = Watching(app.wsgi_app, metrics, plain_headers)  # type: ignore[method-assign] # Flask's own advice
    return app
