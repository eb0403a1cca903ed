"""The descriptions of the lists of games."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import VIEW_HEADERS, Operation, ResponseSpec
from service.web.schemas import listing as listing_schemas

LIST_GAMES: Final = Operation(
    id="listGames",
    tag="applications",
    summary="List the application's games",
    description="The games of the application as a spectator may know them, with what the application calls them and "
    "their players: those that were written last come first, with `to_act` the most urgent ones. The list follows the "
    "games, usually within half a second.",
    access="app",
    query=listing_schemas.ListQuery,
    responses={
        200: ResponseSpec(
            description="A page of games.",
            schema=listing_schemas.GamePage,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=("unauthorized", "rate_limited", "not_acceptable", "invalid"),
)

LIST_LOBBY: Final = Operation(
    id="listLobby",
    tag="games",
    summary="List the public games with open seats",
    description="The games that applications have made public, with the code by which an open seat can be taken: the "
    "200 newest. The list follows the games, usually within two seconds: a seat may just have been taken.",
    query=listing_schemas.LobbyQuery,
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(description="The public games.", schema=listing_schemas.LobbyPage, headers=VIEW_HEADERS)
    },
    problems=("not_acceptable", "invalid"),
)
