"""The response to every error: ``application/problem+json`` (RFC 9457).

Owns the status of each code, and the content of the response. No response contains a stack trace, a token or a hidden
tile. Does not depend on the sentences of reasons (``service.texts``).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from random import randint
from time import monotonic
from typing import Final, NamedTuple
from urllib.parse import quote

import orjson
from flask import Flask, Response, request
from flask.globals import request_ctx
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from service.engine.errors import InvalidSetup, Reason, Refusal
from service.games.model.errors import MoveRefused, SecretChanged, TooManyGamesOfBots
from service.games.ports import Damaged
from service.limits.stored_bytes import ShareUsedUp
from service.outgoing.lookups import LookupFailed
from service.reasons import REASONS, sentence
from service.redis.errors import OVERLOADED, OutcomeUnknown, StorageUnavailable
from service.texts import Language, template, text
from service.web.http.body import PATCH_TYPES
from service.web.http.errors import InvalidBody, TooManyStreams, current_environ
from service.web.http.headers import preferred_language
from service.web.http.middleware import METHODS, PROBLEM_REASON, QUOTA, REQUEST_ID
from service.web.http.responses import allow
from service.web.quotas import request_network
from service.web.rate_limits import RateLimited
from service.web.services import current_services
from service.web.view.serializers import move_json


class Problem(NamedTuple):
    """The HTTP status of a code.

    ``only_reason``: the reason with this code, if there is only one; its sentence is the description of the code.
    """

    status: int
    only_reason: str | None = None


PROBLEMS: Final[Mapping[str, Problem]] = {
    "malformed": Problem(400),
    "unauthorized": Problem(401),
    "forbidden": Problem(403),
    "not_found": Problem(404),
    "method_not_allowed": Problem(405),
    "not_acceptable": Problem(406),
    "not_your_turn": Problem(409),
    "not_in_match": Problem(409),
    "illegal_move": Problem(409),
    "not_started": Problem(409),
    "round_over": Problem(409, "round_over"),
    "game_over": Problem(409, "game_over"),
    "seats_taken": Problem(409),
    "not_due": Problem(409),
    "not_away": Problem(409),
    "limit_reached": Problem(409),
    "not_finished": Problem(409, "not_finished"),
    "stale_version": Problem(412),
    "gone": Problem(410, "game_deleted"),
    "too_large": Problem(413),
    "uri_too_long": Problem(414, "uri_too_long"),
    "unsupported_media_type": Problem(415),
    "invalid": Problem(422),
    "key_reused": Problem(422, "key_reused"),
    "rate_limited": Problem(429),
    "internal": Problem(500),
    "storage_unavailable": Problem(503),
    "too_many_streams": Problem(503, "too_many_streams"),
    "lookup_unavailable": Problem(503),
    "outcome_unknown": Problem(503, "outcome_unknown"),
    "secret_changed": Problem(503, "secret_changed"),
}


SHARES: Final = frozenset({"share_used", "too_many_games_of_bots", "too_many_lookups"})
"""Reasons of ``limit_reached`` after which a later retry can succeed: their status is ``SHARE_STATUS``."""
SHARE_STATUS: Final = 429


def status_of(word: str) -> int:
    """Return the status of the response to a refusal for this reason."""
    return SHARE_STATUS if word in SHARES else PROBLEMS[REASONS[word]].status


def problem_title(code: str, language: Language) -> str:
    """Return the title of the problem with this code."""
    return text(f"problems.{code}.title", language)


def problem_description(code: str, language: Language) -> str:
    """Return what the problem with this code means."""
    word = PROBLEMS[code].only_reason
    return template(f"problems.{code}.description" if word is None else f"reasons.{word}", language)


PROBLEM_JSON: Final = "application/problem+json"

_log = logging.getLogger(__name__)


MAX_ERRORS: Final = 100
"""Maximum number of fields in ``causes``, and of causes."""
MAX_ERROR_CHARS: Final = 1000
"""Maximum length of a sentence, or of the path of a field."""

_SECONDS_BETWEEN_LINES: Final = 1.0
_STREAM_RETRY_SECONDS: Final = 5
"""Seconds after which a client may try to open a stream again."""

_LOOKUP_RETRY_SECONDS: Final = 5
"""Seconds after which a client may retry a request whose DNS lookup failed."""
_LOOKUP_REASONS: Final = {"share_used": "too_many_lookups", "no_room": "lookups_busy", "no_answer": "lookup_unanswered"}
"""The reason of a problem for each reason of ``LookupFailed``."""

_SECRET_RETRY_SECONDS: Final = 30
"""Seconds after which a request may reach a server with the right secret, while a new one is rolled out."""

_CHALLENGE: Final = 'Bearer realm="game"'
_INVALID_TOKEN: Final = f'{_CHALLENGE}, error="invalid_token"'
"""RFC 6750: for a well-formed token that is not accepted; in all other cases ``_CHALLENGE``."""
_NOT_ACCEPTED: Final = ("unknown_token", "unknown_key", "app_suspended")

_HTTP_REASONS: Final = {404: "not_found", 413: "too_large"}
_COUNTED_STATUSES: Final = (401, 403, 404)
_COUNTED_PREFIXES: Final = ("/v1/games/", "/v1/seats")
"""Paths whose failures are counted, as they may be attempts to guess a game id, a token or a join code.

On other paths only 401 is counted, as it may be an attempt to guess a key.
"""


def problem(reason: Reason, detail: str | None = None, **more: object) -> Response:
    """Return the response for this reason.

    ``detail``: replaces the sentence of the reason.
    ``more``: additional fields of the body.
    """
    code, status = REASONS[reason.word], status_of(reason.word)
    current_environ()[PROBLEM_REASON] = reason.word
    language = preferred_language()
    body: dict[str, object] = {
        "type": f"/problems#{code}",
        "title": problem_title(code, language),
        "status": status,
        "detail": _sentence(reason, language) if detail is None else detail,
        "code": code,
        "reason": reason.word,
    }
    response = Response(orjson.dumps(body | _params(reason) | more), status, mimetype=PROBLEM_JSON)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = language
    response.headers["Vary"] = "Accept-Language"
    if status == 401:
        response.headers["WWW-Authenticate"] = _INVALID_TOKEN if reason.word in _NOT_ACCEPTED else _CHALLENGE
    if status == 415 and request.method == "PATCH":
        response.headers["Accept-Patch"] = ", ".join(PATCH_TYPES)  # RFC 5789
    return response


def _sentence(reason: Reason, language: Language) -> str:
    """Return the sentence of a reason, truncated, as it can contain a value that the client sent."""
    return sentence(reason, language)[:MAX_ERROR_CHARS]


def _params(reason: Reason) -> dict[str, object]:
    """Return the field ``params``, if the reason has values; strings are truncated."""
    params = {
        name: value[:MAX_ERROR_CHARS] if isinstance(value, str) else value
        for name, value in reason.params.items()
        if value or value == 0
    }
    return {"params": params} if params else {}


def install(app: Flask) -> None:
    """Make ``app`` respond to every error with a problem, and with 429 after too many failures from one address."""
    app.register_error_handler(Refusal, _refusal)
    for share in (ShareUsedUp, TooManyGamesOfBots):
        app.register_error_handler(share, lambda error: _retry_after(error.reason, error.retry_after))
    app.register_error_handler(RateLimited, _rate_limited)
    for refused in (InvalidSetup, InvalidBody):
        app.register_error_handler(refused, _refused_fields)
    app.register_error_handler(MoveRefused, _refused_move)
    app.register_error_handler(Damaged, lambda _: problem(Reason("game_damaged")))
    app.register_error_handler(StorageUnavailable, _StorageTrouble().respond)
    app.register_error_handler(OutcomeUnknown, _outcome_unknown)
    app.register_error_handler(SecretChanged, _secret_changed)
    app.register_error_handler(TooManyStreams, lambda _: retry_later("too_many_streams", _STREAM_RETRY_SECONDS))
    app.register_error_handler(
        LookupFailed, lambda error: retry_later(_LOOKUP_REASONS[error.reason], _LOOKUP_RETRY_SECONDS)
    )
    app.register_error_handler(HTTPException, _http_exception)
    app.register_error_handler(Exception, _internal)


def _refusal(error: Refusal) -> Response:
    return _too_many_failures(status_of(error.reason.word)) or problem(error.reason)


def _too_many_failures(status: int) -> Response | None:
    """Count a response with this status if it is a failure; return 429 if its address had too many."""
    if status not in _COUNTED_STATUSES or (status != 401 and not request.path.startswith(_COUNTED_PREFIXES)):
        return None
    try:
        current_services().limits.count("failure", request_network())
    except RateLimited as limited:
        return _rate_limited(limited)
    return None


def _refused_move(error: MoveRefused) -> Response:
    legal_moves = [move_json(move, error.version) for move in error.legal_moves]
    return problem(error.cause.reason, version=error.version, to_act=list(error.to_act), legal_moves=legal_moves)


def _refused_fields(error: InvalidBody | InvalidSetup) -> Response:
    """Return a problem with the reasons of all fields; the first one is also the reason of the problem."""
    language = preferred_language()
    errors = {
        field[:MAX_ERROR_CHARS]: reasons[:MAX_ERRORS] for field, reasons in islice(error.errors.items(), MAX_ERRORS)
    }
    causes = [(field, reason) for field, reasons in errors.items() for reason in reasons]
    field, first = causes[0]
    detail = f"{field}: {_sentence(first, language)}" if field else _sentence(first, language)
    if len(causes) > 1:
        detail = f"{detail} {text('problems.more_fields', language)}"
    return problem(
        Reason(first.word, {"field": field, **first.params}),
        detail,
        causes=[
            {"field": field, "reason": reason.word, "detail": _sentence(reason, language)} | _params(reason)
            for field, reason in causes[:MAX_ERRORS]
        ],
    )


class _StorageTrouble:
    """Responds while the store is unavailable, and logs each reason at most once a second.

    Under overload or in an outage, every request would otherwise write a line.
    """

    def __init__(self) -> None:
        self._logged: dict[str, float] = {}
        self._more: Counter[str] = Counter()

    def respond(self, error: StorageUnavailable) -> Response:
        """Return the response; log the reason, with the number of times that it was not logged since the last line."""
        now, reason = monotonic(), error.reason
        if now - self._logged.get(reason, -_SECONDS_BETWEEN_LINES) < _SECONDS_BETWEEN_LINES:
            self._more[reason] += 1
        else:
            self._logged[reason] = now
            _log.warning("storage unavailable: %s", reason, extra=_request_fields(more=self._more.pop(reason, 0)))
        return retry_later("overloaded" if reason == OVERLOADED else "storage_unavailable", error.retry_after)


def _outcome_unknown(error: OutcomeUnknown) -> Response:
    _log.warning("outcome unknown: %s", error.reason, extra=_request_fields())
    return retry_later("outcome_unknown", error.retry_after)


def _secret_changed(_error: SecretChanged) -> Response:
    _log.error(
        "a request was repeated whose tokens were derived from a SECRET_KEY that this process does not have",
        extra=_request_fields(),
    )
    return retry_later("secret_changed", _SECRET_RETRY_SECONDS)


def retry_later(word: str, seconds: int) -> Response:
    """Return the response for a reason that may have disappeared after ``seconds``.

    ``Retry-After`` is random, from ``seconds`` to ``2 * seconds + 1``, so that clients do not all retry at once.
    """
    return _retry_after(Reason(word), randint(seconds, 2 * seconds + 1))  # noqa: S311 # spreads load, hides nothing


def _retry_after(reason: Reason, seconds: int) -> Response:
    response = problem(reason, retry_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _http_exception(error: HTTPException) -> Response:
    status = error.code or 500
    response = options_response(error) or redirect_without_slash(error) or _too_many_failures(status)
    if response is not None:
        return response
    if isinstance(error, MethodNotAllowed):
        methods = error.valid_methods or ()
        response = problem(Reason("method_not_allowed", {"allowed": sorted(methods)}), **suggested_path(error))
        response.headers["Allow"] = ", ".join(methods)
        return response
    # All other client errors of Flask are malformed requests.
    word = _HTTP_REASONS.get(status, "malformed" if status < 500 else "internal")
    return problem(Reason(word), **suggested_path(error))


def _rate_limited(error: RateLimited) -> Response:
    quota = error.quota
    current_environ()[QUOTA] = quota
    current_services().metrics.limited.labels(quota.name).inc()
    return _retry_after(Reason("rate_limited", {"limit": quota.name}), quota.reset)


def _internal(error: Exception) -> Response:
    _log.error("internal error", exc_info=error, extra=_request_fields())
    return problem(Reason("internal"))


def _request_fields(**more: object) -> dict[str, object]:
    """Return log fields with the id of the current request, and ``more``."""
    return {"fields": {"request_id": current_environ().get(REQUEST_ID), **more}}


# Responses to requests for paths without a route, and to GET requests for paths without GET. They depend on the routes
# alone, never on whether a game exists.


_GAMES: Final = "/v1/games/"


def options_response(error: HTTPException) -> Response | None:
    """Return a 204 response to ``OPTIONS`` for a path without a route; ``None`` for every other request.

    After a redirect or a 404 to a preflight request, a browser does not send the request itself, so that the page
    would not see the response to it. ``Allow`` has the methods of the path without its trailing slash; for ``*``, those
    of the service (RFC 9110, 9.3.7).
    """
    if error.code != 404 or request.method != "OPTIONS":
        return None
    return allow(METHODS if request.environ["PATH_INFO"] == "*" else {"OPTIONS", *_methods_without_slash()})


def redirect_without_slash(error: HTTPException) -> Response | None:
    """Return a 308 response if the path has no route because of a trailing slash; ``None`` for every other error.

    The location is relative, so that it works behind any proxy and cannot lead to another host.
    """
    if error.code != 404 or request.url_rule is not None or not _methods_without_slash():
        return None
    location = "../" + quote(request.path.split("/")[-2], safe="")
    if request.query_string:
        location += "?" + quote(request.query_string, safe="!$%&'()*+,/:;=?@")
    return Response(status=308, headers={"Location": location, "Cache-Control": "public, no-cache"})


def _methods_without_slash() -> Iterable[str]:
    """Return the methods of the path without its trailing slash; none if it has no slash, or no such path exists."""
    adapter, path = request_ctx.url_adapter, request.path
    return adapter.allowed_methods(path[:-1]) if adapter is not None and path.endswith("/") else ()


def suggested_path(error: HTTPException) -> dict[str, str]:
    """Return the field ``see`` of a problem: the path, as in the OpenAPI document, that the client may have meant."""
    in_game = request.path.startswith(_GAMES)
    if error.code == 405 and request.method in ("GET", "HEAD"):
        return {"see": "/v1/games/{game}" if in_game else "/"}
    return {"see": "/"} if error.code == 404 and not in_game else {}
