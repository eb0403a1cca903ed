"""Refusals over HTTP: every error is ``application/problem+json`` (RFC 9457).

Owns the only table from the code of a refusal to its status, title and description. Does not depend on the reason of a
refusal; no response contains a stack trace, a token or a hidden tile.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import islice
from typing import Final, NamedTuple

import orjson
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from service.engine.errors import InvalidSetup, Refusal
from service.games.errors import MoveRefused, SecretChanged
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.web.middleware import EXTRA_HEADERS, PROBLEM_CODE, REQUEST_ID
from service.web.rate_limits import Quota, RateLimited, RateLimits
from service.web.serializers.game import moves_json
from service.web.wrong_paths import redirect_without_slash, see

PROBLEM_JSON: Final = "application/problem+json"

_log = logging.getLogger(__name__)


class Problem(NamedTuple):
    """The meaning of a code over HTTP."""

    status: int
    title: str
    description: str


PROBLEMS: Final[Mapping[str, Problem]] = {
    "malformed": Problem(400, "Malformed request", "The body is not well-formed JSON, or a header is too long."),
    "unauthorized": Problem(401, "Unauthorized", "The token is missing, or not valid for this game."),
    "forbidden": Problem(
        403, "Forbidden", "The join code is wrong, the token belongs to another seat, or the client is banned."
    ),
    "not_found": Problem(404, "Not found", "There is no such resource."),
    "method_not_allowed": Problem(405, "Method not allowed", "This resource does not support the method; see `Allow`."),
    "not_acceptable": Problem(406, "Not acceptable", "None of the types in `Accept` is available."),
    "not_your_turn": Problem(409, "Not your turn", "It is another seat's turn, or the seat is out of the match."),
    "illegal_move": Problem(409, "Illegal move", "The rules do not allow this move now; see `legal_moves`."),
    "not_started": Problem(409, "Not started", "Seats are still open."),
    "round_over": Problem(409, "Round over", "The round is over; the next one must be dealt."),
    "game_over": Problem(409, "Game over", "The match is over."),
    "seats_taken": Problem(409, "Seats taken", "There is no open seat left."),
    "stale_version": Problem(412, "Stale version", "The match has gone on; see `version` and `legal_moves`."),
    "too_large": Problem(413, "Too large", "The body is larger than 256 KiB."),
    "uri_too_long": Problem(414, "Address too long", "The address, with its query, is longer than 4,000 characters."),
    "unsupported_media_type": Problem(415, "Unsupported media type", "The body must be `application/json` in UTF-8."),
    "invalid": Problem(422, "Invalid", "Some fields are invalid; see `errors`, by field."),
    "key_reused": Problem(
        422, "Key reused", "This `Idempotency-Key` was used for another request within the last 24 hours."
    ),
    "rate_limited": Problem(429, "Too many requests", "The rate limit is exceeded; see `retry_after`."),
    "internal": Problem(500, "Internal error", "An unexpected error occurred. Get the game before you retry."),
    "storage_unavailable": Problem(
        503, "Storage unavailable", "The store is not available. Nothing has changed; retry later."
    ),
    "too_many_streams": Problem(
        503, "Too many streams", "No more streams can be opened now; moves and views are not affected."
    ),
    "outcome_unknown": Problem(
        503,
        "Outcome unknown",
        "It is not known whether the request took effect. Repeat it with the same `Idempotency-Key`, so that it takes "
        "effect at most once.",
    ),
    "secret_changed": Problem(
        503,
        "Secret changed",
        "An earlier request with this `Idempotency-Key` took effect, but this server cannot repeat the tokens of its "
        "response: it has another `SECRET_KEY`. Repeat it later, as another server may have the right one.",
    ),
}

MAX_ERRORS: Final = 100
"""The most fields in ``errors``, and the most messages of one field."""
MAX_ERROR_CHARS: Final = 1000
"""The most characters of a message in ``errors``, or of the path of a field."""

_STREAM_RETRY_SECONDS: Final = 5
"""Seconds after which a client may try to open a stream again."""

_SECRET_RETRY_SECONDS: Final = 30
"""Seconds after which a request may reach a server with the right secret, while a new one is rolled out."""

_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_COUNTED_STATUSES: Final = (401, 403, 404)
_COUNTED_PREFIX: Final = "/v1/games/"
"""Paths whose failures are counted, as they may be attempts to guess a game id, a token or a join code."""


class RequestError(Exception):
    """A request that is rejected at the level of HTTP, with the code of the problem."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class TooManyStreams(Exception):
    """This worker has reached its limit of open streams, or is about to stop."""


class InvalidBody(Exception):
    """A body, query or header with invalid fields: the messages by the path of the field."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("invalid")
        self.errors = errors


def problem(code: str, detail: str, **more: object) -> Response:
    """The response for a code; ``more`` are additional fields."""
    status, title, _ = PROBLEMS[code]
    request.environ[PROBLEM_CODE] = code
    body = {"type": f"/docs#{code}", "title": title, "status": status, "detail": detail, "code": code, **more}
    response = Response(orjson.dumps(body), status, mimetype=PROBLEM_JSON)
    response.headers["Cache-Control"] = "no-store"
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="game"'
    return response


def install(app: Flask, limits: RateLimits) -> None:
    """Make ``app`` answer every error as a problem, and too many failures of one address all with the same one."""

    def limited() -> Response | None:
        """The response after too many failures from one address, in place of the refusal."""
        if not request.path.startswith(_COUNTED_PREFIX):
            return None
        quota = limits.count_failure(request.environ.get("REMOTE_ADDR", ""))
        return None if quota is None else _rate_limited_problem(quota)

    def refusal(error: Refusal) -> Response:
        rate_limited = limited() if PROBLEMS[error.code].status in _COUNTED_STATUSES else None
        return rate_limited or _refusal(error)

    def http_exception(error: HTTPException) -> Response:
        redirect = redirect_without_slash(error)
        if redirect is not None:
            return redirect
        rate_limited = limited() if error.code in _COUNTED_STATUSES else None
        return rate_limited or _http_exception(error)

    app.register_error_handler(Refusal, refusal)
    app.register_error_handler(RateLimited, _rate_limited)
    app.register_error_handler(InvalidSetup, _invalid_setup)
    app.register_error_handler(MoveRefused, _move_refused)
    app.register_error_handler(RequestError, _request_error)
    app.register_error_handler(InvalidBody, _invalid_body)
    app.register_error_handler(StorageUnavailable, _storage_unavailable)
    app.register_error_handler(OutcomeUnknown, _outcome_unknown)
    app.register_error_handler(SecretChanged, _secret_changed)
    app.register_error_handler(TooManyStreams, _too_many_streams)
    app.register_error_handler(HTTPException, http_exception)
    app.register_error_handler(Exception, _internal)


def _refusal(refusal: Refusal) -> Response:
    return problem(refusal.code, refusal.sentence)


def _invalid_setup(refusal: InvalidSetup) -> Response:
    return problem(refusal.code, "This game cannot be created.", errors=_bounded(refusal.errors))


def _move_refused(refused: MoveRefused) -> Response:
    legal_moves = moves_json(refused.legal_moves, refused.version)
    return problem(
        refused.cause.code,
        refused.cause.sentence,
        version=refused.version,
        to_act=list(refused.to_act),
        legal_moves=legal_moves,
    )


def _bounded(errors: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The first errors, each shortened, as names of fields and messages may contain what the client sent."""
    return {
        name[:MAX_ERROR_CHARS]: [message[:MAX_ERROR_CHARS] for message in messages[:MAX_ERRORS]]
        for name, messages in islice(errors.items(), MAX_ERRORS)
    }


def _request_error(error: RequestError) -> Response:
    return problem(error.code, error.sentence)


def _invalid_body(error: InvalidBody) -> Response:
    return problem("invalid", "Some fields are invalid.", errors=_bounded(error.errors))


def _storage_unavailable(error: StorageUnavailable) -> Response:
    _log.warning("storage unavailable: %s", error.reason, extra=_request_fields())
    return retry_later("storage_unavailable", error.retry_after)


def _outcome_unknown(error: OutcomeUnknown) -> Response:
    _log.warning("outcome unknown: %s", error.reason, extra=_request_fields())
    return retry_later("outcome_unknown", error.retry_after)


def _secret_changed(_error: SecretChanged) -> Response:
    _log.error(
        "a request was repeated whose tokens were derived from a SECRET_KEY that this process does not have",
        extra=_request_fields(),
    )
    return retry_later("secret_changed", _SECRET_RETRY_SECONDS)


def _too_many_streams(_error: TooManyStreams) -> Response:
    return retry_later("too_many_streams", _STREAM_RETRY_SECONDS)


def retry_later(code: str, seconds: int) -> Response:
    """The response for a code whose cause may have passed after so many seconds."""
    response = problem(code, PROBLEMS[code].description, retry_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _http_exception(error: HTTPException) -> Response:
    code = _HTTP_CODES.get(error.code or 500)
    if code is None:
        # All other client errors of Flask are malformed requests.
        code = "malformed" if error.code and error.code < 500 else "internal"
    response = problem(code, PROBLEMS[code].description, **see(error))
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers[name] = value
    return response


def _rate_limited(error: RateLimited) -> Response:
    return _rate_limited_problem(error.quota)


def _rate_limited_problem(quota: Quota) -> Response:
    request.environ[EXTRA_HEADERS] = quota.headers()
    return retry_later("rate_limited", quota.reset)


def _internal(error: Exception) -> Response:
    _log.error("internal error", exc_info=error, extra=_request_fields())
    return problem("internal", PROBLEMS["internal"].description)


def _request_fields() -> dict[str, object]:
    """The fields that identify the current request in the log."""
    return {"fields": {"request_id": request.environ.get(REQUEST_ID)}}
