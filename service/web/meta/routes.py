"""The service itself: front page, version, liveness, readiness, metrics, the OpenAPI document, ``llms.txt``.

Only ``/version`` is an operation of the document: generated clients need no other one. ``tools.openapi`` writes the
document and ``llms.txt`` as files of the package.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final

import orjson
from flask import Blueprint, Response, request
from marshmallow import Schema

from service.engine.build import BUILD
from service.metrics import PROMETHEUS_TEXT
from service.web.fields.shown import required
from service.web.http.headers import negotiate
from service.web.http.responses import HTML, JSON, TEXT, YAML, RawResponse, ok, public
from service.web.operation import Operation, ResponseSpec
from service.web.page.routes import page
from service.web.quotas import limit_reads
from service.web.services import Services, current_services


class ServiceVersionSchema(Schema):
    """The version of the service."""

    name = required(str, "The name of the service.", example="Domino")
    version = required(str, "The version of the service.", example=version("domino-service"))
    engine = required(
        str,
        "Which build of the engine runs: `pure`, the Python sources, or `compiled`, machine code made of the same "
        "sources. Both play alike; the compiled one is faster.",
        example="pure",
    )
    api_level = required(
        int,
        "The level of the features of this server: it rises by one with every addition to `/v1`, and never falls "
        "in a newer version. The table in the changelog lists the additions of each level.",
        minimum=1,
        example=1,
    )


_VERSION: Final = {
    "name": "Domino",
    "version": version("domino-service"),
    "engine": BUILD,
    "api_level": 1,  # as in the table in CHANGELOG.md, which lists the additions of each level
}
_INDEX: Final = {
    **_VERSION,
    "contract": "openapi.yaml",
    "docs": "docs",
    "variants": "v1/variants",
    "games": "v1/games",
    "problems": "problems",
}
"""Its links are relative, so that they work below any prefix."""

blueprint: Final = Blueprint("service", __name__)
metrics_blueprint: Final = Blueprint("metrics", __name__)
"""The routes on ``METRICS_PORT``."""


@blueprint.get("/")
def show_index() -> Response:
    """Return links to the parts of the service; a browser gets the page on which people play."""
    if negotiate(JSON, HTML) == JSON:
        return public(orjson.dumps({**_INDEX, "addresses": current_services().addresses}), JSON)
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

    The version of the running service. The paths begin with the version of the contract, `/v1`, to which features are
    only added; `api_level` counts the additions.
    """
    negotiate(JSON)
    return public(orjson.dumps(_VERSION), JSON)


@metrics_blueprint.get("/healthz")
@blueprint.get("/healthz")
def healthz() -> RawResponse:
    """Return 200 as long as the process serves requests, whatever the state of the store."""
    return ok({"status": "ok"})


@metrics_blueprint.get("/readyz")
@blueprint.get("/readyz")
def readyz() -> RawResponse:
    """Return 200 if games can be read and written, else 503. The store is checked at most once a second."""
    current_services().games.check_store()
    return ok({"status": "ok"})


@metrics_blueprint.get("/metrics")
def show_metrics() -> Response:
    """Return the metrics of all workers on this machine."""
    text = current_services().metrics.text()
    return Response(text, headers={"Content-Type": PROMETHEUS_TEXT, "Cache-Control": "no-store"})


@blueprint.get("/openapi.yaml")
@blueprint.get("/openapi.json")
def show_document() -> Response:
    """Return the OpenAPI document, also as JSON, for tools that read JSON only."""
    name = request.path.removeprefix("/")
    return public(_file("service.web.openapi", name), JSON if name.endswith(".json") else YAML)


@blueprint.get("/llms.txt")
def show_text_for_assistants() -> Response:
    """Return ``llms.txt``: the five requests that play a game, and a line for each operation."""
    limit_reads(current_services().limits, 1)
    return public(_file("service.web.openapi", "llms.txt"), TEXT)


@blueprint.get("/robots.txt")
def show_robots() -> Response:
    """Return ``robots.txt``: search engines may fetch the pages and the documentation, but no games."""
    limit_reads(current_services().limits, 1)
    return public(_file("service.web.meta", "robots.txt"), TEXT)


@cache
def _file(package: str, name: str) -> bytes:
    """Return a file of a package, read at the first request."""
    return (files(package) / name).read_bytes()
