"""``/v1/games/{game}/events``: one list of events and one cursor, read in four ways."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from service.games.commands import GameService
from service.games.views import EventPage
from service.web.guards import authenticate
from service.web.openapi.operations import READ_PROBLEMS, Operation, ResponseSpec, operation
from service.web.problems import InvalidBody
from service.web.rate_limits import RateLimits
from service.web.request_parsing import negotiate, validate
from service.web.responses import JSON, RawResponse, ok, streamed
from service.web.schemas import events as event_schemas
from service.web.schemas import requests as request_schemas
from service.web.serializers.games import event_page_json
from service.web.streams import NDJSON, SSE, Stream, Streams

_query_in = request_schemas.EventsQuery()
_TYPES: Final = (JSON, SSE, NDJSON)


def blueprint(games: GameService, streams: Streams, limits: RateLimits) -> Blueprint:
    """The route of the events."""
    routes = Blueprint("events", __name__)

    @routes.get("/v1/games/<game>/events")
    @operation(
        Operation(
            id="getEvents",
            tag="games",
            summary="Follow a game",
            description="What has happened after a version, as the bearer of the token may know it; without a token, "
            "as a spectator. By `Accept` as a page of JSON, with `wait` as a long poll, or as a stream: "
            "`text/event-stream` (each event's `id` is its version; no event has a name, so `onmessage` gets all) or "
            "`application/x-ndjson` (an event a line). A stream sends an empty comment or line at least every 15 s "
            "and ends after `finished`; asked again after that it is 204. Before the service stops it sends an event "
            "`closing`; connect again. Where the events asked for are not kept any more, or have never been, one "
            "event `reset` brings the game as it is now.",
            access="spectator",
            headers=("Last-Event-ID",),
            query=request_schemas.EventsQuery,
            responses={
                200: ResponseSpec(
                    description="Events, oldest first.",
                    schema=event_schemas.Events,
                    headers=("Cache-Control", "Vary"),
                    streams={SSE: "Each `data` is an event.", NDJSON: "Each line is an event."},
                ),
                204: ResponseSpec(
                    description="As a stream: the match is finished, and there is nothing after this version.",
                    media_type=None,
                ),
            },
            problems=(*READ_PROBLEMS, "invalid", "too_many_streams"),
        )
    )
    def get_events(game: str) -> RawResponse | Response:
        entered = authenticate(games, limits, game)
        media_type = negotiate(*_TYPES)
        asked = _asked()
        after, wait = asked["after"], asked["wait"]
        if media_type == JSON:
            page = games.queries.events(entered, after, asked["limit"])
            if page.events or not wait or request.method == "HEAD" or entered.game.status == "finished":
                return ok(event_page_json(page))
            following = streams.add(lambda: games.queries.subscribe(entered, after))
            try:
                page = following.poll() or following.wait(wait) or page
            finally:
                streams.remove(following)
            return ok(event_page_json(_cut(page, asked["limit"])))
        if request.method == "HEAD":
            return streamed((), media_type)
        following = streams.add(lambda: games.queries.subscribe(entered, after))
        try:
            first = following.poll()
            if first is None and entered.game.status == "finished":
                streams.remove(following)
                return Response(status=204, headers={"Cache-Control": "private, no-cache"})
        except BaseException:
            streams.remove(following)
            raise
        return streamed(Stream(streams, following, media_type, first), media_type)

    return routes


def _asked() -> dict[str, int]:
    """The query, ``Last-Event-ID`` going before ``after``; of a name given twice the last one counts."""
    asked: dict[str, int] = validate(_query_in, {name: values[-1] for name, values in request.args.lists()})
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        try:
            asked["after"] = _query_in.fields["after"].deserialize(last)
        except ValidationError as error:
            raise InvalidBody({"Last-Event-ID": [str(message) for message in error.messages]}) from None
    return asked


def _cut(page: EventPage, limit: int) -> EventPage:
    """No more of the page than was asked for."""
    if len(page.events) <= limit:
        return page
    events = page.events[:limit]
    return EventPage(events, events[-1].version, more=True)
