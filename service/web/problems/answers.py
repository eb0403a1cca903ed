"""Refusals over HTTP: every error is ``application/problem+json`` (RFC 9457).

Owns the only table from the code of a refusal to its status, title and description. The sentences of their reasons are
in ``service.reasons``. No response contains a stack trace, a token or a hidden tile.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import islice
from typing import Final, NamedTuple

import orjson
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from service.engine.errors import InvalidSetup, Reason, Refusal
from service.engine.options import LocalizedText
from service.games.model.errors import MoveRefused, SecretChanged
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.games.queries.catalogue import Language, localize
from service.reasons import REASONS, sentence
from service.web.http.body import PATCH_TYPES
from service.web.http.errors import InvalidBody, RequestError, TooManyStreams
from service.web.http.headers import accepted_language
from service.web.http.middleware import EXTRA_HEADERS, PROBLEM_CODE, REQUEST_ID
from service.web.http.wrong_paths import redirect_without_slash, see
from service.web.rate_limits import Quota, RateLimited, RateLimits
from service.web.view.serializers import moves_json

PROBLEM_JSON: Final = "application/problem+json"

_log = logging.getLogger(__name__)


class Problem(NamedTuple):
    """The meaning of a code over HTTP."""

    status: int
    title: LocalizedText
    description: LocalizedText


def _problem(status: int, title: str, titel: str, description: str, beschreibung: str) -> Problem:
    return Problem(status, LocalizedText(title, titel), LocalizedText(description, beschreibung))


def _single(status: int, title: str, titel: str, word: str) -> Problem:
    """The meaning of a code with a single reason, whose sentence describes it."""
    return Problem(status, LocalizedText(title, titel), REASONS[word].text)


PROBLEMS: Final[Mapping[str, Problem]] = {
    "malformed": _problem(
        400,
        "Malformed request",
        "Fehlerhafte Anfrage",
        "The request is not well-formed HTTP, or its body is not well-formed JSON; see `params`.",
        "Die Anfrage ist kein wohlgeformtes HTTP, oder ihr Inhalt kein wohlgeformtes JSON; siehe `params`.",
    ),
    "unauthorized": _problem(
        401,
        "Unauthorized",
        "Nicht angemeldet",
        "The token or key is missing, or not valid for this.",
        "Das Token oder der Schlüssel fehlt oder gilt hierfür nicht.",
    ),
    "forbidden": _problem(
        403,
        "Forbidden",
        "Nicht erlaubt",
        "The join code is wrong, the token does not give access to this, the client is banned, or only the operator "
        "may do this.",
        "Der Beitrittscode ist falsch, das Token reicht dafür nicht, der Client ist gesperrt, oder nur der Betreiber "
        "darf das.",
    ),
    "not_found": _problem(
        404, "Not found", "Nicht gefunden", "There is no such resource.", "Diese Ressource gibt es nicht."
    ),
    "method_not_allowed": _problem(
        405,
        "Method not allowed",
        "Methode nicht möglich",
        "This resource does not support the method; see `Allow`.",
        "Diese Ressource kennt die Methode nicht; siehe `Allow`.",
    ),
    "not_acceptable": _problem(
        406,
        "Not acceptable",
        "Kein passender Typ",
        "None of the types in `Accept` is available.",
        "Keiner der Typen in `Accept` ist verfügbar.",
    ),
    "not_your_turn": _problem(
        409,
        "Not your turn",
        "Nicht an der Reihe",
        "It is another seat's turn; see `params`.",
        "Ein anderer Platz ist an der Reihe; siehe `params`.",
    ),
    "not_in_match": _problem(
        409,
        "Not in the match",
        "Ausgeschieden",
        "The seat is out of the match.",
        "Der Platz ist aus der Partie ausgeschieden.",
    ),
    "illegal_move": _problem(
        409,
        "Illegal move",
        "Zug nicht erlaubt",
        "The rules do not allow this move now; see `legal_moves`.",
        "Die Regeln erlauben diesen Zug jetzt nicht; siehe `legal_moves`.",
    ),
    "not_started": _problem(
        409, "Not started", "Noch nicht begonnen", "Seats are still open.", "Plätze sind noch frei."
    ),
    "round_over": _single(409, "Round over", "Runde zu Ende", "round_over"),
    "game_over": _single(409, "Game over", "Partie zu Ende", "game_over"),
    "seats_taken": _problem(
        409, "Seats taken", "Alles besetzt", "There is no open seat left.", "Es ist kein Platz mehr frei."
    ),
    "not_due": _problem(
        409,
        "Not due",
        "Noch nicht fällig",
        "The time of the seat is not over, or nothing can be claimed; see `params`.",
        "Die Zeit des Platzes ist nicht abgelaufen, oder es gibt nichts zu beanspruchen; siehe `params`.",
    ),
    "not_away": _problem(
        409, "Not away", "Nicht abwesend", "The player of the seat is there.", "Der Spieler des Platzes ist da."
    ),
    "limit_reached": _problem(
        409,
        "Limit reached",
        "Grenze erreicht",
        "There are as many already as there may be; see `params`.",
        "Es gibt schon so viele, wie es geben darf; siehe `params`.",
    ),
    "not_finished": _single(409, "Not finished", "Noch nicht zu Ende", "not_finished"),
    "stale_version": _problem(
        412,
        "Stale version",
        "Veraltete Version",
        "The match has gone on; see `version` and `legal_moves`.",
        "Die Partie ist weitergegangen; siehe `version` und `legal_moves`.",
    ),
    "gone": _single(410, "Gone", "Gelöscht", "game_deleted"),
    "too_large": _problem(
        413,
        "Too large",
        "Zu groß",
        "The body is larger than 256 KiB.",
        "Der Inhalt ist größer als 256 KiB.",
    ),
    "uri_too_long": _single(414, "Address too long", "Adresse zu lang", "uri_too_long"),
    "unsupported_media_type": _problem(
        415,
        "Unsupported media type",
        "Medientyp nicht möglich",
        "The body must be `application/json` in UTF-8.",
        "Der Inhalt muss `application/json` in UTF-8 sein.",
    ),
    "invalid": _problem(
        422,
        "Invalid",
        "Ungültig",
        "Some fields are invalid; see `errors`, by field.",
        "Einige Felder sind ungültig; siehe `errors`, nach Feldern.",
    ),
    "key_reused": _single(422, "Key reused", "Schlüssel schon benutzt", "key_reused"),
    "rate_limited": _single(429, "Too many requests", "Zu viele Anfragen", "rate_limited"),
    "internal": _single(500, "Internal error", "Interner Fehler", "internal"),
    "storage_unavailable": _single(503, "Storage unavailable", "Speicher nicht erreichbar", "storage_unavailable"),
    "too_many_streams": _single(503, "Too many streams", "Zu viele Streams", "too_many_streams"),
    "outcome_unknown": _single(503, "Outcome unknown", "Ausgang unbekannt", "outcome_unknown"),
    "secret_changed": _single(503, "Secret changed", "Anderer Schlüssel", "secret_changed"),
}

_MORE_FIELDS: Final = LocalizedText(
    "More fields are invalid; see `errors`.", "Weitere Felder sind ungültig; siehe `errors`."
)

MAX_ERRORS: Final = 100
"""The most fields in ``errors``, and the most messages of one field."""
MAX_ERROR_CHARS: Final = 1000
"""The most characters of a message in ``errors``, or of the path of a field."""

_STREAM_RETRY_SECONDS: Final = 5
"""Seconds after which a client may try to open a stream again."""

_SECRET_RETRY_SECONDS: Final = 30
"""Seconds after which a request may reach a server with the right secret, while a new one is rolled out."""

_HTTP_REASONS: Final = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_COUNTED_STATUSES: Final = (401, 403, 404)
_COUNTED_PREFIX: Final = "/v1/games/"
"""Paths whose failures are counted, as they may be attempts to guess a game id, a token or a join code.

Elsewhere only 401 is, as it may be an attempt to guess a key.
"""


Refused = InvalidBody | InvalidSetup | MoveRefused | RequestError
"""Why a request is refused, of what is told by ``refused_body``."""


def problem(reason: Reason, detail: str | None = None, **more: object) -> Response:
    """The response to a refusal; ``detail`` replaces the sentence of the reason, ``more`` are additional fields."""
    code = REASONS[reason.word].code
    status = PROBLEMS[code].status
    request.environ[PROBLEM_CODE] = code
    language = accepted_language(request.environ)
    response = Response(problem_body(reason, language, detail, **more), status, mimetype=PROBLEM_JSON)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = language
    response.headers["Vary"] = "Accept-Language"
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="game"'
    if status == 415 and request.method == "PATCH":
        response.headers["Accept-Patch"] = ", ".join(PATCH_TYPES)  # RFC 5789
    return response


def problem_body(reason: Reason, language: Language, detail: str | None = None, **more: object) -> bytes:
    """The body of the response to a refusal, in this language."""
    code = REASONS[reason.word].code
    body: dict[str, object] = {
        "type": f"/problems#{code}",
        "title": localize(PROBLEMS[code].title, language),
        "status": PROBLEMS[code].status,
        "detail": _sentence(reason, language) if detail is None else detail,
        "code": code,
        "reason": reason.word,
    }
    return orjson.dumps(body | _params(reason) | more)


def _sentence(reason: Reason, language: Language) -> str:
    """The sentence of a reason, shortened, as it may contain what the client sent."""
    return sentence(reason, language)[:MAX_ERROR_CHARS]


def _params(reason: Reason) -> dict[str, object]:
    """The field ``params``, if there is a value for it; texts are shortened."""
    params = {
        name: value[:MAX_ERROR_CHARS] if isinstance(value, str) else value
        for name, value in reason.params.items()
        if value or value == 0
    }
    return {"params": params} if params else {}


def install(app: Flask, limits: RateLimits) -> None:
    """Make ``app`` answer every error as a problem, and too many failures of one address all with the same one."""

    def limited(status: int | None) -> Response | None:
        """The response after too many failures from one address, in place of the refusal with this status."""
        if status not in _COUNTED_STATUSES or (status != 401 and not request.path.startswith(_COUNTED_PREFIX)):
            return None
        quota = limits.count_failure(request.environ.get("REMOTE_ADDR", ""))
        return None if quota is None else _rate_limited_problem(quota)

    def refusal(error: Refusal) -> Response:
        return limited(PROBLEMS[error.code].status) or _refusal(error)

    def http_exception(error: HTTPException) -> Response:
        redirect = redirect_without_slash(error)
        if redirect is not None:
            return redirect
        return limited(error.code) or _http_exception(error)

    app.register_error_handler(Refusal, refusal)
    app.register_error_handler(RateLimited, _rate_limited)
    for refused in (InvalidSetup, MoveRefused, RequestError, InvalidBody):
        app.register_error_handler(refused, _refused)
    app.register_error_handler(StorageUnavailable, _storage_unavailable)
    app.register_error_handler(OutcomeUnknown, _outcome_unknown)
    app.register_error_handler(SecretChanged, _secret_changed)
    app.register_error_handler(TooManyStreams, _too_many_streams)
    app.register_error_handler(HTTPException, http_exception)
    app.register_error_handler(Exception, _internal)


def _refusal(refusal: Refusal) -> Response:
    return problem(refusal.reason)


def _refused(error: Refused) -> Response:
    reason, detail, more = _told(error, accepted_language(request.environ))
    return problem(reason, detail, **more)


def refused_body(error: Refused, language: Language) -> bytes:
    """The body of the response to a request that is refused for this, in this language."""
    reason, detail, more = _told(error, language)
    return problem_body(reason, language, detail, **more)


class _Told(NamedTuple):
    """What is told of a refusal: as the arguments of ``problem``."""

    reason: Reason
    detail: str | None
    more: Mapping[str, object]


def _told(error: Refused, language: Language) -> _Told:
    if isinstance(error, RequestError):
        return _Told(error.reason, None, {})
    if isinstance(error, MoveRefused):
        legal_moves = moves_json(error.legal_moves, error.version)
        more = {"version": error.version, "to_act": list(error.to_act), "legal_moves": legal_moves}
        return _Told(error.cause.reason, None, more)
    return _told_fields(error, language)


def _told_fields(error: InvalidBody | InvalidSetup, language: Language) -> _Told:
    """The reasons of all fields, and the first one as that of the whole request."""
    errors = {
        field[:MAX_ERROR_CHARS]: reasons[:MAX_ERRORS] for field, reasons in islice(error.errors.items(), MAX_ERRORS)
    }
    causes = [(field, reason) for field, reasons in errors.items() for reason in reasons]
    field, first = causes[0]
    detail = f"{field}: {_sentence(first, language)}" if field else _sentence(first, language)
    if len(causes) > 1:
        detail = f"{detail} {localize(_MORE_FIELDS, language)}"
    return _Told(
        Reason(first.word, {"field": field, **first.params}),
        detail,
        {
            "errors": {field: [_sentence(each, language) for each in reasons] for field, reasons in errors.items()},
            "causes": [
                {"field": field, "reason": reason.word} | _params(reason) for field, reason in causes[:MAX_ERRORS]
            ],
        },
    )


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
    response = problem(Reason(code), retry_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _http_exception(error: HTTPException) -> Response:
    word = _HTTP_REASONS.get(error.code or 500)
    if word is None:
        # All other client errors of Flask are malformed requests.
        word = "malformed" if error.code and error.code < 500 else "internal"
    allowed = {"allowed": sorted(error.valid_methods or ())} if isinstance(error, MethodNotAllowed) else {}
    response = problem(Reason(word, allowed), **see(error))
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
    return problem(Reason("internal"))


def _request_fields() -> dict[str, object]:
    """The fields that identify the current request in the log."""
    return {"fields": {"request_id": request.environ.get(REQUEST_ID)}}
