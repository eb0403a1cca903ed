"""The Flask application: routes, error handlers, CORS. It has no state of games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from werkzeug.middleware.proxy_fix import ProxyFix

from service.backends.facade import BackendsFacade
from service.games.facade import GamesFacade
from service.learning.queries import Learning
from service.metrics import Metrics
from service.web.backends import routes as backends_routes
from service.web.board import routes as board_routes
from service.web.board.serializers import GeometryCache
from service.web.docs import routes as docs_routes
from service.web.events import routes as events_routes
from service.web.feed import routes as feed_routes
from service.web.games import routes as games_routes
from service.web.games import seat_routes, waiting_routes
from service.web.http.dispatch import LeanFlask
from service.web.http.headers import check_headers
from service.web.http.middleware import MetricsPort, RequestMiddleware, install_cors
from service.web.http.responses import ResponseCache
from service.web.http.streams import Streams
from service.web.learning import routes as learning_routes
from service.web.listing import routes as listing_routes
from service.web.meta import routes as meta_routes
from service.web.page import routes as page_routes
from service.web.players import routes as players_routes
from service.web.problems import answers
from service.web.problems import routes as problems_routes
from service.web.rate_limits import RateLimits
from service.web.records import routes as records_routes
from service.web.services import EXTENSION, Services
from service.web.variants import routes as variants_routes
from service.web.webhooks import routes as webhooks_routes

_BLUEPRINTS: Final = (
    variants_routes.blueprint,
    games_routes.blueprint,
    seat_routes.blueprint,
    waiting_routes.blueprint,
    listing_routes.blueprint,
    players_routes.blueprint,
    board_routes.blueprint,
    events_routes.blueprint,
    feed_routes.blueprint,
    records_routes.blueprint,
    learning_routes.blueprint,
    backends_routes.blueprint,
    webhooks_routes.blueprint,
    problems_routes.blueprint,
    meta_routes.blueprint,
    docs_routes.blueprint,
    page_routes.blueprint,
)

MAX_VIEW_CACHE_BYTES: Final = 1024 * 1024
"""Size of the cache of views that streams send: a few hundred views, each needed only for a moment."""


class Application(LeanFlask):
    """The Flask application of one worker."""

    def __init__(self, services: Services) -> None:
        super().__init__("service.web")
        self.url_map.merge_slashes = False
        self.services = services
        self.extensions[EXTENSION] = services

    def seconds(self) -> float:
        """Return the time that deadlines are compared with, in seconds since 1970; the server sends it as ``Date``."""
        return self.services.games.clock() / 1000

    def drain(self) -> None:
        """End all streams before the worker stops."""
        self.services.streams.drain()


def create_app(
    games: GamesFacade,
    learning: Learning,
    backends: BackendsFacade,
    limits: RateLimits,
    *,
    streams: Streams,
    metrics: Metrics,
    yield_control: Callable[[], None],
    proxies: int = 0,
    metrics_port: int = 0,
    addresses: tuple[str, ...] = (),
) -> Application:
    """Return the application of a worker.

    ``yield_control``, ``addresses``: as in ``Services``.
    ``proxies``: the number of reverse proxies that are trusted to report the address of the client.
    ``metrics_port``: connections to this port are served by ``create_metrics_app``; 0 for none.
    """
    caches = ResponseCache(), ResponseCache(MAX_VIEW_CACHE_BYTES), GeometryCache(yield_control)
    services = Services(games, learning, backends, limits, streams, *caches, metrics, yield_control, addresses)
    app = Application(services)
    answers.install(app)
    app.before_request(check_headers)
    plain_headers = install_cors(app)
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.register_blueprint(docs_routes.swagger_ui())
    if proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=0, x_host=0)  # type: ignore[method-assign]
    app.wsgi_app = RequestMiddleware(app.wsgi_app, metrics, plain_headers)  # type: ignore[method-assign] # Flask's own advice
    if metrics_port:
        metrics_app = create_metrics_app(services)
        app.wsgi_app = MetricsPort(app.wsgi_app, metrics_app.wsgi_app, metrics_port)  # type: ignore[method-assign]
    return app


def create_metrics_app(services: Services) -> Application:
    """Return the application for the metrics port, which serves metrics, liveness and readiness."""
    app = Application(services)
    answers.install(app)
    app.register_blueprint(meta_routes.metrics_blueprint)
    app.wsgi_app = RequestMiddleware(app.wsgi_app, services.metrics, ())  # type: ignore[method-assign]
    return app
