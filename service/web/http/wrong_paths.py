"""Answers requests to paths without a route, and those that read where there is nothing to read.

Owns the redirect of a path that ends with a slash, the answer to ``OPTIONS`` there and elsewhere, and the field ``see``
of problems. They depend on the routes alone, never on whether a game exists.
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
"""What one or another path supports."""


def options(error: HTTPException) -> Response | None:
    """204 for ``OPTIONS`` where there is no route; ``None`` for every other request.

    A browser asks before it sends a request to another origin, and takes a redirect or a 404 for a refusal: the page
    would not be told where the path leads, or that it is none. ``Allow`` has the methods of the path without its last
    slash, and those of the service for ``*`` (RFC 9110, 9.3.7).
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
    """308 if the path has no route because it ends with a slash; ``None`` for every other error.

    The address is relative, so that it holds behind every proxy and cannot lead to another host.
    """
    if error.code != 404 or request.url_rule is not None or not _methods_without_slash():
        return None
    location = "../" + quote(request.path.split("/")[-2], safe="")
    if request.query_string:
        location += "?" + quote(request.query_string, safe="!$%&'()*+,/:;=?@")
    return Response(status=308, headers={"Location": location, "Cache-Control": "public, no-cache"})


def _methods_without_slash() -> Iterable[str]:
    """Return the methods of the path without the slash at its end; none if it has no slash, or no such path exists."""
    adapter, path = request_ctx.url_adapter, request.path
    return adapter.allowed_methods(path[:-1]) if adapter is not None and path.endswith("/") else ()


def see(error: HTTPException) -> dict[str, str]:
    """Return the path that may have been meant, as in the document, for the field ``see`` of the problem."""
    in_game = request.path.startswith(_GAMES)
    if error.code == 405 and request.method in ("GET", "HEAD"):
        return {"see": "/v1/games/{game}" if in_game else "/"}
    return {"see": "/"} if error.code == 404 and not in_game else {}
