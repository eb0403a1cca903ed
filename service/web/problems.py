"""Refusals over HTTP: every error is ``application/problem+json`` (RFC 9457).

Owns the one table from the code of a refusal to its status and title, and what an error may say. Must
not know why a refusal was made; nothing here shows a stack trace, a token, or a hidden tile.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from service.engine.errors import InvalidSetup, Refusal
from service.games.errors import MoveRefused
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.web.middleware import EXTRA_HEADERS, PROBLEM_CODE, REQUEST_ID
from service.web.rate_limits import Quota, RateLimited, RateLimits
from service.web.serializers.game import moves_json

PROBLEM_JSON: Final = "application/problem+json"

_log = logging.getLogger(__name__)


class Problem(NamedTuple):
    """What a code means over HTTP."""

    status: int
    title: str
    description: str


PROBLEMS: Final[Mapping[str, Problem]] = {
    "malformed": Problem(400, "Malformed request", "The body is not JSON as this service reads it."),
    "unauthorized": Problem(401, "Unauthorized", "The token is wrong or missing for this game."),
    "forbidden": Problem(403, "Forbidden", "The join code is not this game's, or the token is another seat's."),
    "not_found": Problem(404, "Not found", "There is nothing at this address."),
    "method_not_allowed": Problem(405, "Method not allowed", "This address does not take this method; see `Allow`."),
    "not_acceptable": Problem(406, "Not acceptable", "None of the types in `Accept` can be given here."),
    "not_your_turn": Problem(409, "Not your turn", "Somebody else is to move, or the seat is out of the match."),
    "illegal_move": Problem(409, "Illegal move", "The rules do not allow this move now; see `legal_moves`."),
    "not_started": Problem(409, "Not started", "Seats are still open."),
    "round_over": Problem(409, "Round over", "The round is over; the next one has to be dealt."),
    "game_over": Problem(409, "Game over", "The match is over."),
    "seats_taken": Problem(409, "Seats taken", "No seat is open any more."),
    "stale_version": Problem(412, "Stale version", "The game has moved on; see `version` and `legal_moves`."),
    "too_large": Problem(413, "Too large", "The body is larger than 256 KiB."),
    "unsupported_media_type": Problem(415, "Unsupported media type", "A body is `application/json` in UTF-8."),
    "invalid": Problem(422, "Invalid", "The request cannot be taken as it is; see `errors`, by field."),
    "key_reused": Problem(422, "Key reused", "This `Idempotency-Key` stood for another request in the last 24 hours."),
    "rate_limited": Problem(429, "Too many requests", "This was too often within a minute; see `retry_after`."),
    "internal": Problem(500, "Internal error", "The service made a mistake; look at the game before you try again."),
    "storage_unavailable": Problem(
        503, "Storage unavailable", "The store cannot answer now, and nothing has changed; try again."
    ),
    "too_many_streams": Problem(
        503, "Too many streams", "No more streams can be opened here now; moves and views are served as ever."
    ),
    "outcome_unknown": Problem(
        503,
        "Outcome unknown",
        "Nobody knows whether this was made. Send it again with the same `Idempotency-Key`: it is made once at most.",
    ),
}

_STREAM_WAIT: Final = 5
"""Seconds after which a refused stream may be tried again."""

_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_FAILURES: Final = (401, 403, 404)
_GUARDED: Final = "/v1/games/"
"""Where refusals are counted, as they may be tries to find a game, a token or a join code."""


class RequestError(Exception):
    """A request that HTTP itself says no to, by its code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class TooManyStreams(Exception):
    """As many streams are open as this worker may hold."""


class InvalidBody(Exception):
    """A body, or a query, with wrong fields: the complaints, by the path of the field."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("invalid")
        self.errors = errors


def problem(code: str, detail: str, **more: object) -> Response:
    """The answer for that code; ``more`` are the fields that help."""
    status, title, _ = PROBLEMS[code]
    request.environ[PROBLEM_CODE] = code
    body = {"type": f"/docs#{code}", "title": title, "status": status, "detail": detail, "code": code, **more}
    response = Response(orjson.dumps(body), status, mimetype=PROBLEM_JSON)
    response.headers["Cache-Control"] = "no-store"
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="game"'
    return response


def install(app: Flask, limits: RateLimits) -> None:
    """Make ``app`` answer every error as a problem, and too many tries at games and tokens with one and the same."""

    def limited() -> Response | None:
        """What is answered instead of a refusal, after too many of them from one address."""
        if not request.path.startswith(_GUARDED):
            return None
        quota = limits.count_failure(request.environ.get("REMOTE_ADDR", ""))
        return None if quota is None else _rate_limited_problem(quota)

    def refusal(error: Refusal) -> Response:
        found = limited() if PROBLEMS[error.code].status in _FAILURES else None
        return found or _refusal(error)

    def http_exception(error: HTTPException) -> Response:
        found = limited() if error.code in _FAILURES else None
        return found or _http_exception(error)

    app.register_error_handler(Refusal, refusal)
    app.register_error_handler(RateLimited, _rate_limited)
    app.register_error_handler(InvalidSetup, _bad_setup)
    app.register_error_handler(MoveRefused, _move_refused)
    app.register_error_handler(RequestError, _bad_request)
    app.register_error_handler(InvalidBody, _invalid_body)
    app.register_error_handler(StorageUnavailable, _storage_unavailable)
    app.register_error_handler(OutcomeUnknown, _outcome_unknown)
    app.register_error_handler(TooManyStreams, _too_many_streams)
    app.register_error_handler(HTTPException, http_exception)
    app.register_error_handler(Exception, _internal)


def _refusal(refusal: Refusal) -> Response:
    return problem(refusal.code, refusal.sentence)


def _bad_setup(refusal: InvalidSetup) -> Response:
    return problem(refusal.code, "This game cannot be made.", errors=refusal.errors)


def _move_refused(refused: MoveRefused) -> Response:
    legal_moves = moves_json(refused.legal_moves, refused.version)
    return problem(refused.cause.code, refused.cause.sentence, version=refused.version, legal_moves=legal_moves)


def _bad_request(error: RequestError) -> Response:
    return problem(error.code, error.sentence)


def _invalid_body(error: InvalidBody) -> Response:
    return problem("invalid", "Some fields cannot be taken.", errors=error.errors)


def _storage_unavailable(error: StorageUnavailable) -> Response:
    _log.warning("storage unavailable: %s", error.reason, extra=_request_fields())
    return _try_again("storage_unavailable", error.retry_after)


def _outcome_unknown(error: OutcomeUnknown) -> Response:
    _log.warning("outcome unknown: %s", error.reason, extra=_request_fields())
    return _try_again("outcome_unknown", error.retry_after)


def _too_many_streams(_error: TooManyStreams) -> Response:
    return _try_again("too_many_streams", _STREAM_WAIT)


def _try_again(code: str, seconds: int) -> Response:
    response = problem(code, PROBLEMS[code].description, retry_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _http_exception(error: HTTPException) -> Response:
    code = _HTTP_CODES.get(error.code or 500)
    if code is None:
        # What Flask refuses by itself beyond these is a request that cannot be read.
        code = "malformed" if error.code and error.code < 500 else "internal"
    response = problem(code, PROBLEMS[code].description)
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers[name] = value
    return response


def _rate_limited(error: RateLimited) -> Response:
    return _rate_limited_problem(error.quota)


def _rate_limited_problem(quota: Quota) -> Response:
    request.environ[EXTRA_HEADERS] = quota.headers()
    return _try_again("rate_limited", quota.reset)


def _internal(error: Exception) -> Response:
    _log.error("internal error", exc_info=error, extra=_request_fields())
    return problem("internal", PROBLEMS["internal"].description)


def _request_fields() -> dict[str, object]:
    """The request that a line of the log is about."""
    return {"fields": {"request_id": request.environ.get(REQUEST_ID)}}
