"""What the service says of itself: alive, able to serve, what it counts, the contract and its reader."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256

from flask import Blueprint, Response
from flask_swagger_ui import get_swaggerui_blueprint

from service.games.commands import GameService
from service.web.metrics import TEXT, Metrics
from service.web.openapi.operations import VIEW_HEADERS, Operation, ResponseSpec, operation
from service.web.responses import RawResponse, ok, public
from service.web.schemas.game import Health

_YAML = "application/yaml"


def blueprint(games: GameService, document: Callable[[], str], metrics: Metrics | None) -> Blueprint:
    """The routes of the service itself; ``document`` gives the text of the contract."""
    routes = Blueprint("service", __name__)

    @routes.get("/healthz")
    @operation(
        Operation(
            id="getHealth",
            tag="service",
            summary="Alive",
            description="Answers as long as the process serves, whatever the store does.",
            responses={200: ResponseSpec(description="Alive.", schema=Health, headers=("Cache-Control",))},
        )
    )
    def healthz() -> RawResponse:
        return ok({"status": "ok"})

    @routes.get("/readyz")
    @operation(
        Operation(
            id="getReadiness",
            tag="service",
            summary="Able to serve",
            description="Answers 200 only when a game could be read now, else 503.",
            responses={200: ResponseSpec(description="Ready.", schema=Health, headers=("Cache-Control",))},
            problems=("storage_unavailable",),
        )
    )
    def readyz() -> RawResponse:
        games.ping()
        return ok({"status": "ok"})

    @routes.get("/metrics")
    @operation(
        Operation(
            id="getMetrics",
            tag="service",
            summary="What is counted",
            description="Requests, moves, games, open streams and the latency of Redis, of all workers of this "
            "machine, as Prometheus reads them.",
            responses={
                200: ResponseSpec(description="The metrics.", media_type="text/plain", headers=("Cache-Control",))
            },
        )
    )
    def show_metrics() -> Response:
        text = b"" if metrics is None else metrics.text()
        return Response(text, headers={"Content-Type": TEXT, "Cache-Control": "no-store"})

    @routes.get("/openapi.yaml")
    @operation(
        Operation(
            id="getContract",
            tag="service",
            summary="The contract",
            description="This document.",
            headers=("If-None-Match",),
            responses={200: ResponseSpec(description="OpenAPI, as YAML.", media_type=_YAML, headers=VIEW_HEADERS)},
        )
    )
    def contract() -> Response:
        return public(document().encode(), _YAML)

    @routes.get("/docs")
    def docs() -> Response:
        return Response(status=308, headers={"Location": "docs/", "Cache-Control": "public, no-cache"})

    return routes


def swagger_ui() -> Blueprint:
    """The reader of the contract at ``/docs``; everything it needs comes from this service."""
    made: Blueprint = get_swaggerui_blueprint(
        "/docs",
        "/openapi.yaml",
        config={
            "app_name": "Domino",
            "deepLinking": True,
            "validatorUrl": None,
            "oauth2RedirectUrl": "/docs/oauth2-redirect.html",
        },
    )
    made.after_request(_let_the_page_work)
    return made


def _let_the_page_work(response: Response) -> Response:
    """Allow a page of the reader its files, the styles that it makes up, and the scripts that are in it, by hash."""
    if response.mimetype == "text/html":
        response.direct_passthrough = False
        scripts = re.findall(rb"<script>(.*?)</script>", response.get_data(), re.DOTALL)
        hashes = [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts]
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; "
            f"img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' {' '.join(hashes)}"
        )
    return response
