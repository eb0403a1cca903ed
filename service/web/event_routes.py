"""``/v1/games/{game}/events``: one list of events and one cursor, read in four ways."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from service.games.hosting import Games
from service.games.look import EventPage
from service.web import bodies, event_schemas
from service.web.entering import enter
from service.web.limiting import Limits
from service.web.operations import READ_PROBLEMS, Answer, Operation, operation
from service.web.present import present_page
from service.web.problems import InvalidBody
from service.web.reading import accepted, load
from service.web.replies import JSON, Reply, reply, stream_reply
from service.web.streams import NDJSON, SSE, Stream, Streams

_query_in = bodies.EventsQuery()
_TYPES: Final = (JSON, SSE, NDJSON)


def blueprint(games: Games, streams: Streams, limits: Limits) -> Blueprint:
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
            query=bodies.EventsQuery,
            answers={
                200: Answer(
                    meaning="Events, oldest first.",
                    schema=event_schemas.Events,
                    headers=("Cache-Control", "Vary"),
                    streams={SSE: "Each `data` is an event.", NDJSON: "Each line is an event."},
                ),
                204: Answer(
                    meaning="As a stream: the match is finished, and there is nothing after this version.",
                    media_type=None,
                ),
            },
            problems=(*READ_PROBLEMS, "invalid", "too_many_streams"),
        )
    )
    def get_events(game: str) -> Reply | Response:
        entered = enter(games, limits, game)
        media_type = accepted(*_TYPES)
        asked = _asked()
        after, wait = asked["after"], asked["wait"]
        if media_type == JSON:
            page = games.chronicle.events(entered, after, asked["limit"])
            if page.events or not wait or request.method == "HEAD" or entered.game.status == "finished":
                return reply(present_page(page))
            following = streams.add(lambda: games.chronicle.follow(entered, after))
            try:
                page = following.look() or following.wait(wait) or page
            finally:
                streams.remove(following)
            return reply(present_page(_cut(page, asked["limit"])))
        if request.method == "HEAD":
            return stream_reply((), media_type)
        following = streams.add(lambda: games.chronicle.follow(entered, after))
        try:
            first = following.look()
            if first is None and entered.game.status == "finished":
                streams.remove(following)
                return Response(status=204, headers={"Cache-Control": "private, no-cache"})
        except BaseException:
            streams.remove(following)
            raise
        return stream_reply(Stream(streams, following, media_type, first), media_type)

    return routes


def _asked() -> dict[str, int]:
    """The query, ``Last-Event-ID`` going before ``after``; of a name given twice the last one counts."""
    asked: dict[str, int] = load(_query_in, {name: values[-1] for name, values in request.args.lists()})
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
