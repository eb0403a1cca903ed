"""``/v1/games/{game}/score``: read the score."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.games.access import Access
from service.web.http.response_cache import cached_json
from service.web.http.responses import RawResponse
from service.web.operation import Operation, ResponseSpec
from service.web.score.schemas import ScoreSchema
from service.web.score.serializers import score_json
from service.web.services import Services

blueprint: Final = Blueprint("score", __name__)


@blueprint.get("/v1/games/<game>/score")
@Operation(
    id="getScore",
    tag="games",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="The score card.", schema=ScoreSchema)},
)
def get_score(services: Services, access: Access) -> RawResponse:
    """Get the score.

    The standings, the result of every round explained line by line, and the settlement.
    """
    return cached_json(services.responses, access, "score", lambda: score_json(services.games.queries.score(access)))
