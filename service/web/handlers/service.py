"""The service itself: its front page and version, liveness, readiness, metrics, and the OpenAPI document."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final

import orjson
import yaml
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
_YAML_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast one, if PyYAML was built with libyaml."""

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
def show_document(services: Services) -> Response:
    """The OpenAPI document."""
    return public(services.document().encode(), YAML)


@blueprint.get("/openapi.json")
@operation(GET_DOCUMENT_AS_JSON)
def show_document_as_json(services: Services) -> Response:
    """The OpenAPI document as JSON."""
    return public(_as_json(services.document()), JSON)


@lru_cache(maxsize=1)
def _as_json(document: str) -> bytes:
    """The document, which is YAML, as JSON."""
    return orjson.dumps(yaml.load(document, _YAML_LOADER))  # noqa: S506 # a safe loader
