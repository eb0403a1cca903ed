"""``/v1/games/{game}/events``: events after a cursor as a page, a long poll, or one of two streams."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from service.games.access import Access
from service.games.views import EventPage
from service.web.access import limit_history, operation
from service.web.openapi.game_operations import GET_EVENTS
from service.web.problems import InvalidBody
from service.web.rate_limits import client_network
from service.web.request_parsing import negotiate, validate
from service.web.responses import JSON, RawResponse, ok, streamed
from service.web.schemas import requests as request_schemas
from service.web.serializers.events import event_page_json
from service.web.services import Services
from service.web.streams import NDJSON, SSE, Stream, StreamClient

blueprint: Final = Blueprint("events", __name__)

_query_in: Final = request_schemas.EventsQuery()


@blueprint.get("/v1/games/<game>/events")
@operation(GET_EVENTS)
def get_events(services: Services, access: Access) -> RawResponse | Response:
    """Get the events as the client accepts them."""
    media_type = negotiate(JSON, SSE, NDJSON)
    query = _query()
    if media_type == JSON:
        return ok(event_page_json(_page(services, access, query)))
    if request.method == "HEAD":
        return streamed((), media_type)
    return _stream(services, access, query["after"], media_type)


def _page(services: Services, access: Access, query: dict[str, int]) -> EventPage:
    """The events after the cursor; if there are none yet, those that arrive within ``wait`` seconds."""
    after, wait, limit = query["after"], query["wait"], query["limit"]
    limit_history(services.limits, min(limit, access.game.version - after))
    page = services.games.queries.events(access, after, limit)
    if page.events or not wait or request.method == "HEAD" or access.game.status == "finished":
        return page
    subscription = services.streams.add(lambda: services.games.queries.subscribe(access, after), _client(access))
    try:
        page = subscription.poll() or subscription.wait(wait) or page
    finally:
        services.streams.remove(subscription)
    if len(page.events) <= limit:
        return page
    events = page.events[:limit]
    return EventPage(events, events[-1].version, more=True)


def _stream(services: Services, access: Access, after: int, media_type: str) -> Response:
    """A stream from the cursor on; 204 if the match is finished and there is nothing after the cursor."""
    streams = services.streams
    limit_history(services.limits, access.game.version - after)
    subscription = streams.add(lambda: services.games.queries.subscribe(access, after), _client(access))
    try:
        first = subscription.poll()
        if first is None and access.game.status == "finished":
            streams.remove(subscription)
            return Response(status=204, headers={"Cache-Control": "private, no-cache"})
    except BaseException:
        streams.remove(subscription)
        raise
    return streamed(Stream(streams, subscription, media_type, first), media_type)


def _client(access: Access) -> StreamClient:
    environ = request.environ
    return StreamClient(client_network(environ.get("REMOTE_ADDR", "")), access.game.id, environ.get("gunicorn.socket"))


def _query() -> dict[str, int]:
    """The query; ``Last-Event-ID`` overrides ``after``, and the last of repeated parameters is used.

    Raises ``InvalidBody``.
    """
    query: dict[str, int] = validate(_query_in, {name: values[-1] for name, values in request.args.lists()})
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        try:
            query["after"] = _query_in.fields["after"].deserialize(last)
        except ValidationError as error:
            raise InvalidBody({"Last-Event-ID": [str(message) for message in error.messages]}) from None
    return query
