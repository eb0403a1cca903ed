"""What the document says of an operation beyond what it declares: its problems, and the headers of its responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from service.web.operation import Operation

_BODY_PROBLEMS: Final = ("malformed", "too_large", "unsupported_media_type", "invalid")
_ON_A_GAME: Final = ("spectator", "join", "seat", "seat_or_app", "any_seat_or_app", "token_change", "app_game")
"""Access rules of operations on a game: they can be 404, as the path may contain a string that is not an id."""
_WITH_KEY: Final = ("app", "key_change")
"""Access rules of operations without a game that require the key of an application."""
_WITH_ETAG: Final = ("ETag", "Cache-Control", "Vary")
_LANGUAGE: Final = ("Content-Language",)
QUOTA: Final = ("RateLimit", "RateLimit-Policy")


class ResponseHeaders(NamedTuple):
    """The headers of a successful response: ``optional`` ones are not in every response with this status."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return the operation that a view function was decorated with, if there is one."""
    described = getattr(view, "operation", None)
    return described if isinstance(described, Operation) else None


def problems_of(operation: Operation) -> tuple[str, ...]:
    """Return the codes of its problems, without those that every operation has."""
    codes = (
        *_problems_by_access(operation),
        *_problems_by_content(operation),
        *operation.own_problems,
        *(("limit_reached",) if operation.stores else ()),
        *_problems_by_key(operation),
    )
    return tuple(dict.fromkeys(codes))


def _problems_by_access(operation: Operation) -> tuple[str, ...]:
    return (
        *(() if operation.access == "public" else ("unauthorized",)),
        *(("not_found",) if operation.access in _ON_A_GAME else ()),
        *(() if operation.access == "public" and not operation.takes_body else ("rate_limited",)),
    )


def _problems_by_content(operation: Operation) -> tuple[str, ...]:
    has_schema = any(response.schema is not None for response in operation.responses.values())
    return (
        *(("not_acceptable",) if has_schema and not operation.fixed_type else ()),
        *(_BODY_PROBLEMS if operation.takes_body else ()),
        *(() if operation.query is None else ("invalid",)),
        *(("too_many_streams",) if _has_parameter(operation, "wait") else ()),
    )


def _problems_by_key(operation: Operation) -> tuple[str, ...]:
    if not _is_replayable(operation):
        return ()
    is_derived = operation.secret or operation.access in _WITH_KEY  # a repeated response has values from SECRET_KEY
    return ("key_reused", "outcome_unknown", *(("secret_changed",) if is_derived else ()))


def _is_replayable(operation: Operation) -> bool:
    """Return whether a repeated ``Idempotency-Key`` returns the first response; never with 200."""
    return "Idempotency-Key" in operation.headers and 200 not in operation.responses and not operation.repeatable


def headers_of(operation: Operation, status: int) -> ResponseHeaders:
    """Return the headers of the successful response with this status."""
    required, optional = _headers_of_content(operation, status)
    return ResponseHeaders(
        required,
        (
            *optional,
            *operation.responses[status].headers,
            *(("Idempotent-Replayed",) if _is_replayable(operation) else ()),
            *(QUOTA if operation.shows_quota else ()),
        ),
    )


def _headers_of_content(operation: Operation, status: int) -> ResponseHeaders:
    response = operation.responses[status]
    if response.media_type is None:
        return ResponseHeaders((), ())
    if status == 202:
        return ResponseHeaders(("Cache-Control",), ())
    texts = _LANGUAGE if _has_parameter(operation, "text") else ()
    if status == 201:
        return ResponseHeaders(("Location", *(("Cache-Control",) if operation.secret else _WITH_ETAG)), texts)
    has_etag = response.etag or "If-None-Match" in operation.headers
    headers = _WITH_ETAG if has_etag else ("Cache-Control", "Vary")
    if "Accept-Language" not in operation.headers or texts:
        return ResponseHeaders(headers, texts)
    return ResponseHeaders((*headers, *_LANGUAGE), ())


def _has_parameter(operation: Operation, name: str) -> bool:
    return operation.query is not None and name in operation.query().fields
