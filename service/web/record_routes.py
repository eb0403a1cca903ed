"""``/v1/games/{game}/record`` and ``/v1/verifications``: a match to be kept, and to be checked."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint

from service.games.hosting import Games
from service.records.errors import BadRecord
from service.records.parsing import parse_record
from service.records.text import format_record
from service.records.verification import verify
from service.web import bodies, record_schemas
from service.web.entering import count_address, count_record, enter
from service.web.limiting import Limits
from service.web.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Answer, Operation, operation
from service.web.present_record import present_record, present_report
from service.web.problems import InvalidBody
from service.web.reading import accepted, check_accepts, known_already, load, read_json
from service.web.replies import JSON, Reply, not_modified, plain_reply, reply

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
                    headers=VIEW_HEADERS,
                    streams={TEXT: "The record in its notation."},
                )
            },
            problems=READ_PROBLEMS,
        )
    )
    def get_record(game: str) -> Reply:
        entered = enter(games, limits, game)
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
            problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable"),
        )
    )
    def verify_record() -> Reply:
        count_address(limits)
        check_accepts(JSON)
        text = load(_verification_in, read_json())["record"]
        count_record(limits, text)
        try:
            record = parse_record(text, breathe)
        except BadRecord as refusal:
            raise InvalidBody({"record": [str(refusal)]}) from refusal
        return reply(present_report(verify(record, breathe)))

    return routes
