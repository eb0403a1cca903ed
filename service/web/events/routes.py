"""``/v1/games/{game}/events``: events after a cursor as a page, a long poll, or one of two streams."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from flask import Blueprint, Response, request

from service.engine.layout import empty_layout
from service.engine.variant import teams_of
from service.games.access import Access
from service.games.model.views import Deleted, EventPage, EventView, Reset
from service.games.queries.sentences import EventSentences, partners_of
from service.games.queries.subscription import EventSubscription
from service.render.sentences.places import Reader
from service.texts import Language
from service.web.access import key_check
from service.web.events.schemas import EventPageSchema, EventsQuerySchema, StreamItemSchema
from service.web.events.serializers import event_json
from service.web.events.stream import Stream, StreamContent
from service.web.fields.strict import JsonObject
from service.web.http.headers import negotiate, preferred_language, read_stream_query
from service.web.http.responses import JSON, RawResponse, cached_body, ok, streamed
from service.web.http.streams import NDJSON, SSE, wait_while_valid
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import EVENTS_PER_READ, SENTENCES_PER_READ, limit_reads
from service.web.services import Services
from service.web.view.serializers import game_view_json

blueprint: Final = Blueprint("events", __name__)

_EVENTS_PER_TURN: Final = 100
"""Events of a page to serialize before other requests may run: a few milliseconds with texts."""
_query_in: Final = EventsQuerySchema()


@blueprint.get("/v1/games/<game>/events")
@Operation(
    id="getEvents",
    tag="games",
    access="spectator",
    headers=("Last-Event-ID", "Accept-Language"),
    query=EventsQuerySchema,
    responses={
        200: ResponseSpec(
            description="The events, oldest first.",
            schema=EventPageSchema,
            streams={SSE: "Each `data` is a `StreamItem`.", NDJSON: "Each line is a `StreamItem`."},
            item=StreamItemSchema,
        ),
        204: ResponseSpec(
            description="As a stream: the match is finished, and there is nothing after this version.",
            media_type=None,
            for_streams=True,
        ),
    },
)
def get_events(services: Services, access: Access) -> RawResponse | Response:
    """Follow a game.

    The events after a version, as the bearer of the token may know them; without a token, as a spectator. By `Accept`
    as a page of JSON, with `wait` as a long poll, or as a stream: `text/event-stream` (the `id` of an event is its
    version; events have no name, so `onmessage` gets all) or `application/x-ndjson` (one event per line). A stream
    sends an empty comment or line at least every 15 s as a keep-alive and ends after `finished`; a stream requested
    after that is answered with 204 without a body, which makes an `EventSource` stop. A page is never 204. Before the
    service stops, a stream ends with an event `closing`; clients should reconnect. If the game is deleted, streams and
    long polls end with an event `deleted`, and every later request is answered with 410. If the requested events are no
    longer stored, or never existed, a single event `reset` contains the current game. With `view=true` a page also has
    `game`, the bearer's view at the page's `version`; in a stream, events are followed by one more item, `{"type":
    "view", "version", "game"}` with the view at that version, whenever no more events follow for the moment. A client
    that shows each view needs no other request. A stream that is resumed by `Last-Event-ID` begins with the view if
    there are no newer events. With `text=true` each event, and each view, has a sentence for people in `text`, in the
    language that `Accept-Language` prefers.
    """
    media_type = negotiate(JSON, SSE, NDJSON)
    query = read_stream_query(_query_in)
    language = preferred_language() if query["text"] else None
    if media_type == JSON:
        return _page_response(services, access, query, language)
    if request.method == "HEAD":
        return streamed((), media_type, language)
    return _stream(services, access, query, media_type, language=language)


def _page_response(services: Services, access: Access, query: dict[str, Any], language: Language | None) -> RawResponse:
    page = _page(services, access, query)
    serialize = _serializer(services, access, query["after"], page, language=language)
    events = []
    for number, event in enumerate(page.events):
        if number and number % _EVENTS_PER_TURN == 0:
            services.yield_control()
        events.append(serialize(event))
    result: JsonObject = {"events": events, "version": page.version, "more": page.more}
    if query["view"] and not (page.events and isinstance(page.events[-1].event, Deleted)):
        view = services.games.queries.view(services.games.queries.at_version(access, page))
        result["game"] = game_view_json(view, language)
    return ok(result, language=language)


def _serializer(
    services: Services, access: Access, after: int, first: EventPage | None, *, language: Language | None
) -> Callable[[EventView], JsonObject]:
    """Return a function that serializes the events after a version; it must be called once for each event, in order.

    ``after``: the version.
    ``first``: the first page of events, if there is one already.
    ``language``: the language of a sentence for each event; ``None`` for no sentences.
    """
    if language is None:
        return event_json
    game = access.game
    resets = first is not None and any([isinstance(event.event, Reset) for event in first.events])
    layout = empty_layout(game.rules.form) if resets else services.games.queries.layout_at(access, after)
    seat, names = services.games.queries.seating_at(access, game.version if resets else after)
    partners = (
        partners_of(seat, teams_of(game.rules.teams, len(names))) if len(names) == len(game.seats) else frozenset()
    )
    sentences = EventSentences(game.rules, layout, Reader(seat, names, language, partners))
    return lambda event: event_json(event, sentences.sentence(event))


def _limit(services: Services, query: dict[str, Any], events: int) -> None:
    """Count this number of events as reads. Raises ``RateLimited``."""
    limit_reads(services.limits, events, per_read=EVENTS_PER_READ)
    if query["text"]:
        limit_reads(services.limits, events, per_read=SENTENCES_PER_READ)


def _page(services: Services, access: Access, query: dict[str, Any]) -> EventPage:
    """Return the events after the cursor; if there are none yet, those that arrive within ``wait`` seconds."""
    after, wait, limit = query["after"], query["wait"], query["limit"]
    _limit(services, query, min(limit, access.game.version - after))
    page = services.games.queries.events(access, after, limit)
    if page.events or not wait or request.method == "HEAD" or access.game.status == "finished":
        return page
    queries, game = services.games.queries, access.game.id
    with services.streams.open(lambda: queries.subscribe(access, after), game) as subscription:
        check = None if access.app is None else key_check(services)
        page = subscription.poll() or wait_while_valid(subscription, wait, check) or page
    if len(page.events) <= limit:
        return page
    events = page.events[:limit]
    return EventPage(events, events[-1].version, more=True)


def _stream(
    services: Services, access: Access, query: dict[str, Any], media_type: str, *, language: Language | None
) -> Response:
    """Return a stream from the cursor on; 204 if the match is finished and there is nothing after the cursor."""
    streams, after = services.streams, query["after"]
    _limit(services, query, access.game.version - after)
    subscription = streams.add(lambda: services.games.queries.subscribe(access, after), access.game.id)
    try:
        first = subscription.poll()
        if first is None and access.game.status == "finished":
            streams.remove(subscription)
            return Response(status=204, headers={"Cache-Control": "private, no-cache"})
        serialize = _serializer(services, access, after, first, language=language)
    except BaseException:
        streams.remove(subscription)
        raise
    show = partial(_view_item, services, language, subscription) if query["view"] else None
    content = StreamContent[EventPage](
        first,
        items=lambda page: [(serialize(event), event.version) for event in page.events],
        closing=lambda at: {"version": subscription.cursor, "type": "closing", "at": at, "data": {}},
        show=show,
        # A client that lost its connection may have received the events up to its cursor, but not the view after them.
        show_first=first is not None or "Last-Event-ID" in request.headers,
    )
    check = None if access.app is None else key_check(services)
    return streamed(Stream(streams, subscription, media_type, content, check=check), media_type, language)


def _view_item(
    services: Services, language: Language | None, subscription: EventSubscription
) -> tuple[JsonObject, int] | None:
    """Return the item with the subscriber's view, and its version; ``None`` if the game has another version by now."""
    queries = services.games.queries
    access = queries.at_cursor(subscription)
    if access.game.version != subscription.cursor:
        return None
    name = "game" if language is None else f"game in {language}"
    body = cached_body(
        services.views, access, name, lambda: orjson.dumps(game_view_json(queries.view(access), language))
    )
    return {"type": "view", "version": subscription.cursor, "game": orjson.Fragment(body)}, subscription.cursor
