"""A request in Flask with less work, and Werkzeug's routing without a reference cycle.

One method handles a request (docs/adr/smaller-decisions.md, 24). Werkzeug 3.1 matches a path with a function that
calls itself through its own closure. This reference cycle leaves eight objects of every request to the garbage
collector (3). Here a loop over Werkzeug's own table matches routes whose parts are static or plain strings. Werkzeug
still handles everything else: other routes, paths without a route, and methods that a route does not have. Owns how a
request finds its view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, Final

from flask import Flask, Request, Response
from flask.ctx import AppContext, RequestContext
from flask.globals import _cv_app, _cv_request
from flask.sessions import NullSession
from werkzeug.routing import BaseConverter, MapAdapter, Rule
from werkzeug.routing.matcher import StateMachineMatcher

from service.web.http.errors import ENVIRON
from service.web.http.responses import RawResponse, allow

_NO_SESSION: Final = NullSession()
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


class LeanFlask(Flask):
    """Flask with ``Matcher`` and ``RefConverter``, and a request without what this service does not use.

    There are no sessions, no coroutines, no functions for the teardown of a request, and what a function before a
    request returns is ignored. All requests share the context of the application, so ``flask.g`` takes nothing.
    """

    app_ctx_globals_class = object  # type: ignore[assignment] # takes no attributes

    def __init__(self, import_name: str) -> None:
        super().__init__(import_name, static_folder=None)
        self.url_map._matcher = Matcher(self.url_map.merge_slashes)  # noqa: SLF001 # the map has no option for it
        self.url_map.converters["ref"] = RefConverter
        self._hosts: dict[tuple[str, str], str] = {}
        self._app_context = AppContext(self)

    def wsgi_app(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Handle a request as a WSGI application. Two leading slashes, which Werkzeug would merge, have no route."""
        path = environ["PATH_INFO"]
        if path.startswith("//"):
            environ["PATH_INFO"] = "/%2F" + path[2:]
        context = RequestContext(self, environ, session=_NO_SESSION)
        request: Any = context.request
        environ_before, app_before = ENVIRON.set(environ), _cv_app.set(self._app_context)
        request_before = _cv_request.set(context)
        try:
            try:
                if context.url_adapter is not None:  # else the Host is invalid
                    context.match_request()
                for name in (None, *request.blueprints):
                    for check in self.before_request_funcs.get(name, ()):
                        check()
                if request.routing_exception is not None:
                    raise request.routing_exception
                if request.method == "OPTIONS":
                    result: Any = allow(context.url_adapter.allowed_methods())  # type: ignore[union-attr] # has matched
                else:
                    result = self.view_functions[request.endpoint](**request.view_args)
                response = result if isinstance(result, RawResponse) else self.finalize_request(result)
            except Exception as error:
                response = self._response_to_error(error)
            return response(environ, start_response)
        finally:
            environ["werkzeug.request"] = None  # which refers to the environment
            _cv_request.reset(request_before)
            _cv_app.reset(app_before)
            ENVIRON.reset(environ_before)

    def _response_to_error(self, error: Exception) -> Response:
        try:
            return self.finalize_request(self.handle_user_exception(error))
        except Exception as failure:  # of the handler of the error
            return self.handle_exception(failure)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Create the adapter as Flask does, but cache valid ``Host`` headers, which are used in redirects only."""
        if request is None or "HTTP_HOST" not in request.environ or "HTTP_UPGRADE" in request.environ:
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
