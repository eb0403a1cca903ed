"""The decorator ``Operation``: describes a handler for the OpenAPI document, and checks access before it is called.

An operation declares what its handler accepts and returns; the handler's docstring is its summary and description in
the document. Owns what is derived from that: most problems, and the headers of the responses. ``service.web.access``
checks access. Does not depend on any resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import Any, Final, NamedTuple

from marshmallow import Schema

from service.web.access import AccessRule, Guard, guarded
from service.web.http.headers import TOKEN_KEY_LENGTH

_BODY_PROBLEMS: Final = ("malformed", "too_large", "unsupported_media_type", "invalid")
_ON_A_GAME: Final = ("spectator", "join", "seat", "seat_or_app", "any_seat_or_app", "token_change", "app_game")
"""Access rules of operations on a game: they can be 404, as the path may contain a string that is not an id."""
_WITH_KEY: Final = ("app", "key_change")
"""Access rules of operations without a game that require the key of an application."""
_LIMITED: Final = ("join", "seat", "seat_or_app", "any_seat_or_app", "app", "anyone_or_app", "key_change", "app_game")
"""Access rules of operations whose responses have the headers of a rate limit."""
_WITH_ETAG: Final = ("ETag", "Cache-Control", "Vary")
_LANGUAGE: Final = ("Content-Language",)
_QUOTA: Final = ("RateLimit", "RateLimit-Policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A successful response: its meaning and its schema, if it has one.

    A response ``for_streams`` is sent only if a stream was requested. Only the description in the document mentions it:
    if a response without a body were listed, generated clients would treat the bodies of the others as optional.
    """

    description: str
    schema: type[Schema] | None = None
    media_type: str | None = "application/json"
    etag: bool = False
    """Whether it has an ``ETag`` although the operation does not take ``If-None-Match``."""
    for_streams: bool = False
    streams: Mapping[str, str] = field(default_factory=dict)
    """The other media types of the response, with a description of each."""
    item: type[Schema] | None = None
    """The schema of an item, if the other media types are streams of JSON."""
    headers: tuple[str, ...] = ()
    """Optional headers that are not derived from the operation."""


class ResponseHeaders(NamedTuple):
    """The headers of a successful response: ``optional`` ones are not in every response with this status."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path; a decorator of its handler.

    ``summary`` and ``description`` are taken from the docstring of the handler.
    """

    id: str
    tag: str
    responses: Mapping[int, ResponseSpec]
    access: AccessRule = "public"
    body: type[Schema] | None = None
    needs_body: bool = False
    """Whether a body is required although all its fields are optional."""
    text_body: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of a text body, by its media types; if there are any, JSON is not accepted."""
    headers: tuple[str, ...] = ()
    query: type[Schema] | None = None
    secret: bool = False
    """Whether the response contains a token, a key or another secret, so that no cache may store it."""
    shortest_key: int | None = None
    """The minimum length of ``Idempotency-Key``; if ``None``, it follows from ``secret``."""
    limited: bool | None = None
    """Whether the response has the headers of rate limits; if ``None``, it follows from ``access`` and the body."""
    fixed_type: bool = False
    """Whether the operation ignores ``Accept``."""
    repeatable: bool = False
    """Whether the operation is idempotent without a key, so that nothing is stored under an ``Idempotency-Key``."""
    own_problems: tuple[str, ...] = ()
    """The codes of problems that cannot be derived from the other fields."""
    stores: bool = False
    """Whether it stores data that counts in the quota of a tenant (``limit_reached`` with the status 429)."""
    summary: str = ""
    description: str = ""

    def __call__(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a handler; ``service.web.access.guarded`` documents the arguments that it is called with."""
        guard = Guard(self.access, self.query, shows_quota=self.shows_quota)
        call = guarded(handler, guard)
        summary, _, description = cleandoc(handler.__doc__ or "").partition("\n\n")
        described = replace(self, summary=summary.removesuffix("."), description=description.replace("\n", " "))
        call.operation = described  # type: ignore[attr-defined]  # a function takes attributes
        call.min_key_length = self.min_key_length  # type: ignore[attr-defined]  # for service.web.http.headers
        return call

    @property
    def takes_body(self) -> bool:
        return self.body is not None or bool(self.text_body)

    @property
    def problems(self) -> tuple[str, ...]:
        """The codes of its problems, without those that every operation has."""
        codes = (
            *self._problems_by_access(),
            *self._problems_by_content(),
            *self.own_problems,
            *(("limit_reached",) if self.stores else ()),
            *self._problems_by_key(),
        )
        return tuple(dict.fromkeys(codes))

    def _problems_by_access(self) -> tuple[str, ...]:
        return (
            *(() if self.access == "public" else ("unauthorized",)),
            *(("not_found",) if self.access in _ON_A_GAME else ()),
            *(() if self.access == "public" and not self.takes_body else ("rate_limited",)),
        )

    def _problems_by_content(self) -> tuple[str, ...]:
        negotiates = not self.fixed_type and any(response.schema is not None for response in self.responses.values())
        return (
            *(("not_acceptable",) if negotiates else ()),
            *(_BODY_PROBLEMS if self.takes_body else ()),
            *(() if self.query is None else ("invalid",)),
            *(("too_many_streams",) if self._has_parameter("wait") else ()),
        )

    def _problems_by_key(self) -> tuple[str, ...]:
        if not self.is_replayable:
            return ()
        is_derived = self.secret or self.access in _WITH_KEY  # a repeated response contains values from SECRET_KEY
        return ("key_reused", "outcome_unknown", *(("secret_changed",) if is_derived else ()))

    @property
    def min_key_length(self) -> int:
        """The minimum length of ``Idempotency-Key``: longer for a secret, as anybody who knows the key can get it."""
        if self.shortest_key is not None:
            return self.shortest_key
        return TOKEN_KEY_LENGTH if self.secret else 1

    @property
    def is_replayable(self) -> bool:
        """Return whether a repeated ``Idempotency-Key`` returns the first response; never with 200."""
        return "Idempotency-Key" in self.headers and 200 not in self.responses and not self.repeatable

    @property
    def shows_quota(self) -> bool:
        """Return whether responses can have the headers of rate limits."""
        if self.limited is not None:
            return self.limited
        return self.access in _LIMITED or (self.access == "public" and self.takes_body)

    def headers_of(self, status: int) -> ResponseHeaders:
        """Return the headers of the successful response with this status."""
        required, optional = self._headers_of_content(status)
        return ResponseHeaders(
            required,
            (
                *optional,
                *self.responses[status].headers,
                *(("Idempotent-Replayed",) if self.is_replayable else ()),
                *(_QUOTA if self.shows_quota else ()),
            ),
        )

    def _headers_of_content(self, status: int) -> ResponseHeaders:
        response = self.responses[status]
        if response.media_type is None:
            return ResponseHeaders((), ())
        if status == 202:
            return ResponseHeaders(("Cache-Control",), ())
        texts = _LANGUAGE if self._has_parameter("text") else ()
        if status == 201:
            return ResponseHeaders(("Location", *(("Cache-Control",) if self.secret else _WITH_ETAG)), texts)
        has_etag = response.etag or "If-None-Match" in self.headers
        headers = _WITH_ETAG if has_etag else ("Cache-Control", "Vary")
        if "Accept-Language" not in self.headers or texts:
            return ResponseHeaders(headers, texts)
        return ResponseHeaders((*headers, *_LANGUAGE), ())

    def _has_parameter(self, name: str) -> bool:
        return self.query is not None and name in self.query().fields


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return the operation that a view function was decorated with, if there is one."""
    described = getattr(view, "operation", None)
    return described if isinstance(described, Operation) else None
