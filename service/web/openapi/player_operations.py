"""The descriptions of what an application may ask about one of its people."""

from __future__ import annotations

from typing import Final

from service.web.openapi.app_operations import APP_PROBLEMS
from service.web.openapi.operations import Operation, ResponseSpec
from service.web.schemas import players as player_schemas

GET_PLAYER: Final = Operation(
    id="getPlayer",
    tag="applications",
    summary="Get what is kept of a person",
    description="All that is kept of the person whom the application calls so, in pages: the games in which the person "
    "has a seat, those that were written last first, with name, score and rank. Others at the table are not told. "
    "What belongs to another application is 404. The list follows the games, usually within half a second.",
    access="app",
    query=player_schemas.PlayerQuery,
    responses={
        200: ResponseSpec(
            description="A page of what is kept.",
            schema=player_schemas.PlayerPage,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, "not_found", "invalid"),
)
