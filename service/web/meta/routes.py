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

from service.engine.build import BUILD
from service.web.http.headers import negotiate
from service.web.http.responses import HTML, JSON, YAML, RawResponse, ok, public
from service.web.meta.schemas import HealthSchema, ServiceIndexSchema, ServiceVersionSchema
from service.web.metrics import PROMETHEUS_TEXT
from service.web.operation import Operation, ResponseSpec
from service.web.page.routes import page
from service.web.services import Services, current_services

_VERSION: Final = {"name": "Domino", "version": version("domino-service"), "engine": BUILD}
_INDEX: Final = {
    **_VERSION,
    "contract": "/openapi.yaml",
    "docs": "/docs",
    "variants": "/v1/variants",
    "games": "/v1/games",
    "problems": "/problems",
}

blueprint: Final = Blueprint("service", __name__)
metrics_blueprint: Final = Blueprint("metrics", __name__)
"""What is served on ``METRICS_PORT``."""


@blueprint.get("/")
@Operation(
    id="getIndex",
    tag="service",
    headers=("If-None-Match",),
    ignores_query=True,
    responses={
        200: ResponseSpec(
            description="The name and version of the service, and its addresses.",
            schema=ServiceIndexSchema,
            streams={HTML: "A page that says the same to people."},
        )
    },
)
def show_index(services: Services) -> Response:
    """Get the addresses of the service.

    Where everything is. A browser gets a page for people instead.
    """
    if negotiate(JSON, HTML) == JSON:
        return public(orjson.dumps({**_INDEX, "addresses": services.addresses}), JSON)
    return page()


@blueprint.get("/version")
@Operation(
    id="getVersion",
    tag="service",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The version.", schema=ServiceVersionSchema)},
)
def show_version(_services: Services) -> Response:
    """Get the version of the service.

    The version of the running service. The paths begin with the version of the contract, `/v1`, which only grows.
    """
    negotiate(JSON)
    return public(orjson.dumps(_VERSION), JSON)


@metrics_blueprint.get("/healthz")
@blueprint.get("/healthz")
@Operation(
    id="getHealth",
    tag="service",
    fixed_type=True,
    responses={200: ResponseSpec(description="Alive.", schema=HealthSchema)},
)
def healthz(_services: Services) -> RawResponse:
    """Check liveness.

    Answers 200 as long as the process serves, whatever the state of the store.
    """
    return ok({"status": "ok"})


@metrics_blueprint.get("/readyz")
@blueprint.get("/readyz")
@Operation(
    id="getReadiness",
    tag="service",
    fixed_type=True,
    responses={200: ResponseSpec(description="Ready.", schema=HealthSchema)},
    own_problems=("storage_unavailable",),
)
def readyz(services: Services) -> RawResponse:
    """Check readiness.

    Answers 200 if games can be read and written, else 503. The store is asked at most once a second.
    """
    services.games.readiness.require()
    return ok({"status": "ok"})


@metrics_blueprint.get("/metrics")
def show_metrics() -> Response:
    """Return the metrics of all workers on this machine."""
    text = current_services().metrics.text()
    return Response(text, headers={"Content-Type": PROMETHEUS_TEXT, "Cache-Control": "no-store"})


@blueprint.get("/openapi.yaml")
@Operation(
    id="getContract",
    tag="service",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="OpenAPI, as YAML.", media_type=YAML)},
)
def show_document(_services: Services) -> Response:
    """Get the OpenAPI document.

    This document.
    """
    return public(_document("openapi.yaml"), YAML)


@blueprint.get("/openapi.json")
@Operation(
    id="getContractAsJson",
    tag="service",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="OpenAPI, as JSON.", media_type=JSON)},
)
def show_document_as_json(_services: Services) -> Response:
    """Get the OpenAPI document as JSON.

    The same as `/openapi.yaml`, for tools that read JSON only.
    """
    return public(_document("openapi.json"), JSON)


@cache
def _document(name: str) -> bytes:
    """Return a file of the document, read when it is first requested."""
    return (files("service.web.openapi") / name).read_bytes()
