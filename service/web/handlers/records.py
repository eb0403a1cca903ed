"""Fairness and records: ``/v1/games/{game}/fairness``, ``/v1/games/{game}/record``, ``/v1/verifications``."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.games.access import Access
from service.records.errors import InvalidRecord
from service.records.parser import decode_record, parse_record
from service.records.verification import verify
from service.records.writer import format_record
from service.web.access import limit_address, operation
from service.web.openapi.record_operations import GET_FAIRNESS, GET_RECORD, VERIFY_RECORD
from service.web.problems import InvalidBody
from service.web.request_parsing import etag_matches, has_text, negotiate, read_json, read_text, validate
from service.web.response_cache import cached_body, cached_json
from service.web.responses import JSON, TEXT, RawResponse, not_modified, ok, ok_json, plain, to_json
from service.web.schemas import requests as request_schemas
from service.web.serializers.fairness import fairness_json
from service.web.serializers.records import record_json, report_json
from service.web.services import Services

blueprint: Final = Blueprint("records", __name__)

_verification_in: Final = request_schemas.VerificationIn()


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
    limit_address(services)
    negotiate(JSON)
    try:
        record = parse_record(_sent_record(), services.yield_control)
    except InvalidRecord as refusal:
        raise InvalidBody({"record": [refusal.reason]}) from refusal
    return ok(report_json(verify(record, services.yield_control)))


def _sent_record() -> str:
    """The record in the body: the body itself, or in a JSON object. Raises ``InvalidRecord`` if it is not UTF-8."""
    if has_text():
        return decode_record(read_text())
    record: str = validate(_verification_in, read_json())["record"]
    return record


def _as_json(services: Services, access: Access) -> bytes:
    record = services.games.queries.record(access)
    return to_json(record_json(record, services.yield_control))


def _as_text(services: Services, access: Access) -> bytes:
    record = services.games.queries.record(access)
    services.yield_control()
    return format_record(record).encode()
