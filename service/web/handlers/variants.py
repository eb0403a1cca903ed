"""``/v1/variants``: the games on offer."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Blueprint, Response

from service.engine.variants import variants
from service.games.catalogue import find_variant
from service.web.openapi.operations import VIEW_HEADERS, Operation, ResponseSpec, operation
from service.web.request_parsing import check_accepts, preferred_language
from service.web.responses import JSON, public
from service.web.schemas.variants import Variant, Variants
from service.web.serializers.games import variant_json, variant_summary_json

_HEADERS = (*VIEW_HEADERS, "Content-Language")


def blueprint() -> Blueprint:
    """The routes of the variants."""
    routes = Blueprint("variants", __name__)

    @routes.get("/v1/variants")
    @operation(
        Operation(
            id="listVariants",
            tag="variants",
            summary="The games on offer",
            description="Every game that can be created, with its name and a sentence about it.",
            headers=("Accept-Language", "If-None-Match"),
            responses={200: ResponseSpec(description="The games.", schema=Variants, headers=_HEADERS)},
            problems=("not_acceptable",),
        )
    )
    def list_variants() -> Response:
        check_accepts(JSON)
        spoken = preferred_language()
        games = [variant_summary_json(variant, spoken) for variant in variants().values()]
        return _reply({"variants": games, "bots": []}, spoken)

    @routes.get("/v1/variants/<variant>")
    @operation(
        Operation(
            id="getVariant",
            tag="variants",
            summary="One game in full",
            description="Its options as a JSON Schema, the deal table, the scoring, and the rules to play from.",
            headers=("Accept-Language", "If-None-Match"),
            responses={200: ResponseSpec(description="The game.", schema=Variant, headers=_HEADERS)},
            problems=("not_found", "not_acceptable"),
        )
    )
    def get_variant(variant: str) -> Response:
        check_accepts(JSON)
        spoken = preferred_language()
        return _reply(variant_json(find_variant(variant), spoken), spoken)

    return routes


def _reply(value: Any, spoken: str) -> Response:
    response = public(orjson.dumps(value), JSON)
    response.headers["Content-Language"] = spoken
    return response
