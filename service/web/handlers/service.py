"""The service itself: its front page and version, liveness, readiness, metrics, and the OpenAPI document.

The document is two files of the package, which are written by ``tools.openapi``.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final

import orjson
from flask import Blueprint, Response

from service.web.access import operation
from service.web.handlers.client import page
from service.web.metrics import PROMETHEUS_TEXT
from service.web.openapi.service_operations import (
    GET_DOCUMENT,
    GET_DOCUMENT_AS_JSON,
    GET_HEALTH,
    GET_INDEX,
    GET_READINESS,
    GET_VERSION,
)
from service.web.request_parsing import negotiate
from service.web.responses import HTML, JSON, YAML, RawResponse, ok, public
from service.web.services import Services, current_services

_VERSION: Final = {"name": "Domino", "version": version("domino-service")}
_INDEX: Final = orjson.dumps(
    {
        **_VERSION,
        "contract": "/openapi.yaml",
        "docs": "/docs",
        "variants": "/v1/variants",
        "games": "/v1/games",
        "problems": "/problems",
    }
)

blueprint: Final = Blueprint("service", __name__)
metrics_blueprint: Final = Blueprint("metrics", __name__)
"""What is served on ``METRICS_PORT``."""


@blueprint.get("/")
@operation(GET_INDEX)
def show_index(_services: Services) -> Response:
    """The service and its addresses: a page for a browser, JSON for a program."""
    if negotiate(JSON, HTML) == JSON:
        return public(_INDEX, JSON)
    return page()


@blueprint.get("/version")
@operation(GET_VERSION)
def show_version(_services: Services) -> Response:
    """The version of the service."""
    negotiate(JSON)
    return public(orjson.dumps(_VERSION), JSON)


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
def show_document(_services: Services) -> Response:
    """The OpenAPI document."""
    return public(_document("openapi.yaml"), YAML)


@blueprint.get("/openapi.json")
@operation(GET_DOCUMENT_AS_JSON)
def show_document_as_json(_services: Services) -> Response:
    """The OpenAPI document as JSON."""
    return public(_document("openapi.json"), JSON)


@cache
def _document(name: str) -> bytes:
    """A file of the document, read when it is first requested."""
    return (files("service.web.openapi") / name).read_bytes()
