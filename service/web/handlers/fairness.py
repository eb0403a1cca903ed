"""``/v1/games/{game}/fairness``: what is told of the luck of a game, for whoever wants to check it."""

from __future__ import annotations

from flask import Blueprint

from service.games.commands import GameService
from service.web.guards import authenticate
from service.web.openapi.operations import READ_PROBLEMS, VIEW_HEADERS, Operation, ResponseSpec, operation
from service.web.rate_limits import RateLimits
from service.web.responses import RawResponse, conditional
from service.web.schemas import records as record_schemas
from service.web.serializers.fairness import fairness_json


def blueprint(games: GameService, limits: RateLimits) -> Blueprint:
    """The route of the fairness."""
    routes = Blueprint("fairness", __name__)

    @routes.get("/v1/games/<game>/fairness")
    @operation(
        Operation(
            id="getFairness",
            tag="records",
            summary="Check the luck of a game",
            description="For every round the commitment to its seed, told before; what each seat has added, from the "
            "deal on; and when the round is over the seed itself, with the hands and the stock as they were dealt. "
            "From these anybody can deal again and compare: `docs/fairness.md` of the service says how, and beside it "
            "are two small programs that do it. The same for everybody. It does not prove that the server "
            "shows nobody the hands. Of an arranged game there is nothing to prove.",
            access="spectator",
            headers=("If-None-Match",),
            responses={
                200: ResponseSpec(
                    description="The luck of the game, as far as it is told by now.",
                    schema=record_schemas.Fairness,
                    headers=VIEW_HEADERS,
                )
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_fairness(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        return conditional(entered.etag, lambda: fairness_json(games.queries.fairness(entered)))

    return routes
