"""The descriptions of what an application may ask about one of its people, and their erasure."""

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
    "What belongs to another application is 404. The list follows the games, usually within half a second. "
    "While a person is being erased, the list is not 404, though perhaps empty.",
    access="app",
    query=player_schemas.PlayerQuerySchema,
    responses={
        200: ResponseSpec(
            description="A page of what is kept.",
            schema=player_schemas.PlayerPageSchema,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, "not_found", "invalid"),
)

ERASE_PLAYER: Final = Operation(
    id="erasePlayer",
    tag="applications",
    summary="Erase a person",
    description="Erases the person whom the application calls so from all its games, which go on for the others: the "
    "name becomes `Player` and the number of the seat, from 1; `ref`, token and the `url` of a remote player go; a "
    "computer player goes on with the match. An open seat stays open. It is done in the background, usually within two "
    "seconds, and is done when `GET` is 404: then no game that was created before this request has the person. Until "
    "then, games that are given the same `ref` are erased from as well. May be repeated, and is 202 also if no game "
    "has such a person. Games and feed tell `left`, `renamed` and `token_changed`.",
    access="app",
    responses={202: ResponseSpec(description="It will be done.", media_type=None, limited=True)},
    problems=("unauthorized", "rate_limited", "not_found", "limit_reached", "outcome_unknown"),
)
