"""The operations on records and fairness: what the OpenAPI document says of them, and who may call them."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import BODY_PROBLEMS, READ_PROBLEMS, VIEW_HEADERS, Operation, ResponseSpec
from service.web.responses import TEXT
from service.web.schemas import records as record_schemas
from service.web.schemas import requests as request_schemas

GET_RECORD: Final = Operation(
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

VERIFY_RECORD: Final = Operation(
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

GET_FAIRNESS: Final = Operation(
    id="getFairness",
    tag="records",
    summary="Check the luck of a game",
    description="For every round the commitment to its seed, told before; what each seat has added, from the "
    "deal on; and when the round is over the seed itself, with the hands and the stock as they were dealt. "
    "From these anybody can deal again and compare: `docs/fairness.md` of the service says how, and beside it "
    "are two small programs that do it. The same for everybody. It does not prove that the server "
    "shows nobody the hands. Of an arranged game there is nothing to prove.",
    access="spectator",
    headers=("If-None-Match",),
    responses={
        200: ResponseSpec(
            description="The luck of the game, as far as it is told by now.",
            schema=record_schemas.Fairness,
            headers=VIEW_HEADERS,
        )
    },
    problems=READ_PROBLEMS,
)
