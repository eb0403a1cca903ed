"""``/v1/variants``: the games on offer."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Blueprint, Response

from service.engine.variants import variants
from service.games.catalogue import find_variant
from service.web.operations import VIEW_HEADERS, Answer, Operation, operation
from service.web.present import present_variant, present_variant_summary
from service.web.reading import check_accepts, language
from service.web.replies import JSON, public_reply
from service.web.variant_schemas import Variant, Variants

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
            answers={200: Answer(meaning="The games.", schema=Variants, headers=_HEADERS)},
            problems=("not_acceptable",),
        )
    )
    def list_variants() -> Response:
        check_accepts(JSON)
        spoken = language()
        games = [present_variant_summary(variant, spoken) for variant in variants().values()]
        return _reply({"variants": games, "bots": []}, spoken)

    @routes.get("/v1/variants/<variant>")
    @operation(
        Operation(
            id="getVariant",
            tag="variants",
            summary="One game in full",
            description="Its options as a JSON Schema, the deal table, the scoring, and the rules to play from.",
            headers=("Accept-Language", "If-None-Match"),
            answers={200: Answer(meaning="The game.", schema=Variant, headers=_HEADERS)},
            problems=("not_found", "not_acceptable"),
        )
    )
    def get_variant(variant: str) -> Response:
        check_accepts(JSON)
        spoken = language()
        return _reply(present_variant(find_variant(variant), spoken), spoken)

    return routes


def _reply(value: Any, spoken: str) -> Response:
    response = public_reply(orjson.dumps(value), JSON)
    response.headers["Content-Language"] = spoken
    return response
