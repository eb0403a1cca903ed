"""Read the headers and the query of a request: token, content negotiation, conditions, idempotency key, parameters.

Owns which values of these headers are accepted, and which media type and language are chosen. Does not depend on any
resource, nor on the texts.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from operator import itemgetter
from typing import Any, Final

from flask import current_app, request
from marshmallow import Schema, ValidationError
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_list_header

from service.engine.errors import Reason
from service.games.commands.move import Expected
from service.games.model.errors import Unauthorized
from service.games.store.idempotency import IdempotencyKey
from service.texts import DEFAULT_LANGUAGE, LANGUAGES, Language
from service.web.fields.strict import reason_of
from service.web.http.body import validate
from service.web.http.errors import InvalidBody, RequestError, current_environ

MAX_HEADER_CHARS: Final = 1024
"""Maximum length of a header that is parsed into a list."""
_PARSED_HEADERS: Final = (
    "CONTENT_TYPE",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_RANGE",  # with HTTP_RANGE, for the files of the document's page
    "HTTP_RANGE",
)
_WEIGHT: Final = re.compile(r";[ \t]*q[ \t]*=[ \t]*\"?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\"?[ \t]*(?:;|$)", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(r"[^ \t/]+/[^ \t/]+")
_BEARER: Final = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
KEY_PATTERN: Final = r'^("[\x21\x23-\x5b\x5d-\x7e]{1,255}"|[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255})$'
"""A valid ``Idempotency-Key``. A comma needs quotes, as it separates the values of a header that was sent twice."""
TOKEN_KEY_LENGTH: Final = 16
"""Minimum length of ``Idempotency-Key`` if the response contains a token: anybody who knows the key gets the token."""
_KEY: Final = re.compile(KEY_PATTERN)


def check_headers() -> None:
    """Raise ``RequestError`` (``malformed``) if a header that would be parsed into a list is too long."""
    environ = current_environ()
    for name in _PARSED_HEADERS:
        if name in environ and len(environ[name]) > MAX_HEADER_CHARS:
            header = name.removeprefix("HTTP_").replace("_", "-").title()
            raise RequestError("header_too_long", header=header, max=MAX_HEADER_CHARS)


def bearer_token() -> str | None:
    """Return the token of the ``Authorization`` header, ``None`` without one.

    Raises ``Unauthorized`` for anything else.
    """
    header = current_environ().get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    match = _BEARER.fullmatch(header)
    if match is None:
        raise Unauthorized("not_a_bearer_token")
    return match[1]


def preferred_language() -> Language:
    """Return the language of the texts in the response: the one that ``Accept-Language`` prefers, or the default."""
    header = current_environ().get("HTTP_ACCEPT_LANGUAGE")
    if header is None or len(header) > MAX_HEADER_CHARS:  # a header that is too long is refused in the default language
        return DEFAULT_LANGUAGE
    for tag, weight in sorted(_preferences(header), key=itemgetter(1), reverse=True):
        for known in LANGUAGES:
            if weight and tag.replace("_", "-").partition("-")[0].lower() == known:
                return known
    return DEFAULT_LANGUAGE


def _preferences(header: str) -> list[tuple[str, float]]:
    """Return the entries of an ``Accept`` header, or one like it, without their parameters, each with its weight.

    Tolerates mistakes of clients: ``q=.5`` is a half, a weight above 1 is 1, and so is a missing or invalid weight, as
    clients list an entry because they accept it.
    """
    entries = []
    for entry in parse_list_header(header):
        weight = _WEIGHT.search(entry)
        entries.append((entry.partition(";")[0].strip(), 1.0 if weight is None else min(float(weight[1]), 1.0)))
    return entries


def accepts_gzip() -> bool:
    """Return whether ``Accept-Encoding`` accepts gzip, as ``gzip``, ``x-gzip`` or ``*``."""
    weights = {name.lower(): weight for name, weight in _preferences(current_environ().get("HTTP_ACCEPT_ENCODING", ""))}
    return bool(weights.get("gzip", weights.get("x-gzip", weights.get("*", 0))))


def negotiate(*types: str) -> str:
    """Return the media type with the highest weight in ``Accept``; of several, the first one in ``types``.

    Callers put JSON first, as many clients give the same weight to types that they cannot parse. The first type is also
    returned if the header has malformed entries, and no other entry accepts one of ``types``. Raises ``RequestError``
    (``not_acceptable``) if the client accepts none of them.
    """
    header: str | None = current_environ().get("HTTP_ACCEPT")
    if not header or header == "*/*":
        return types[0]
    if header in types:
        return header
    preferences = [("*/*" if kind == "*" else kind, weight) for kind, weight in _preferences(header)]
    well_formed = [(kind, weight) for kind, weight in preferences if _MEDIA_TYPE.fullmatch(kind)]
    accept = MIMEAccept(well_formed)
    best = max(types, key=accept.quality)
    if accept.quality(best):
        return best
    if len(well_formed) < len(preferences) or not preferences:
        return types[0]
    raise RequestError("not_acceptable", allowed=types)


def expected_game(version: int | None) -> Expected | None:
    """Return the state of the game that the client expects, by ``version`` and ``If-Match``; ``None`` for any."""
    if "HTTP_IF_MATCH" not in current_environ():
        return None if version is None else Expected(version)
    if request.if_match.star_tag:
        return Expected(version, None)
    tags = request.if_match.as_set(include_weak=False)
    return Expected(version, frozenset([_without_language(tag) for tag in tags if tag]))


def etag_in(etag: str, language: Language | None) -> str:
    """Return the ETag of a response with texts in this language, if any; ``etag`` is that of one without texts.

    In ``If-Match`` both mean the same version of the game: a client can move on a view with or without texts.
    """
    return etag if language is None else f"{etag}-{language}"


def _without_language(tag: str) -> str:
    """Return the ETag without its language, if it has one; no other ETag ends with a language (``Game.etag``)."""
    etag, _, language = tag.rpartition("-")
    return etag if language in LANGUAGES else tag


def etag_matches(etag: str) -> bool:
    """Return whether ``If-None-Match`` contains this ETag, so that the response is 304."""
    header = current_environ().get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    return header == f'"{etag}"' or request.if_none_match.contains_weak(etag)


def idempotency_key() -> str | None:
    """Return the ``Idempotency-Key`` without its quotes; ``None`` if it is missing, or invalid for this operation."""
    match = _KEY.fullmatch(request.headers.get("Idempotency-Key", ""))
    key = "" if match is None else match[1].strip('"')
    return key if len(key) >= _min_key_length() else None


def idempotency(body: Any) -> IdempotencyKey | None:
    """Return the idempotency key of a request with this body, ``None`` without one.

    Raises ``InvalidBody`` for a key that is invalid, or too short for this operation.
    """
    if "HTTP_IDEMPOTENCY_KEY" not in current_environ():
        return None
    key = idempotency_key()
    if key is None:
        raise InvalidBody({"Idempotency-Key": [Reason("idempotency_key", {"min": _min_key_length()})]})
    # orjson does not support integers beyond 64 bits.
    digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]
    return IdempotencyKey(key, digest.encode())


def _min_key_length() -> int:
    """Return the minimum length of the key, which ``service.web.operation`` sets on the handler."""
    handler: Any = current_app.view_functions[request.endpoint or ""]
    length: int = handler.min_key_length
    return length


# The query of a request: only parameters of its schema, each once, and never a token.


_TOKEN_PARAMETERS: Final = ("token", "access_token")


def read_query(schema: Schema) -> dict[str, Any]:
    """Load the query, which ``check_query`` has checked, with ``schema``. Raises ``InvalidBody``."""
    query: dict[str, Any] = validate(schema, request.args.to_dict())
    return query


def negotiate_texts(schema: Schema) -> Language | None:
    """Check that the client accepts JSON; return the language of the texts in it, ``None`` if it requests none.

    The query, which requests texts with ``text``, is loaded by ``schema``. Raises ``RequestError`` and ``InvalidBody``.
    """
    negotiate("application/json")
    if not current_environ().get("QUERY_STRING"):
        return None
    return preferred_language() if read_query(schema)["text"] else None


def read_stream_query(schema: Schema) -> dict[str, Any]:
    """Load the query of a client that may reconnect to a stream: ``Last-Event-ID`` overrides ``after``.

    Raises ``InvalidBody``.
    """
    query = read_query(schema)
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        try:
            query["after"] = schema.fields["after"].deserialize(last)
        except ValidationError as error:
            raise InvalidBody({"Last-Event-ID": [reason_of(message) for message in error.messages]}) from None
    return query


def check_query(schema: Schema | None) -> None:
    """Check that the query has only parameters of this schema, each once. Raises ``InvalidBody``."""
    allowed = [] if schema is None else [field.data_key or name for name, field in schema.load_fields.items()]
    unknown = Reason("unknown_parameter", {"allowed": allowed}) if allowed else Reason("no_parameters")
    errors: dict[str, list[Reason]] = {}
    for name, values in request.args.lists():
        if name not in allowed:
            errors[name] = [Reason("token_in_query") if name in _TOKEN_PARAMETERS else unknown]
        elif len(values) > 1:
            errors[name] = [Reason("given_twice")]
    if errors:
        raise InvalidBody(errors)


def check_token_place(*, needs_token: bool) -> None:
    """Refuse a token in a place where it would be ignored: its bearer would count as a spectator.

    Raises ``Unauthorized`` for a token in ``X-Api-Key`` and, with ``needs_token``, for a token in the query.
    ``check_query`` refuses the latter in any case.
    """
    environ = current_environ()
    if "HTTP_AUTHORIZATION" in environ:
        return
    if "HTTP_X_API_KEY" in environ:
        raise Unauthorized("token_misplaced", place="X-Api-Key")
    for name in request.args if needs_token else ():
        if name in _TOKEN_PARAMETERS:
            raise Unauthorized("token_misplaced", place=f"?{name}")
