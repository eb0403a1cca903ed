"""What a request to a path without a route is told, or one that reads where there is nothing to read.

Owns the redirect of a path that ends with a slash, the answer to ``OPTIONS *``, and the field ``see`` of problems. They
depend on the routes alone, never on whether a game exists.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from flask import Response, request
from flask.globals import request_ctx
from werkzeug.exceptions import HTTPException

_GAMES: Final = "/v1/games/"
_METHODS: Final = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
"""What one or another path supports."""


def options_of_the_service(error: HTTPException) -> Response | None:
    """204 with the methods of the service for ``OPTIONS *`` (RFC 9110, 9.3.7); ``None`` for every other request."""
    if error.code != 404 or request.method != "OPTIONS" or request.environ["PATH_INFO"] != "*":
        return None
    response = Response(status=204, headers={"Allow": _METHODS})
    del response.headers["Content-Type"]
    return response


def redirect_without_slash(error: HTTPException) -> Response | None:
    """308 if the path has no route because it ends with a slash; ``None`` for every other error.

    The address is relative, so that it holds behind every proxy and cannot lead to another host.
    """
    adapter = request_ctx.url_adapter
    path = request.path
    if error.code != 404 or request.url_rule is not None or not path.endswith("/") or adapter is None:
        return None
    if not adapter.allowed_methods(path[:-1]):
        return None
    location = "../" + quote(path.split("/")[-2], safe="")
    if request.query_string:
        location += "?" + quote(request.query_string, safe="!$%&'()*+,/:;=?@")
    return Response(status=308, headers={"Location": location, "Cache-Control": "public, no-cache"})


def see(error: HTTPException) -> dict[str, str]:
    """Return the path that may have been meant, as in the document, for the field ``see`` of the problem."""
    in_game = request.path.startswith(_GAMES)
    if error.code == 405 and request.method in ("GET", "HEAD"):
        return {"see": "/v1/games/{game}" if in_game else "/"}
    return {"see": "/"} if error.code == 404 and not in_game else {}
