"""``/v1/variants``: the available variants."""

from __future__ import annotations

from typing import Final

import orjson
from flask import Blueprint, Response

from service.engine.variants import variants
from service.games.queries.catalogue import find_variant
from service.web.http.headers import negotiate, preferred_language
from service.web.http.responses import JSON, public
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services
from service.web.variants.schemas import VariantListSchema, VariantSchema, bots_json, variant_json, variant_summary_json

blueprint: Final = Blueprint("variants", __name__)


@blueprint.get("/v1/variants")
@Operation(
    id="listVariants",
    tag="variants",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The variants.", schema=VariantListSchema)},
)
def list_variants(_services: Services) -> Response:
    """List the variants.

    All variants that can be played, each with its name and a description in one sentence, and the levels of computer
    players.
    """
    negotiate(JSON)
    language = preferred_language()
    summaries = [variant_summary_json(variant, language) for variant in variants().values()]
    return public(orjson.dumps({"variants": summaries, "bots": bots_json(language)}), JSON, language)


@blueprint.get("/v1/variants/<variant>")
@Operation(
    id="getVariant",
    tag="variants",
    headers=("Accept-Language", "If-None-Match"),
    responses={200: ResponseSpec(description="The variant.", schema=VariantSchema)},
    own_problems=("not_found",),
)
def get_variant(_services: Services, variant: str) -> Response:
    """Get a variant.

    Its options as a JSON Schema, the deal table, the scoring, the rules, and how strong the computer players are.
    """
    negotiate(JSON)
    language = preferred_language()
    return public(orjson.dumps(variant_json(find_variant(variant), language)), JSON, language)
