"""The service itself: liveness, readiness, metrics, the OpenAPI document and Swagger UI."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Final

from flask import Blueprint, Response, request
from flask_swagger_ui import get_swaggerui_blueprint

from service.web.access import operation
from service.web.metrics import PROMETHEUS_TEXT
from service.web.openapi.service_operations import GET_DOCUMENT, GET_HEALTH, GET_READINESS
from service.web.responses import YAML, RawResponse, ok, public
from service.web.services import Services, current_services

READS_PER_FILE: Final = 5
"""What a file of Swagger UI counts in the rate limit of reads: the largest has almost 2 MB."""

blueprint: Final = Blueprint("service", __name__)
metrics_blueprint: Final = Blueprint("metrics", __name__)
"""What is served on ``METRICS_PORT``."""


@metrics_blueprint.get("/healthz")
@blueprint.get("/healthz")
@operation(GET_HEALTH)
def healthz(_services: Services) -> RawResponse:
    """Liveness: the process answers requests."""
    return ok({"status": "ok"})


@metrics_blueprint.get("/readyz")
@blueprint.get("/readyz")
@operation(GET_READINESS)
def readyz(services: Services) -> RawResponse:
    """Readiness: games can be written."""
    services.games.readiness.require()
    return ok({"status": "ok"})


@metrics_blueprint.get("/metrics")
def show_metrics() -> Response:
    """The metrics of all workers on this machine."""
    metrics = current_services().metrics
    text = b"" if metrics is None else metrics.text()
    return Response(text, headers={"Content-Type": PROMETHEUS_TEXT, "Cache-Control": "no-store"})


@blueprint.get("/openapi.yaml")
@operation(GET_DOCUMENT)
def show_document(services: Services) -> Response:
    """The OpenAPI document."""
    return public(services.document().encode(), YAML)


@blueprint.get("/docs")
def redirect_to_docs() -> Response:
    """Redirect to Swagger UI at ``/docs/``."""
    return Response(status=308, headers={"Location": "docs/", "Cache-Control": "public, no-cache"})


def swagger_ui() -> Blueprint:
    """Swagger UI at ``/docs``, which loads all its files from this service."""
    ui: Blueprint = get_swaggerui_blueprint(
        "/docs",
        "/openapi.yaml",
        config={
            "app_name": "Domino",
            "deepLinking": True,
            "validatorUrl": None,
            "oauth2RedirectUrl": "/docs/oauth2-redirect.html",
        },
    )
    ui.before_request(_limit_files)
    ui.after_request(_set_content_security_policy)
    return ui


def _limit_files() -> None:
    """Count the files of Swagger UI, which are large, as reads by the address of the client. Raises ``RateLimited``."""
    limits = current_services().limits
    limits.limit_read(request.environ.get("REMOTE_ADDR", ""), READS_PER_FILE)


def _set_content_security_policy(response: Response) -> Response:
    """Allow a page of Swagger UI its files, its inline styles, and its inline scripts by hash."""
    if response.mimetype == "text/html":
        response.direct_passthrough = False
        scripts = re.findall(rb"<script>(.*?)</script>", response.get_data(), re.DOTALL)
        hashes = [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts]
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; "
            f"img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' {' '.join(hashes)}"
        )
    return response
