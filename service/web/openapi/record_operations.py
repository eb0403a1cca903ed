"""The descriptions of the operations on records and fairness, with the access they require."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Operation, ResponseSpec
from service.web.responses import TEXT
from service.web.schemas import records as record_schemas
from service.web.schemas import requests as request_schemas

GET_RECORD: Final = Operation(
    id="getRecord",
    tag="records",
    summary="Get the record of a match",
    description="The whole match in one notation, like PGN for chess: the players and rules, every deal with its "
    "proof, every move, and the result of every round. By `Accept` as JSON, or as `text/plain` (defined in "
    "`docs/record.md` of the source code) where it has a higher weight than JSON. A round in progress contains only "
    "what the bearer of the token has seen, or a spectator; all others are complete. The text can be verified "
    "(`POST /v1/verifications`) and continued (`from` in `POST /v1/games`).",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(
            description="The record.",
            schema=record_schemas.MatchRecordSchema,
            headers=VIEW_HEADERS,
            streams={TEXT: "The record in its notation."},
        )
    },
    problems=READ_PROBLEMS,
)

VERIFY_RECORD: Final = Operation(
    id="verifyRecord",
    tag="records",
    summary="Verify a record",
    description="Verifies the record of any match: every seed against its commitment, every deal against its "
    "seed, every move and every result against the rules. In a partial record the "
    "current round is checked only in part: its tiles, their places on the table, the sums of the ends and the points, "
    "but not whose turn it was, nor whether a seat had to play. The record is not stored. A text that is not a record "
    "is `invalid`, with line and column.",
    headers=("Idempotency-Key",),
    body=request_schemas.RecordedInSchema,
    text_body="The record itself.",
    responses={
        200: ResponseSpec(
            description="What was checked, and the findings.",
            schema=record_schemas.VerificationSchema,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable"),
)

REPLAY_RECORD: Final = Operation(
    id="replayRecord",
    tag="records",
    summary="Replay a record",
    description="The match of any record, to be shown step by step: for every round the hands, the last table with the "
    "place of every tile, and every event with a sentence on it. The moves are checked against the rules, but not the "
    "seeds (`POST /v1/verifications`): where they break the rules the replay ends, and `fault` says why. A record that "
    "is partial is replayed as far as its viewer has seen the match. The record is not stored. A text that is not a "
    "record is `invalid`, with line and column.",
    headers=("Accept-Language", "Idempotency-Key"),
    query=request_schemas.ReplayQuerySchema,
    body=request_schemas.RecordedInSchema,
    text_body="The record itself.",
    responses={
        200: ResponseSpec(
            description="The match, round by round.",
            schema=record_schemas.ReplaySchema,
            headers=("Cache-Control", "Vary", "Content-Language"),
            limited=True,
        )
    },
    problems=(*BODY_PROBLEMS, "rate_limited", "not_acceptable"),
)

GET_FAIRNESS: Final = Operation(
    id="getFairness",
    tag="records",
    summary="Get the fairness report of a game",
    description="For every round the commitment to its seed, published before the deal; the client seeds, from the "
    "deal on; and when the round is over the seed itself, with the hands and the stock as they were dealt. "
    "From these anybody can repeat the deal and compare: `docs/fairness.md` of the source code explains how, and "
    "`docs/verify` contains two programs that do it. The same for all viewers. It does not prove that the server "
    "reveals the hands to nobody. For an arranged game there is nothing to prove.",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(
            description="What is revealed of the deals so far.",
            schema=record_schemas.FairnessSchema,
            headers=VIEW_HEADERS,
        )
    },
    problems=READ_PROBLEMS,
)
