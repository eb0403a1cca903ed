"""``/v1/variants``: the available variants."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response

from service.engine.variants import variants
from service.games.queries.catalogue import find_variant
from service.web.access import operation
from service.web.openapi.service_operations import GET_VARIANT, LIST_VARIANTS
from service.web.request_parsing import negotiate, preferred_language
from service.web.responses import JSON, public, to_json
from service.web.serializers.variants import bots_json, variant_json, variant_summary_json
from service.web.services import Services

blueprint: Final = Blueprint("variants", __name__)


@blueprint.get("/v1/variants")
@operation(LIST_VARIANTS)
def list_variants(_services: Services) -> Response:
    """List the variants, in the client's language."""
    negotiate(JSON)
    language = preferred_language()
    summaries = [variant_summary_json(variant, language) for variant in variants().values()]
    return public(to_json({"variants": summaries, "bots": bots_json(language)}), JSON, language)


@blueprint.get("/v1/variants/<variant>")
@operation(GET_VARIANT)
def get_variant(_services: Services, variant: str) -> Response:
    """Get one variant in full, in the client's language."""
    negotiate(JSON)
    language = preferred_language()
    return public(to_json(variant_json(find_variant(variant), language)), JSON, language)
