"""The operations of the service itself: variants, problems, health, and the OpenAPI document."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import VIEW_HEADERS, Operation, ResponseSpec
from service.web.responses import HTML, JAVASCRIPT, JSON, YAML
from service.web.schemas.problems import ProblemListSchema
from service.web.schemas.service import HealthSchema, ServiceIndexSchema, ServiceVersionSchema
from service.web.schemas.variants import VariantListSchema, VariantSchema

_VARIANT_HEADERS: Final = (*VIEW_HEADERS, "Content-Language")

LIST_VARIANTS: Final = Operation(
    id="listVariants",
    tag="variants",
    summary="List the variants",
    description="All variants that can be played, each with its name and a description in one sentence, and the "
    "levels of computer players.",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The variants.", schema=VariantListSchema, headers=_VARIANT_HEADERS)},
    problems=("not_acceptable",),
)

GET_VARIANT: Final = Operation(
    id="getVariant",
    tag="variants",
    summary="Get a variant",
    description="Its options as a JSON Schema, the deal table, the scoring, the rules, and how strong the computer "
    "players are.",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The variant.", schema=VariantSchema, headers=_VARIANT_HEADERS)},
    problems=("not_found", "not_acceptable"),
)

GET_PROBLEMS: Final = Operation(
    id="listProblems",
    tag="service",
    summary="List the problems",
    description="Every `code` of an error, with its status, and every `reason` with its sentence. The `type` of a "
    "problem leads to its place in the page that a browser gets.",
    headers=("Accept-Language", "If-None-Match"),
    responses={
        200: ResponseSpec(
            description="The problems.",
            schema=ProblemListSchema,
            headers=_VARIANT_HEADERS,
            streams={HTML: "A page with an anchor for each code and each reason."},
        )
    },
    problems=("not_acceptable",),
)

GET_HEALTH: Final = Operation(
    id="getHealth",
    tag="service",
    summary="Check liveness",
    description="Answers 200 as long as the process serves, whatever the state of the store.",
    responses={200: ResponseSpec(description="Alive.", schema=HealthSchema, headers=("Cache-Control", "Vary"))},
)

GET_READINESS: Final = Operation(
    id="getReadiness",
    tag="service",
    summary="Check readiness",
    description="Answers 200 if games can be read and written, else 503. The store is asked at most once a second.",
    responses={200: ResponseSpec(description="Ready.", schema=HealthSchema, headers=("Cache-Control", "Vary"))},
    problems=("storage_unavailable",),
)

GET_EVENT_READER: Final = Operation(
    id="getEventReader",
    tag="service",
    summary="Get the reader of events for browsers",
    description="A module of JavaScript without dependencies, to be imported by a page. `follow(game, {token, after, "
    "view, signal})` yields the events of a game as an asynchronous iterator, resumes a lost connection, and polls "
    "where no stream comes through.",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The module.", schema=None, media_type=JAVASCRIPT, headers=VIEW_HEADERS)},
)

GET_DOCUMENT: Final = Operation(
    id="getContract",
    tag="service",
    summary="Get the OpenAPI document",
    description="This document.",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="OpenAPI, as YAML.", media_type=YAML, headers=VIEW_HEADERS)},
)

GET_DOCUMENT_AS_JSON: Final = Operation(
    id="getContractAsJson",
    tag="service",
    summary="Get the OpenAPI document as JSON",
    description="The same as `/openapi.yaml`, for tools that read JSON only.",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="OpenAPI, as JSON.", media_type=JSON, headers=VIEW_HEADERS)},
)

GET_INDEX: Final = Operation(
    id="getIndex",
    tag="service",
    summary="Get the addresses of the service",
    description="Where everything is. A browser gets a page for people instead.",
    ignores_query=True,
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(
            description="The name and version of the service, and its addresses.",
            schema=ServiceIndexSchema,
            headers=VIEW_HEADERS,
            streams={HTML: "A page that says the same to people."},
        )
    },
    problems=("not_acceptable",),
)

GET_VERSION: Final = Operation(
    id="getVersion",
    tag="service",
    summary="Get the version of the service",
    description="The version of the running service. The paths begin with the version of the contract, `/v1`, which "
    "only grows.",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The version.", schema=ServiceVersionSchema, headers=VIEW_HEADERS)},
    problems=("not_acceptable",),
)
