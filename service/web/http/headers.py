"""The headers and the query of a request: the token, what the client accepts, has, expects, and asks for.

Owns which values of these headers are accepted, and what follows from a preference. Does not depend on any resource,
nor on which texts there are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
"""The most characters of a header that is parsed into a list."""
_PARSED_HEADERS: Final = (
    "CONTENT_TYPE",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_RANGE",
    "HTTP_RANGE",
)
_WEIGHT: Final = re.compile(r";[ \t]*q[ \t]*=[ \t]*\"?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\"?[ \t]*(?:;|$)", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(r"[^ \t/]+/[^ \t/]+")
_BEARER: Final = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
KEY_PATTERN: Final = r'^("[\x21\x23-\x5b\x5d-\x7e]{1,255}"|[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255})$'
"""Without quotes there is no comma, which separates the values of a header that was sent twice."""
TOKEN_KEY_LENGTH: Final = 16
"""The shortest ``Idempotency-Key`` where the response contains a token: anybody who knows the key gets the token."""
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


def accepted_language(environ: Mapping[str, Any]) -> Language:
    """Return the language that the request prefers of those that there are, else the default one."""
    header = environ.get("HTTP_ACCEPT_LANGUAGE")
    if header is None or len(header) > MAX_HEADER_CHARS:  # it is refused, in this language
        return DEFAULT_LANGUAGE
    for tag, weight in sorted(_preferences(header), key=itemgetter(1), reverse=True):
        for known in LANGUAGES:
            if weight and tag.replace("_", "-").partition("-")[0].lower() == known:
                return known
    return DEFAULT_LANGUAGE


def _preferences(header: str) -> list[tuple[str, float]]:
    """Return the entries of a header that lists what a client accepts, without their parameters, and their weights.

    They are read as loosely as clients write them: ``q=.5`` is a half, more than 1 is 1, and a weight that is no
    number, or a missing one, is 1, as the client names the entry because it accepts it.
    """
    entries = []
    for entry in parse_list_header(header):
        weight = _WEIGHT.search(entry)
        entries.append((entry.partition(";")[0].strip(), 1.0 if weight is None else min(float(weight[1]), 1.0)))
    return entries


def accepts_gzip() -> bool:
    """Return whether ``Accept-Encoding`` accepts gzip, by its own name, its older one or a star."""
    weights = {name.lower(): weight for name, weight in _preferences(current_environ().get("HTTP_ACCEPT_ENCODING", ""))}
    return bool(weights.get("gzip", weights.get("x-gzip", weights.get("*", 0))))


def negotiate(*types: str) -> str:
    """Return the media type with the highest weight in ``Accept``; of several, the one that is first in ``types``.

    That is JSON: many clients list types that they cannot parse, with the same weight. It is also what a client gets
    whose header has entries that are no types, unless another entry accepts one of these types. Raises
    ``RequestError`` (``not_acceptable``) if the client accepts none of them.
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


def preferred_language() -> Language:
    """Return the language of the texts: the one that ``Accept-Language`` prefers of those that there are."""
    return accepted_language(current_environ())


def expected_game(version: int | None) -> Expected | None:
    """Return the version of the game that the client expects, by ``version`` and ``If-Match``; ``None`` for any."""
    if "HTTP_IF_MATCH" not in current_environ():
        return None if version is None else Expected(version)
    if request.if_match.star_tag:
        return Expected(version, None)
    tags = request.if_match.as_set(include_weak=False)
    return Expected(version, frozenset([_without_language(tag) for tag in tags if tag]))


def etag_in(etag: str, language: Language) -> str:
    """Return the ETag of a response that differs from the one with this ETag by texts in this language.

    As a precondition it means the same version: a move may be made on a view with or without texts.
    """
    return f"{etag}-{language}"


def _without_language(tag: str) -> str:
    """Return the ETag without texts; unchanged if it has no language. An ETag never ends like one (``Game.etag``)."""
    etag, _, language = tag.rpartition("-")
    return etag if language in LANGUAGES else tag


def etag_matches(etag: str) -> bool:
    """Return whether ``If-None-Match`` contains this ETag, so that the response is 304."""
    header = current_environ().get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    return header == f'"{etag}"' or request.if_none_match.contains_weak(etag)


def idempotency_key() -> str | None:
    """Return the key of ``Idempotency-Key``, without its quotes.

    ``None`` without one that the current operation takes.
    """
    return _idempotency_key()[0]


def idempotency(body: Any) -> IdempotencyKey | None:
    """Return the idempotency key of a request with this body, ``None`` without one.

    Raises ``InvalidBody`` for one that is not valid, or shorter than the current operation takes.
    """
    if "HTTP_IDEMPOTENCY_KEY" not in current_environ():
        return None
    key, min_length = _idempotency_key()
    if key is None:
        raise InvalidBody({"Idempotency-Key": [Reason("idempotency_key", {"min": min_length})]})
    # Not by orjson, which does not support integers beyond 64 bits.
    digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]
    return IdempotencyKey(key, digest.encode())


def _idempotency_key() -> tuple[str | None, int]:
    """Return the key, if there is a valid one, and how long it has to be.

    ``service.web.operation`` says so of the handler.
    """
    handler: Any = current_app.view_functions[request.endpoint or ""]
    min_length: int = handler.min_key_length
    match = _KEY.fullmatch(request.headers.get("Idempotency-Key", ""))
    key = "" if match is None else match[1].strip('"')
    return key if len(key) >= min_length else None, min_length


# The query of a request: nothing but the parameters of its schema, each once, and never a token.


_TOKEN_PARAMETERS: Final = ("token", "access_token")


def read_query(schema: Schema) -> dict[str, Any]:
    """Return the query, which ``check_query`` has checked, loaded by ``schema``. Raises ``InvalidBody``."""
    query: dict[str, Any] = validate(schema, request.args.to_dict())
    return query


def read_query_of_reader(schema: Schema) -> dict[str, Any]:
    """Return the query of a reader that may come back to a stream: ``Last-Event-ID`` overrides ``after``.

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
    """Check that the query has nothing but the parameters of this schema, each once. Raises ``InvalidBody``."""
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
    """Check that a token is not shown where it does not count; its bearer would be taken for a spectator.

    Raises ``Unauthorized`` for one in ``X-Api-Key`` and, where a token is needed, for one in the query, which
    ``check_query`` refuses in any case.
    """
    environ = current_environ()
    if "HTTP_AUTHORIZATION" in environ:
        return
    if "HTTP_X_API_KEY" in environ:
        raise Unauthorized("token_misplaced", place="X-Api-Key")
    for name in request.args if needs_token else ():
        if name in _TOKEN_PARAMETERS:
            raise Unauthorized("token_misplaced", place=f"?{name}")
