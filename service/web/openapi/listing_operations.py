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
    query=listing_schemas.ListQuerySchema,
    responses={
        200: ResponseSpec(
            description="A page of games.",
            schema=listing_schemas.GamePageSchema,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=("unauthorized", "rate_limited", "not_acceptable", "invalid"),
)

LIST_LOBBY: Final = Operation(
    id="listLobby",
    tag="games",
    summary="List public games with open seats",
    description="Games with open seats, each with the code by which one can be taken, the newest first. Without a key "
    "those that applications have made public for everybody: of each application the ten newest, with `variant` the "
    "ten newest of that; when seats are taken, others follow. With the key of an application its own games that are "
    "public, for everybody or for its lobby alone: the 1000 newest. The list follows the games, usually within two "
    "seconds: a seat may just have been taken.",
    access="public_or_app",
    query=listing_schemas.LobbyQuerySchema,
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(description="A page of games.", schema=listing_schemas.LobbyPageSchema, headers=VIEW_HEADERS)
    },
    problems=("unauthorized", "rate_limited", "not_acceptable", "invalid"),
)
