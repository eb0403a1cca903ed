"""Flask's dispatch with less work for each request, and Werkzeug's routing without a reference cycle.

Werkzeug 3.1 matches a path by a function that calls itself through its own closure: a reference cycle, and eight
objects left to the garbage collector by every request (docs/adr/smaller-decisions.md). Here the routes whose parts
are static or plain strings are matched by a loop over Werkzeug's own table. Everything else is left to Werkzeug: other
routes, paths without a route, and methods that a route does not have. Owns how a request finds its view.
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
"""Size of the cache of valid ``Host`` headers, which is limited as a client may send any."""
_PLAIN: Final = r"(?P<__werkzeug_0>[^/]{1,})\Z"
"""Werkzeug's pattern of a part that is a variable without a converter."""


class Matcher(StateMachineMatcher):
    """Werkzeug's, but a plain route leaves no reference cycle."""

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
    """A ``ref`` at the end of a path: any characters, also slashes, wherever they are."""

    regex = ".+"
    part_isolating = False


class NoSessions(SessionInterface):
    """Gives every request the same session, which is empty and stays so."""

    _session: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:  # noqa: ARG002 # Flask's signature
        """Return the empty session."""
        return self._session


class LeanRequest(Request):
    """Flask's, but nothing is called at its end, which would look for uploaded files: none is ever parsed."""

    close = None  # type: ignore[assignment]  # Flask calls it if there is one


class LeanFlask(Flask):
    """Flask with ``Matcher`` and ``RefConverter``, and without what this service does not use of each request."""

    request_class = LeanRequest
    session_interface = NoSessions()

    def __init__(self, import_name: str) -> None:
        super().__init__(import_name, static_folder=None)
        self.url_map._matcher = Matcher(self.url_map.merge_slashes)  # noqa: SLF001 # the map has no option for it
        self.url_map.converters["ref"] = RefConverter
        self._hosts: dict[tuple[str, str], str] = {}

    def wsgi_app(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """As Flask's, but a path that begins with two slashes, which Werkzeug would take for one, has no route."""
        path = environ["PATH_INFO"]
        if path.startswith("//"):
            environ["PATH_INFO"] = "/%2F" + path[2:]
        current = ENVIRON.set(environ)
        try:
            return super().wsgi_app(environ, start_response)
        finally:
            ENVIRON.reset(current)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """As Flask's, but valid ``Host`` headers are cached; they are used in redirects only."""
        if request is None:
            return None  # of the context of the application, in which no address is built
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
        """Do nothing: there is nothing to call at the end of a request."""

    def finalize_request(self, rv: Any, from_error_handler: bool = False) -> Any:
        """Make a response of the result of a view or an error handler; a ``RawResponse`` is returned as it is."""
        return rv if isinstance(rv, RawResponse) else super().finalize_request(rv, from_error_handler)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as it is: none is a coroutine. Flask's own asks that of each before each request."""
        return func

    def make_default_options_response(self) -> Response:
        """Return the allowed methods, with status 204; Flask's own response is an empty HTML page."""
        response = super().make_default_options_response()
        response.status_code = 204
        del response.headers["Content-Type"]
        return response
