"""``/v1/games/{game}/fairness``: what is told of the luck of a game, for whoever wants to check it."""

from __future__ import annotations

from flask import Blueprint

from service.games.hosting import Games
from service.web import record_schemas
from service.web.entering import enter
from service.web.limiting import Limits
from service.web.operations import READ_PROBLEMS, VIEW_HEADERS, Answer, Operation, operation
from service.web.present_fairness import present_fairness
from service.web.replies import Reply, view_reply


def blueprint(games: Games, limits: Limits) -> Blueprint:
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
            answers={
                200: Answer(
                    meaning="The luck of the game, as far as it is told by now.",
                    schema=record_schemas.Fairness,
                    headers=VIEW_HEADERS,
                )
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_fairness(game: str) -> Reply:
        entered = enter(games, limits, game)
        return view_reply(entered.etag, lambda: present_fairness(games.chronicle.fairness(entered)))

    return routes
