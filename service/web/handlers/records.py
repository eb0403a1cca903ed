"""``/v1/games/{game}/record`` and ``/v1/verifications``: a match to be kept, and to be checked."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint

from service.games.commands import GameService
from service.records.errors import InvalidRecord
from service.records.parser import parse_record
from service.records.verification import verify
from service.records.writer import format_record
from service.web.guards import authenticate, limit_address, limit_record
from service.web.openapi.operations import (
    BODY_PROBLEMS,
    READ_PROBLEMS,
    VIEW_HEADERS,
    Operation,
    ResponseSpec,
    operation,
)
from service.web.problems import InvalidBody
from service.web.rate_limits import RateLimits
from service.web.request_parsing import check_accepts, etag_matches, negotiate, read_json, validate
from service.web.responses import JSON, RawResponse, not_modified, ok, plain
from service.web.schemas import records as record_schemas
from service.web.schemas import requests as request_schemas
from service.web.serializers.records import record_json, report_json

TEXT = "text/plain"

_verification_in = request_schemas.VerificationIn()


def blueprint(games: GameService, limits: RateLimits, yield_control: Callable[[], None]) -> Blueprint:
    """The routes of records. ``yield_control`` lets others run in long work."""
    routes = Blueprint("records", __name__)

    @routes.get("/v1/games/<game>/record")
    @operation(
        Operation(
            id="getRecord",
            tag="records",
            summary="Keep a match",
            description="The whole match in one notation, as PGN is for chess: who played what by which rules, every "
            "deal with its luck, every move, every count. By `Accept` as text (`docs/record.md` of the service "
            "defines it) or as JSON. Of a round that still runs it tells what the bearer of the token has seen, or a "
            "spectator; of all others everything. The text can be checked (`POST /v1/verifications`) and played on "
            "(`from` in `POST /v1/games`).",
            access="spectator",
            headers=("If-None-Match",),
            responses={
                200: ResponseSpec(
                    description="The record.",
                    schema=record_schemas.Record,
                    headers=VIEW_HEADERS,
                    streams={TEXT: "The record in its notation."},
                )
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_record(game: str) -> RawResponse:
        entered = authenticate(games, limits, game)
        media_type = negotiate(TEXT, JSON)
        etag = f"{entered.etag}-{'text' if media_type == TEXT else 'json'}"
        if etag_matches(etag):
            return not_modified(etag)
        record = games.queries.record(entered)
        if media_type == TEXT:
            return plain(format_record(record), etag=etag)
        return ok(record_json(record), etag=etag)

    @routes.post("/v1/verifications")
    @operation(
        Operation(
            id="verifyRecord",
            tag="records",
            summary="Check a record",
            description="Checks the record of a match, wherever it comes from: every seed against its commitment, "
            "every deal against its seed, every move and every count against the rules. Of a partial record the "
            "running round is checked in its form alone: its tiles, their places on the table, the sums of the ends "
            "and the points, but not whose turn it was, nor whether somebody had to play. Nothing is kept of it. A "
            "text that is no record is `invalid`, with line and column.",
            body=request_schemas.VerificationIn,
            responses={
                200: ResponseSpec(
                    description="What was checked, and what was found to be wrong.",
                    schema=record_schemas.Verification,
                    headers=("Cache-Control", "Vary"),
                    limited=True,
                )
            },
            problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable"),
        )
    )
    def verify_record() -> RawResponse:
        limit_address(limits)
        check_accepts(JSON)
        text = validate(_verification_in, read_json())["record"]
        limit_record(limits, text)
        try:
            record = parse_record(text, yield_control)
        except InvalidRecord as refusal:
            raise InvalidBody({"record": [str(refusal)]}) from refusal
        return ok(report_json(verify(record, yield_control)))

    return routes
