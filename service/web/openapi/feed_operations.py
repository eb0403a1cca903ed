"""The description of the feed of an application."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import Operation, ResponseSpec
from service.web.schemas import feed as feed_schemas
from service.web.streams import NDJSON, SSE

GET_FEED: Final = Operation(
    id="getFeed",
    tag="applications",
    summary="Follow all games of the application",
    description="What has happened in all games of the application, as a spectator may know it, with what the "
    "application calls the games and their players. By `Accept` as a page of JSON, with `wait` as a long poll, or as a "
    "stream: `text/event-stream` (the `id` of an item is its cursor; items have no name, so `onmessage` gets all) or "
    "`application/x-ndjson` (one item per line). Each event of a game is an item, in the order of the versions of the "
    "game; the order of items of different games is that in which they were told, usually within half a second. After "
    "a fault of the servers an item may be told again: its `game` and `version` say what is known already. A cursor "
    "stays valid whatever is restarted. The last 100,000 items or a few more are kept; where items after the cursor "
    "are no longer kept, the first item is `reset`: read the list of games, and go on. A stream does not end by "
    "itself: it sends an empty comment or line at least every 15 s as a keep-alive, ends some seconds after the key is "
    "revoked, and with an item `closing` before the service stops; clients should reconnect.",
    access="app",
    headers=("Last-Event-ID",),
    query=feed_schemas.FeedQuerySchema,
    responses={
        200: ResponseSpec(
            description="The items, oldest first.",
            schema=feed_schemas.FeedPageSchema,
            headers=("Cache-Control", "Vary"),
            limited=True,
            streams={SSE: "Each `data` is an item.", NDJSON: "Each line is an item."},
        ),
    },
    problems=("unauthorized", "rate_limited", "not_acceptable", "invalid", "too_many_streams"),
)
