"""Flask's dispatch with less work for each request, and Werkzeug's routing without a reference cycle.

Werkzeug 3.1 matches a path with a function that calls itself through its own closure. This reference cycle leaves eight
objects of every request to the garbage collector (docs/adr/smaller-decisions.md). Here a loop over Werkzeug's own table
matches routes whose parts are static or plain strings. Werkzeug still handles everything else: other routes, paths
without a route, and methods that a route does not have. Owns how a request finds its view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, Final

from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface
from werkzeug.routing import BaseConverter, MapAdapter, Rule
from werkzeug.routing.matcher import StateMachineMatcher

from service.web.http.errors import ENVIRON
from service.web.http.responses import RawResponse

MAX_HOSTS: Final = 100
"""Maximum size of the cache of valid ``Host`` headers: clients can send any."""
_PLAIN: Final = r"(?P<__werkzeug_0>[^/]{1,})\Z"
"""Werkzeug's pattern for a part of a path that is a variable without a converter."""


class Matcher(StateMachineMatcher):
    """Werkzeug's matcher, without a reference cycle for plain routes."""

    def match(self, domain: str, path: str, method: str, websocket: bool) -> tuple[Rule, MutableMapping[str, Any]]:
        """Return the route and its variables. Raises as Werkzeug's."""
        state = self._root
        values = []
        for part in (domain, *path.split("/")):
            next_state = state.static.get(part)
            if next_state is None:
                if not part or len(state.dynamic) != 1 or state.dynamic[0][0].content != _PLAIN:
                    break
                next_state = state.dynamic[0][1]
                values.append(part)
            state = next_state
        else:
            for rule in state.rules:
                if method in (rule.methods or ()) and not (websocket or rule.defaults or rule.alias):
                    return rule, dict(zip(rule._converters, values, strict=True))  # noqa: SLF001 # rule.arguments is unordered
        return super().match(domain, path, method, websocket)


class RefConverter(BaseConverter):
    """A ``ref`` at the end of a path: any characters, including slashes at any position."""

    regex = ".+"
    part_isolating = False


class NoSessions(SessionInterface):
    """Gives every request the same empty session, which cannot be changed."""

    _session: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:  # noqa: ARG002 # Flask's signature
        """Return the empty session."""
        return self._session


class LeanRequest(Request):
    """Flask's request without ``close``, which would look for uploaded files: this service parses none."""

    close = None  # type: ignore[assignment]  # Flask calls it unless it is None


class LeanFlask(Flask):
    """Flask with ``Matcher`` and ``RefConverter``, without the steps of a request that this service does not need."""

    request_class = LeanRequest
    session_interface = NoSessions()

    def __init__(self, import_name: str) -> None:
        super().__init__(import_name, static_folder=None)
        self.url_map._matcher = Matcher(self.url_map.merge_slashes)  # noqa: SLF001 # the map has no option for it
        self.url_map.converters["ref"] = RefConverter
        self._hosts: dict[tuple[str, str], str] = {}

    def wsgi_app(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Handle a request as Flask does, but with no route for two leading slashes, which Werkzeug would merge."""
        path = environ["PATH_INFO"]
        if path.startswith("//"):
            environ["PATH_INFO"] = "/%2F" + path[2:]
        current = ENVIRON.set(environ)
        try:
            return super().wsgi_app(environ, start_response)
        finally:
            ENVIRON.reset(current)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Create the adapter as Flask does, but cache valid ``Host`` headers, which are used in redirects only."""
        if request is None:
            return None  # in an application context, where no URL is built
        if "HTTP_HOST" not in request.environ or "HTTP_UPGRADE" in request.environ:
            return super().create_url_adapter(request)
        key = request.scheme, request.environ["HTTP_HOST"]
        host = self._hosts.get(key)
        if host is not None:
            query = request.query_string.decode("latin1")
            location = (host, request.root_path, "", request.scheme, request.path)
            return MapAdapter(self.url_map, *location, request.method, query)
        adapter = super().create_url_adapter(request)
        if adapter is not None and len(self._hosts) < MAX_HOSTS:
            self._hosts[key] = adapter.server_name
        return adapter

    def do_teardown_request(self, exc: BaseException | None = None) -> None:
        """Do nothing: no functions are registered for the end of a request."""

    def finalize_request(self, rv: Any, from_error_handler: bool = False) -> Any:
        """Turn the result of a view or an error handler into a response; return a ``RawResponse`` unchanged."""
        return rv if isinstance(rv, RawResponse) else super().finalize_request(rv, from_error_handler)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged. Flask would check on every request whether it is a coroutine; none is."""
        return func

    def make_default_options_response(self) -> Response:
        """Return the allowed methods, with status 204; Flask's own response is an empty HTML page."""
        response = super().make_default_options_response()
        response.status_code = 204
        del response.headers["Content-Type"]
        return response
