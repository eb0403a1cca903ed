"""``/docs``: Swagger UI, which loads all its files from this service."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Final

from flask import Blueprint, Response
from flask_swagger_ui import get_swaggerui_blueprint

from service.web.http.responses import compress
from service.web.quotas import limit_reads
from service.web.services import current_services

READS_PER_FILE: Final = 5
"""Reads that a file of Swagger UI counts as in the rate limits: the largest has almost 2 MB."""

_VIEWPORT: Final = '<meta name="viewport" content="width=device-width, initial-scale=1">'
"""The template of Swagger UI has no viewport: phones would show it 980 pixels wide."""

blueprint: Final = Blueprint("docs", __name__)


@blueprint.get("/docs")
def redirect_to_docs() -> Response:
    """Redirect to Swagger UI at ``/docs/``."""
    return Response(status=308, headers={"Location": "docs/", "Cache-Control": "public, no-cache"})


def swagger_ui() -> Blueprint:
    """Return the blueprint of Swagger UI at ``/docs``."""
    ui: Blueprint = get_swaggerui_blueprint(
        "/docs",
        "../openapi.yaml",
        config={
            "app_name": "Domino",
            "deepLinking": True,
            "validatorUrl": None,
            "persistAuthorization": False,  # else the browser would store tokens and keys that are typed there
            "tryItOutEnabled": True,
            "oauth2RedirectUrl": "./oauth2-redirect.html",
        },
    )
    ui.before_request(lambda: limit_reads(current_services().limits, READS_PER_FILE))
    ui.after_request(_finish)
    return ui


def _finish(response: Response) -> Response:
    """Compress a file; add a viewport and a Content-Security-Policy to the page.

    The policy allows the files and styles of the page, and its inline scripts by hash. Absolute URLs of the template
    become relative, so that they work below a prefix.
    """
    if response.mimetype == "text/html":
        response.direct_passthrough = False
        page = response.get_data(as_text=True).replace("<head>", f"<head>\n  {_VIEWPORT}", 1)
        page = page.replace('"/docs/', '"./')
        digests = [sha256(script.encode()).digest() for script in re.findall("<script>(.*?)</script>", page, re.DOTALL)]
        hashes = " ".join([f"'sha256-{b64encode(digest).decode()}'" for digest in digests])
        response.set_data(page)
        response.headers["Cache-Control"] = "public, no-cache"
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; "
            "img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
            f"script-src 'self' {hashes}"
        )
    return compress(response)
