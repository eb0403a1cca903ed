"""Read the body of a request, as JSON or as text.

Owns all checks of a body before its schema validates it. JSON must be UTF-8 without duplicate keys, NaN or lone
surrogates, as these have no single meaning. Depth and length are limited, with or without a Content-Length. Does not
depend on any resource.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import orjson
from flask import request
from marshmallow import Schema, ValidationError
from werkzeug.sansio.utils import get_content_length

from service.engine.errors import Reason
from service.web.fields.strict import EmptyInSchema, reason_of
from service.web.http.errors import InvalidBody, RequestError, current_environ

MAX_BODY_BYTES: Final = 256 * 1024
BODY_UNIT_BYTES: Final = 4096
"""Bytes of a body that cost about as much to process as a small request."""
PATCH_TYPES: Final = ("application/json", "application/merge-patch+json")
"""The media types of the body of a PATCH: a merge patch, which has only the fields to change (RFC 7396)."""
_UTF_8_OR_A_PART: Final = ("utf-8", "utf8", "utf_8", "us-ascii", "ascii")
"""The names of UTF-8 that clients send, and of ASCII, which is a subset of it."""
_BODY: Final = "domino.body"
"""The key in the WSGI environment for the body, or for the reason why it is refused."""
_nothing_in: Final = EmptyInSchema()
_TOO_LARGE: Final = Reason("too_large", {"max": MAX_BODY_BYTES})
_MAX_DEPTH: Final = 32
MAX_CONTAINERS: Final = 2000
"""Maximum number of objects and lists in a body; the largest valid one, with 100 deals to 13 seats, has about 1,600."""
_CONTAINERS: Final = (dict, list)
_SIMPLE: Final = frozenset({str, int, bool, type(None)})
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A JSON string, or the rest of the data if it is not closed; quantifiers are possessive, so a search is linear."""


def body_units() -> int:
    """Return the size of the body in units of ``BODY_UNIT_BYTES``, which rate limits count in addition to the request.

    A refused body counts as one of maximum size.
    """
    environ = current_environ()
    body = environ[_BODY] if _BODY in environ else _read_body(environ)
    return (len(body) if isinstance(body, bytes) else MAX_BODY_BYTES) // BODY_UNIT_BYTES


def read_json() -> Any:
    """Return the body as JSON; a PATCH can also send it with the media type of a merge patch.

    Raises ``RequestError``: ``unsupported_media_type``, ``too_large`` or ``malformed``.
    """
    if (
        current_environ().get("CONTENT_TYPE") != "application/json"
        and not _is_in_utf8("application/json")
        and not (request.method == "PATCH" and request.mimetype in PATCH_TYPES and _is_in_utf8(request.mimetype))
    ):
        raise _wrong_content_type("application/json")
    return parse_json(_accepted_body())


def read_text(media_types: Sequence[str]) -> bytes:
    """Return the body as text of one of these media types, not yet decoded.

    Raises ``RequestError``: ``unsupported_media_type``, ``too_large`` or ``malformed``.
    """
    if not any([_is_in_utf8(media_type) for media_type in media_types]):
        raise _wrong_content_type(*media_types)
    return _accepted_body()


def _wrong_content_type(*allowed: str) -> RequestError:
    sent = current_environ().get("CONTENT_TYPE")
    if not sent:
        return RequestError("no_content_type", allowed=[*allowed])
    return RequestError("wrong_content_type", type=sent, allowed=[*allowed])


def _accepted_body() -> bytes:
    """Return the body. Raises ``RequestError`` if it is compressed, too large or incomplete."""
    environ = current_environ()
    codings = environ.get("HTTP_CONTENT_ENCODING")
    if codings and any([coding.strip() not in ("", "identity") for coding in codings.lower().split(",")]):
        raise RequestError("compressed_body")
    body = environ[_BODY] if _BODY in environ else _read_body(environ)
    if isinstance(body, bytes):
        return body
    raise RequestError(body.word, **body.params)


def _read_body(environ: dict[str, Any]) -> bytes | Reason:
    """Return the body, or the reason why it is refused; keep it in the environment, as it can be read only once.

    Does not raise: the stored exception would be part of a reference cycle.
    """
    length = get_content_length(environ.get("CONTENT_LENGTH"), environ.get("HTTP_TRANSFER_ENCODING"))
    body: bytes | Reason = _TOO_LARGE
    if length is None or length <= MAX_BODY_BYTES:
        # The length of a chunked body is unknown, so one byte more than allowed is read.
        try:
            data = request.stream.read(MAX_BODY_BYTES + 1) if length is None else environ["wsgi.input"].read(length)
        except Exception:  # an incomplete or wrongly chunked body; the exception depends on the server
            body = Reason("body_incomplete")
        else:
            if length is not None and len(data) < length:
                body = Reason("body_too_short")
            elif len(data) <= MAX_BODY_BYTES:
                body = bytes(data)
    environ[_BODY] = body
    return body


def read_json_or_nothing() -> Any:
    """Return the body as JSON, or an empty object without a body. Raises as ``read_json``."""
    if not request.content_length and "HTTP_TRANSFER_ENCODING" not in current_environ():
        return {}
    return read_json()


def read_nothing() -> Any:
    """Return an empty object if the body is one, or if there is no body.

    Raises ``InvalidBody`` for another object; otherwise as ``read_json``.
    """
    body = read_json_or_nothing()
    validate(_nothing_in, body)
    return body


def validate(schema: Schema, value: Any) -> Any:
    """Load ``value`` with ``schema``. Raises ``InvalidBody`` with the reasons for each field, by its path."""
    if not isinstance(value, dict):
        raise InvalidBody({"": [Reason("body_not_an_object")]})
    try:
        return schema.load(value)
    except ValidationError as error:
        error.__traceback__ = None  # breaks a reference cycle with marshmallow's frame, which refers to the error
        raise InvalidBody(_flatten(error.messages)) from None


def _is_in_utf8(media_type: str) -> bool:
    charset = request.mimetype_params.get("charset", "utf-8")
    return request.mimetype == media_type and charset.lower() in _UTF_8_OR_A_PART


def _flatten(messages: Any, path: str = "") -> dict[str, list[Reason]]:
    if isinstance(messages, list):
        return {path: [reason_of(message) for message in messages]}
    flat: dict[str, list[Reason]] = {}
    for key, value in messages.items():
        name = "" if key == "_schema" else str(key)
        flat |= _flatten(value, ".".join(part for part in (path, name) if part))
    return flat


def parse_json(data: bytes) -> Any:
    """Return the JSON value of ``data``. Raises ``RequestError`` (``malformed``), also for too many objects and lists.

    orjson rejects everything that is not strictly JSON in UTF-8. A second parser finds duplicate keys, unless there are
    as many keys as colons; and it parses integers beyond 64 bits, which are floats for orjson.
    """
    if len(data) > MAX_CONTAINERS and _containers(data) > MAX_CONTAINERS:  # each takes at least one byte
        raise RequestError("too_many_containers", max=MAX_CONTAINERS)
    try:
        value = orjson.loads(data)
        if type(value) is dict and len(value) == data.count(b":") and _SIMPLE.issuperset(map(type, value.values())):
            return value
        if _count_keys(value) != data.count(b":"):
            value = json.loads(data, object_pairs_hook=_without_duplicates)
    except ValueError as error:
        raise _syntax_error(data, error) from None
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        counts = Counter([key for key, _ in pairs])
        raise RequestError("duplicate_key", key=next(key for key, count in counts.items() if count > 1))
    return value


def _syntax_error(data: bytes, error: Exception) -> RequestError:
    """Return why and where ``data`` is not JSON; ``error`` is the exception of the parser."""
    if not data.strip():
        return RequestError("body_empty")
    try:
        text = data.decode()
    except UnicodeDecodeError as not_utf8:
        return RequestError("not_utf8", **_place(data[: not_utf8.start].decode()))
    at = min(error.pos, len(text)) if isinstance(error, json.JSONDecodeError) else 0
    word = "syntax"
    if text[at : at + 1] == "'":
        word = "single_quotes"
    elif text[at : at + 1] == "," and text[at + 1 :].lstrip()[:1] in ("}", "]"):
        word = "trailing_comma"
    return RequestError(word, **_place(text[:at]))


def _place(before: str) -> dict[str, int]:
    """Return the line and the column, from 1, of the position after the text ``before``."""
    return {"line": before.count("\n") + 1, "column": len(before) - before.rfind("\n")}


def _containers(data: bytes) -> int:
    """Return the number of opening brackets in ``data``; those in strings are left out if there are too many."""
    count = data.count(b"{") + data.count(b"[")
    if count > MAX_CONTAINERS:
        data = _STRING.sub(b"", data)
        count = data.count(b"{") + data.count(b"[")
    return count


def _count_keys(value: Any) -> int | None:
    """Return the number of keys of all objects in ``value``; ``None`` if it contains a float.

    Raises ``RequestError`` for more than ``_MAX_DEPTH`` levels of objects and lists.
    """
    keys, has_float = 0, False
    level: list[Any] = [[value]]
    for _ in range(1 + _MAX_DEPTH):
        items: list[Any] = []
        for container in level:
            if type(container) is dict:
                keys += len(container)
                items += container.values()
            else:
                items += container
        has_float = has_float or float in map(type, items)
        level = [item for item in items if type(item) in _CONTAINERS]
        if not level:
            return None if has_float else keys
    raise RequestError("nested_too_deep", max=_MAX_DEPTH)
