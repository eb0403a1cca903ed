"""Responses to requests for paths without a route, and to GET requests for paths without GET.

Owns the redirect of a path with a trailing slash, the response to ``OPTIONS`` for an unknown path, and the field
``see`` of problems. They depend on the routes alone, never on whether a game exists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from flask import Response, request
from flask.globals import request_ctx
from werkzeug.exceptions import HTTPException

_GAMES: Final = "/v1/games/"
_METHODS: Final = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
"""All methods that any path supports."""


def options(error: HTTPException) -> Response | None:
    """Return a 204 response to ``OPTIONS`` for a path without a route; ``None`` for every other request.

    Browsers treat a redirect or a 404 of a preflight request as a refusal: the page could not see the redirect or the
    404 of the request itself. ``Allow`` has the methods of the path without its trailing slash, and those of the
    service for ``*`` (RFC 9110, 9.3.7).
    """
    if error.code != 404 or request.method != "OPTIONS":
        return None
    allowed = _METHODS
    if request.environ["PATH_INFO"] != "*":
        allowed = ", ".join(sorted({"OPTIONS", *_methods_without_slash()}))
    response = Response(status=204, headers={"Allow": allowed})
    del response.headers["Content-Type"]
    return response


def redirect_without_slash(error: HTTPException) -> Response | None:
    """Return a 308 response if the path has no route because of a trailing slash; ``None`` for every other error.

    The location is relative, so that it works behind any proxy and cannot lead to another host.
    """
    if error.code != 404 or request.url_rule is not None or not _methods_without_slash():
        return None
    location = "../" + quote(request.path.split("/")[-2], safe="")
    if request.query_string:
        location += "?" + quote(request.query_string, safe="!$%&'()*+,/:;=?@")
    return Response(status=308, headers={"Location": location, "Cache-Control": "public, no-cache"})


def _methods_without_slash() -> Iterable[str]:
    """Return the methods of the path without its trailing slash; none if it has no slash, or no such path exists."""
    adapter, path = request_ctx.url_adapter, request.path
    return adapter.allowed_methods(path[:-1]) if adapter is not None and path.endswith("/") else ()


def see(error: HTTPException) -> dict[str, str]:
    """Return the field ``see`` of a problem: the path of the OpenAPI document that the client may have meant."""
    in_game = request.path.startswith(_GAMES)
    if error.code == 405 and request.method in ("GET", "HEAD"):
        return {"see": "/v1/games/{game}" if in_game else "/"}
    return {"see": "/"} if error.code == 404 and not in_game else {}
