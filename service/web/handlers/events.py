"""``/v1/games/{game}/events``: events after a cursor as a page, a long poll, or one of two streams."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from flask import Blueprint, Response, request

from service.games.access import Access
from service.games.model.views import Deleted, EventPage, EventView, Reset
from service.games.queries.sentences import EventSentences
from service.games.queries.subscription import EventSubscription
from service.render.sentences.people import Reader
from service.texts import Language
from service.web.access import key_check, limit_history, limit_sentences, operation
from service.web.openapi.game_operations import GET_EVENTS
from service.web.request_parsing import negotiate, preferred_language, read_query_of_reader
from service.web.response_cache import cached_body
from service.web.responses import JSON, RawResponse, ok, streamed, to_json
from service.web.schemas import requests as request_schemas
from service.web.serializers.events import event_json, event_page_json
from service.web.serializers.game import game_view_json
from service.web.serializers.values import JsonObject
from service.web.services import Services
from service.web.streams import NDJSON, SSE, Stream, stream_client, wait_while_valid

blueprint: Final = Blueprint("events", __name__)

_Show = Callable[[EventSubscription], JsonObject | None]

_EVENTS_PER_TURN: Final = 100
"""Events of a page that are serialized before other requests run: a few milliseconds with texts."""
_query_in: Final = request_schemas.EventsQuery()


@blueprint.get("/v1/games/<game>/events")
@operation(GET_EVENTS)
def get_events(services: Services, access: Access) -> RawResponse | Response:
    """Get the events as the client accepts them."""
    media_type = negotiate(JSON, SSE, NDJSON)
    query = read_query_of_reader(_query_in)
    language = preferred_language() if query["text"] else None
    if media_type == JSON:
        return _page_response(services, access, query, language)
    if request.method == "HEAD":
        return streamed((), media_type, language)
    return _stream(services, access, query, media_type, language)


def _page_response(services: Services, access: Access, query: dict[str, Any], language: Language | None) -> RawResponse:
    page = _page(services, access, query)
    serialize = _serializer(services, access, query["after"], page, language)
    events = []
    for number, event in enumerate(page.events):
        if number and number % _EVENTS_PER_TURN == 0:
            services.yield_control()
        events.append(serialize(event))
    game = None
    if query["view"] and not (page.events and isinstance(page.events[-1].event, Deleted)):
        view = services.games.queries.view(services.games.queries.at_version(access, page))
        game = game_view_json(view, language)
    return ok(event_page_json(page, events, game), language=language)


def _serializer(
    services: Services, access: Access, after: int, first: EventPage | None, language: Language | None
) -> Callable[[EventView], JsonObject]:
    """The function that makes the JSON of the events after this cursor, called for each once and in their order.

    With a ``language``, each event has a sentence in it. ``first`` are the first events, if there are any already.
    """
    if language is None:
        return event_json
    game = access.game
    resets = first is not None and any([isinstance(each.event, Reset) for each in first.events])
    layout = game.rules.empty_layout() if resets else services.games.queries.layout_at(access, after)
    names = tuple([seat.name for seat in game.seats])
    sentences = EventSentences(game.rules, layout, Reader(access.seat, names, language))
    return lambda event: event_json(event, sentences.sentence(event))


def _limit(services: Services, query: dict[str, Any], events: int) -> None:
    """Count so many events by the address of the client, as reads. Raises ``RateLimited``."""
    limit_history(services.limits, events)
    if query["text"]:
        limit_sentences(services.limits, events)


def _page(services: Services, access: Access, query: dict[str, Any]) -> EventPage:
    """The events after the cursor; if there are none yet, those that arrive within ``wait`` seconds."""
    after, wait, limit = query["after"], query["wait"], query["limit"]
    _limit(services, query, min(limit, access.game.version - after))
    page = services.games.queries.events(access, after, limit)
    if page.events or not wait or request.method == "HEAD" or access.game.status == "finished":
        return page
    with services.streams.open(
        lambda: services.games.queries.subscribe(access, after), stream_client(request.environ, access.game.id)
    ) as subscription:
        check = None if access.app is None else key_check(services)
        page = subscription.poll() or wait_while_valid(subscription, wait, check) or page
    if len(page.events) <= limit:
        return page
    events = page.events[:limit]
    return EventPage(events, events[-1].version, more=True)


def _stream(
    services: Services, access: Access, query: dict[str, Any], media_type: str, language: Language | None
) -> Response:
    """A stream from the cursor on; 204 if the match is finished and there is nothing after the cursor."""
    streams, after = services.streams, query["after"]
    _limit(services, query, access.game.version - after)
    client = stream_client(request.environ, access.game.id)
    subscription = streams.add(lambda: services.games.queries.subscribe(access, after), client)
    try:
        first = subscription.poll()
        if first is None and access.game.status == "finished":
            streams.remove(subscription)
            return Response(status=204, headers={"Cache-Control": "private, no-cache"})
        serialize = _serializer(services, access, after, first, language)
    except BaseException:
        streams.remove(subscription)
        raise
    show: _Show | None = partial(_view_item, services, language) if query["view"] else None
    # A client that lost its connection may have got the events up to its cursor without the view after them.
    due = first is not None or "Last-Event-ID" in request.headers
    check = None if access.app is None else key_check(services)
    chunks = Stream(streams, subscription, media_type, first, show, serialize=serialize, due=due, check=check)
    return streamed(chunks, media_type, language)


def _view_item(services: Services, language: Language | None, subscription: EventSubscription) -> JsonObject | None:
    """The item with the subscriber's view at its cursor; ``None`` if the game is at another version."""
    queries = services.games.queries
    access = queries.at_cursor(subscription)
    if access.game.version != subscription.cursor:
        return None
    name = "game" if language is None else f"game in {language}"
    body = cached_body(services.views, access, name, lambda: to_json(game_view_json(queries.view(access), language)))
    return {"type": "view", "version": subscription.cursor, "game": orjson.Fragment(body)}
