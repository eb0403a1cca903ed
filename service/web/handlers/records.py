"""Fairness and records.

``/v1/games/{game}/fairness``, ``/v1/games/{game}/record``, ``/v1/verifications`` and ``/v1/replays``.
"""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.engine.events import Played
from service.games.access import Access
from service.records.bot_checks import CHEAP_DECISIONS
from service.records.errors import InvalidRecord
from service.records.parser import decode_record, parse_record
from service.records.record import Record
from service.records.verification import verify
from service.records.writer import format_record
from service.render.replays import replay
from service.web.access import limit_expensive, limit_places, operation
from service.web.openapi.record_operations import GET_FAIRNESS, GET_RECORD, REPLAY_RECORD, VERIFY_RECORD
from service.web.problems import InvalidBody
from service.web.request_parsing import (
    etag_matches,
    has_text,
    idempotency,
    negotiate,
    preferred_language,
    read_json,
    read_query,
    read_text,
    validate,
)
from service.web.response_cache import cached_body, cached_json
from service.web.responses import JSON, TEXT, RawResponse, not_modified, ok, ok_json, plain, to_json
from service.web.schemas import requests as request_schemas
from service.web.serializers.fairness import fairness_json
from service.web.serializers.records import record_json, replay_json, report_json
from service.web.services import Services

blueprint: Final = Blueprint("records", __name__)

_recorded_in: Final = request_schemas.RecordedInSchema()
_replay_query_in: Final = request_schemas.ReplayQuerySchema()


@blueprint.get("/v1/games/<game>/fairness")
@operation(GET_FAIRNESS)
def get_fairness(services: Services, access: Access) -> RawResponse:
    """Get what is revealed of the deals of a game."""
    return cached_json(
        services.responses, access, "fairness", lambda: fairness_json(services.games.queries.fairness(access))
    )


@blueprint.get("/v1/games/<game>/record")
@operation(GET_RECORD)
def get_record(services: Services, access: Access) -> RawResponse:
    """Get the record of a game, as JSON or text."""
    media_type = negotiate(JSON, TEXT)
    etag = f"{access.etag}-{'text' if media_type == TEXT else 'json'}"
    if etag_matches(etag):
        return not_modified(etag)
    if media_type == JSON:
        return ok_json(
            cached_body(services.responses, access, "record as JSON", lambda: _as_json(services, access)), etag=etag
        )
    return plain(cached_body(services.responses, access, "record", lambda: _as_text(services, access)), etag=etag)


@blueprint.post("/v1/verifications")
@operation(VERIFY_RECORD)
def verify_record(services: Services) -> RawResponse:
    """Verify a record."""
    limit_expensive(services)
    negotiate(JSON)
    record = _sent_record(services)
    return ok(report_json(verify(record, services.yield_control, CHEAP_DECISIONS)))


@blueprint.post("/v1/replays")
@operation(REPLAY_RECORD)
def replay_record(services: Services) -> RawResponse:
    """Replay a record."""
    limit_expensive(services)
    negotiate(JSON)
    aspect = read_query(_replay_query_in)["aspect"]
    record = _sent_record(services)
    limit_places(services.limits, _tiles_laid(record))
    language = preferred_language()
    replayed = replay(record, aspect, language, services.yield_control)
    return ok(replay_json(record, replayed, aspect, services.yield_control), language=language)


def _sent_record(services: Services) -> Record:
    """The record in the body: the body itself, or in a JSON object."""
    try:
        if has_text():
            text = decode_record(read_text())
        else:
            text = validate(_recorded_in, read_json())["record"]
        idempotency(None, 1)  # nothing is made, so that there is nothing to repeat; but the key has to be one
        return parse_record(text, services.yield_control)
    except InvalidRecord as refusal:
        raise InvalidBody({"record": [refusal.reason]}) from refusal


def _tiles_laid(record: Record) -> int:
    return sum([isinstance(event, Played) for each in record.rounds for _, event in each.lines])


def _as_json(services: Services, access: Access) -> bytes:
    record = services.games.queries.record(access)
    return to_json(record_json(record, services.yield_control))


def _as_text(services: Services, access: Access) -> bytes:
    record = services.games.queries.record(access)
    services.yield_control()
    return format_record(record).encode()
