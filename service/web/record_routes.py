"""``/v1/games/{game}/record`` and ``/v1/verifications``: a match to be kept, and to be checked."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, request

from service.games.hosting import Games
from service.records.errors import BadRecord
from service.records.parsing import parse_record
from service.records.text import format_record
from service.records.verification import verify
from service.web import bodies, record_schemas
from service.web.limiting import Limits
from service.web.operations import Answer, Operation, operation
from service.web.present_record import present_record, present_report
from service.web.problems import InvalidBody
from service.web.reading import accepted, bearer_token, check_accepts, known_already, load, read_json
from service.web.replies import JSON, Reply, not_modified, plain_reply, reply
from service.web.watching import MORE_HEADERS

TEXT = "text/plain"

_verification_in = bodies.VerificationIn()


def blueprint(games: Games, limits: Limits, breathe: Callable[[], None]) -> Blueprint:
    """The routes of records. ``breathe`` lets others run in long work."""
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
            answers={
                200: Answer(
                    meaning="The record.",
                    schema=record_schemas.Record,
                    headers=("ETag", "Cache-Control", "Vary"),
                    streams={TEXT: "The record in its notation."},
                )
            },
            problems=("unauthorized", "not_found", "rate_limited", "not_acceptable"),
        )
    )
    def get_record(game: str) -> Reply:
        entered = games.enter(game, bearer_token())
        limits.seat(game, entered.seat)
        media_type = accepted(TEXT, JSON)
        etag = f"{entered.etag}-{'text' if media_type == TEXT else 'json'}"
        if known_already(etag):
            return not_modified(etag)
        record = games.chronicle.record(entered)
        if media_type == TEXT:
            return plain_reply(format_record(record), etag=etag)
        return reply(present_record(record), etag=etag)

    @routes.post("/v1/verifications")
    @operation(
        Operation(
            id="verifyRecord",
            tag="records",
            summary="Check a record",
            description="Checks the record of a match, wherever it comes from: every seed against its commitment, "
            "every deal against its seed, every move and every count against the rules. Nothing is kept of it. A text "
            "that is no record is `invalid`, with line and column.",
            body=bodies.VerificationIn,
            answers={
                200: Answer(
                    meaning="What was checked, and what was found to be wrong.",
                    schema=record_schemas.Verification,
                    headers=("Cache-Control", "Vary"),
                    limited=True,
                )
            },
            problems=("malformed", "too_large", "unsupported_media_type", "invalid", "rate_limited", "not_acceptable"),
        )
    )
    def verify_record() -> Reply:
        quota = limits.create(request.environ.get("REMOTE_ADDR", ""))
        if quota is not None:
            request.environ[MORE_HEADERS] = quota.headers()
        check_accepts(JSON)
        text = load(_verification_in, read_json())["record"]
        try:
            record = parse_record(text)
        except BadRecord as refusal:
            raise InvalidBody({"record": [str(refusal)]}) from refusal
        return reply(present_report(verify(record, breathe)))

    return routes
