"""``GET /v1/feed``: what has happened in all games of an application, as a page, a long poll, or one of two streams."""

from __future__ import annotations

from typing import Any, Final

import orjson
from flask import Blueprint, Response, request

from service.backends.index.feed import FeedItems
from service.backends.values import Backend
from service.web.access import key_check
from service.web.events.schemas import StreamItemSchema
from service.web.events.stream import Stream, StreamContent
from service.web.feed.schemas import FeedPageSchema, FeedQuerySchema
from service.web.http.headers import negotiate, read_stream_query
from service.web.http.responses import JSON, RawResponse, ok, streamed
from service.web.http.streams import NDJSON, SSE, wait_while_valid
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import EVENTS_PER_READ, limit_reads
from service.web.services import Services

blueprint: Final = Blueprint("feed", __name__)

_query_in: Final = FeedQuerySchema()


@blueprint.get("/v1/feed")
@Operation(
    id="getFeed",
    tag="applications",
    access="app",
    headers=("Last-Event-ID",),
    query=FeedQuerySchema,
    responses={
        200: ResponseSpec(
            description="The items, oldest first.",
            schema=FeedPageSchema,
            streams={SSE: "Each `data` is a `StreamItem`.", NDJSON: "Each line is a `StreamItem`."},
            item=StreamItemSchema,
        )
    },
)
def get_feed(services: Services, backend: Backend) -> RawResponse | Response:
    """Follow all games of the application.

    What has happened in all games of the application, as a spectator may know it, with the refs of games and players.
    By `Accept` as a page of JSON, with `wait` as a long poll, or as a stream: `text/event-stream` (the `id` of an item
    is its cursor; items have no name, so `onmessage` gets all) or `application/x-ndjson` (one item per line). Each
    event of a game is an item, in the order of the versions of the game; items of different games are in the order in
    which they were published, usually within half a second. After a fault of the servers an item may be published
    again: recognise it by `game_id` and `version`. A cursor stays valid whatever is restarted. The last 100,000 items
    or a few more are stored; where items after the cursor are not, the first item is `reset`: read the list of
    games, and go on. A stream does not end by itself: it sends an empty comment or line at least every 15 s as a
    keep-alive, ends some seconds after the key is revoked, and with an item `closing` before the service stops; clients
    should reconnect.
    """
    media_type = negotiate(JSON, SSE, NDJSON)
    query = read_stream_query(_query_in)
    if media_type == JSON:
        return _page_response(services, backend.id, query)
    if request.method == "HEAD":
        return streamed((), media_type)
    return _stream(services, backend.id, query, media_type)


def _page_response(services: Services, app: str, query: dict[str, Any]) -> RawResponse:
    """Return the items after the cursor; if there are none yet, those that arrive within ``wait`` seconds."""
    feed, limit, wait = services.backends.feed, query["limit"], query["wait"]
    page = feed.page(app, query.get("after"), limit)
    limit_reads(services.limits, len(page.items), per_read=EVENTS_PER_READ)
    if not page.items and wait and request.method != "HEAD":
        with services.streams.open(lambda: feed.follow(app, page.cursor, limit), app) as reader:
            page = wait_while_valid(reader, wait, key_check(services)) or page
    items = [orjson.Fragment(item) for _, item in page.items]
    return ok({"items": items, "cursor": page.cursor, "more": page.more})


def _stream(services: Services, app: str, query: dict[str, Any], media_type: str) -> Response:
    """Return a stream from the cursor on."""
    feed, streams = services.backends.feed, services.streams
    first = feed.page(app, query.get("after"))
    limit_reads(services.limits, len(first.items), per_read=EVENTS_PER_READ)
    reader = streams.add(lambda: feed.follow(app, first.cursor), app)
    content = StreamContent[FeedItems](
        first if first.items else None,
        items=lambda page: [(orjson.Fragment(item), cursor) for cursor, item in page.items],
        closing=lambda at: {"cursor": reader.cursor, "version": 0, "type": "closing", "at": at},
        start=first.cursor,
    )
    return streamed(Stream(streams, reader, media_type, content, check=key_check(services)), media_type)
