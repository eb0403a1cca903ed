"""Fairness and records.

``/v1/games/{game}/fairness``, ``/v1/games/{game}/record``, ``/v1/verifications`` and ``/v1/replays``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import orjson
from flask import Blueprint

from service.games.access import Access
from service.records.bot_checks import CHEAP_DECISIONS
from service.records.parser import count_plays, decode_record, parse_record
from service.records.record import InvalidRecord, Record
from service.records.verification import verify
from service.records.writer import FILE_SUFFIX, MEDIA_TYPE, format_record
from service.render.replays import replay
from service.web.http.body import read_text
from service.web.http.errors import InvalidBody
from service.web.http.headers import etag_matches, idempotency, negotiate, preferred_language, read_query
from service.web.http.responses import (
    JSON,
    TEXT,
    RawResponse,
    cached_body,
    cached_json,
    not_modified,
    ok,
    ok_json,
    plain,
)
from service.web.operation import Operation, ResponseSpec
from service.web.quotas import PLACES_PER_READ, limit_expensive, limit_reads
from service.web.records.schemas import (
    FairnessSchema,
    MatchRecordSchema,
    ReplayQuerySchema,
    ReplaySchema,
    VerificationSchema,
)
from service.web.records.serializers import fairness_json, record_json, replay_json, report_json
from service.web.services import Services

blueprint: Final = Blueprint("records", __name__)

_replay_query_in: Final = ReplayQuerySchema()
_RECORD_TYPES: Final = (TEXT, MEDIA_TYPE)
_ETAG_SUFFIXES: Final = {JSON: "json", TEXT: "text", MEDIA_TYPE: "record"}
_RECORD_BODY: Final = dict.fromkeys(_RECORD_TYPES, "The record itself.")


@blueprint.get("/v1/games/<game>/fairness")
@Operation(
    id="getFairness",
    tag="records",
    access="spectator",
    headers=("If-None-Match",),
    responses={200: ResponseSpec(description="What is revealed of the deals so far.", schema=FairnessSchema)},
)
def get_fairness(services: Services, access: Access) -> RawResponse:
    """Get the fairness report of a game.

    For every round the commitment to its seed, published before the deal; the client seeds, from the deal on; and when
    the round is over the seed itself, with the hands and the stock as they were dealt. From these anybody can repeat
    the deal and compare: `docs/fairness.md` of the source code explains how, and `docs/verify` contains two programs
    that do it. The same for all viewers. It does not prove that the server keeps the hands secret. For an arranged game
    there is nothing to prove.
    """
    return cached_json(
        services.responses, access, "fairness", lambda: fairness_json(services.games.queries.fairness(access))
    )


@blueprint.get("/v1/games/<game>/record")
@Operation(
    id="getRecord",
    tag="records",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(
            description="The record.",
            schema=MatchRecordSchema,
            streams=dict.fromkeys(_RECORD_TYPES, "The record in its notation."),
            headers=("Content-Disposition",),
        )
    },
)
def get_record(services: Services, access: Access) -> RawResponse:
    """Get the record of a match.

    The whole match in one notation, like PGN for chess: the players and rules, every deal with its proof, every move,
    and the result of every round. By `Accept` as JSON, or as text (defined in `docs/record.md` of the source code)
    where `text/vnd.domino-record` or `text/plain` has a higher weight than JSON; a browser saves it as a file
    `.domino`. A round in progress contains only what the bearer of the token has seen, or a spectator; all others are
    complete. The text can be verified (`POST /v1/verifications`) and continued (`continues` in `POST /v1/games`).
    """
    media_type = negotiate(JSON, *_RECORD_TYPES)
    etag = f"{access.etag}-{_ETAG_SUFFIXES[media_type]}"
    if etag_matches(etag):
        return not_modified(etag)

    def make() -> bytes:
        record = services.games.queries.record(access)
        if media_type == JSON:
            return orjson.dumps(record_json(record, services.yield_control))
        services.yield_control()
        return format_record(record).encode()

    if media_type == JSON:
        return ok_json(cached_body(services.responses, access, "record as JSON", make), etag=etag)
    body = cached_body(services.responses, access, "record", make)
    return plain(body, etag=etag, media_type=media_type, file_name=f"{access.game.id}{FILE_SUFFIX}")


@blueprint.post("/v1/verifications")
@Operation(
    id="verifyRecord",
    tag="records",
    headers=("Idempotency-Key",),
    text_body=_RECORD_BODY,
    responses={200: ResponseSpec(description="What was checked, and the findings.", schema=VerificationSchema)},
)
def verify_record(services: Services) -> RawResponse:
    """Verify a record.

    Verifies the record of any match: every seed against its commitment, every deal against its seed, every move and
    every result against the rules. A round with hidden tiles, such as a round in progress, cannot be checked: it is
    reported as the finding `hidden_tile`, and all earlier rounds are checked. The record is not stored. It may contain
    what editors and mail programs add: a byte order mark, carriage returns, white space at the ends of lines, blank
    lines around. A text that is not a record is `invalid`, with line and column.
    """
    limit_expensive(services)
    negotiate(JSON)
    record = _sent_record(services)
    return ok(report_json(verify(record, services.yield_control, CHEAP_DECISIONS)))


@blueprint.post("/v1/replays")
@Operation(
    id="replayRecord",
    tag="records",
    headers=("Accept-Language", "Idempotency-Key"),
    query=ReplayQuerySchema,
    text_body=_RECORD_BODY,
    responses={200: ResponseSpec(description="The match, round by round.", schema=ReplaySchema)},
)
def replay_record(services: Services) -> RawResponse:
    """Replay a record.

    The match of any record, to be shown step by step: for every round the hands, the last table with the place of every
    tile, and every event with a sentence on it. The moves are checked against the rules, but the seeds are not (`POST
    /v1/verifications` checks them). Where moves break the rules, or hide tiles, the replay ends, and `fault` says why.
    The record is not stored. A text that is not a record is `invalid`, with line and column.
    """
    limit_expensive(services)
    negotiate(JSON)
    aspect = read_query(_replay_query_in)["aspect"]
    record = _sent_record(
        services, lambda text: limit_reads(services.limits, count_plays(text), per_read=PLACES_PER_READ)
    )
    language = preferred_language()
    replayed = replay(record, aspect, language, services.yield_control)
    return ok(replay_json(record, replayed, aspect, services.yield_control), language=language)


def _sent_record(services: Services, admit: Callable[[str], None] = lambda _: None) -> Record:
    """Return the record in the body; ``admit`` gets its text before it is parsed."""
    try:
        text = decode_record(read_text(_RECORD_TYPES))
        idempotency(None)  # checks the key; nothing is created, so no response is stored under it
        admit(text)
        return parse_record(text, services.yield_control)
    except InvalidRecord as refusal:
        raise InvalidBody({"": [refusal.reason]}) from refusal
