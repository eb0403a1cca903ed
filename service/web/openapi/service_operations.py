"""The operations of the service itself: variants, health, metrics, and the OpenAPI document."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import VIEW_HEADERS, Operation, ResponseSpec
from service.web.responses import YAML
from service.web.schemas.game import Health
from service.web.schemas.variants import Variant, Variants

_VARIANT_HEADERS: Final = (*VIEW_HEADERS, "Content-Language")

LIST_VARIANTS: Final = Operation(
    id="listVariants",
    tag="variants",
    summary="The games on offer",
    description="Every game that can be created, with its name and a sentence about it.",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The games.", schema=Variants, headers=_VARIANT_HEADERS)},
    problems=("not_acceptable",),
)

GET_VARIANT: Final = Operation(
    id="getVariant",
    tag="variants",
    summary="One game in full",
    description="Its options as a JSON Schema, the deal table, the scoring, and the rules to play from.",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The game.", schema=Variant, headers=_VARIANT_HEADERS)},
    problems=("not_found", "not_acceptable"),
)

GET_HEALTH: Final = Operation(
    id="getHealth",
    tag="service",
    summary="Alive",
    description="Answers as long as the process serves, whatever the store does.",
    responses={200: ResponseSpec(description="Alive.", schema=Health, headers=("Cache-Control",))},
)

GET_READINESS: Final = Operation(
    id="getReadiness",
    tag="service",
    summary="Able to serve",
    description="Answers 200 only when a game could be read now, else 503.",
    responses={200: ResponseSpec(description="Ready.", schema=Health, headers=("Cache-Control",))},
    problems=("storage_unavailable",),
)

GET_METRICS: Final = Operation(
    id="getMetrics",
    tag="service",
    summary="What is counted",
    description="Requests, moves, games, open streams and the latency of Redis, of all workers of this "
    "machine, as Prometheus reads them.",
    responses={200: ResponseSpec(description="The metrics.", media_type="text/plain", headers=("Cache-Control",))},
)

GET_DOCUMENT: Final = Operation(
    id="getContract",
    tag="service",
    summary="The contract",
    description="This document.",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="OpenAPI, as YAML.", media_type=YAML, headers=VIEW_HEADERS)},
)
