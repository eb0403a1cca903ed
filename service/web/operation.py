"""An operation: what a handler accepts, answers and may refuse, said where the handler is.

Owns what follows from the rest: most problems and the headers of the responses follow from access, body, query and
headers. An operation decorates its handler, which then is called through ``service.web.access``, and whose docstring
is summary and description in the OpenAPI document. Does not depend on any resource.
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
_ABOUT_A_GAME: Final = ("spectator", "join", "seat", "seat_or_app", "any_seat_or_app", "token_change", "app_game")
"""The access of operations on a game, whose address may have something that cannot be the id of one."""
_WITH_KEY: Final = ("app", "key_change")
"""The access of operations for applications alone."""
_COUNTED: Final = ("join", "seat", "seat_or_app", "any_seat_or_app", "app", "anyone_or_app", "key_change", "app_game")
"""The access of operations that say what is left of a rate limit."""
_WITH_ETAG: Final = ("ETag", "Cache-Control", "Vary")
_LANGUAGE: Final = ("Content-Language",)
_QUOTA: Final = ("RateLimit", "RateLimit-Policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A successful response: its meaning and its schema, if it has one.

    One ``for_streams`` is sent only where a stream was requested; the document tells it in words, as a client generated
    from a response without a body would take the body of the others for optional.
    """

    description: str
    schema: type[Schema] | None = None
    media_type: str | None = "application/json"
    etag: bool = False
    """Whether it has an ``ETag`` although the request has no ``If-None-Match``."""
    for_streams: bool = False
    streams: Mapping[str, str] = field(default_factory=dict)
    """The other media types of the response, and the description of each."""
    item: type[Schema] | None = None
    """The schema of each item, where those are streams of JSON."""
    headers: tuple[str, ...] = ()
    """Headers that do not follow from the operation, and that only some of these responses have."""


class ResponseHeaders(NamedTuple):
    """The headers of a successful response, and those that only some of these responses have."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path. Decorates its handler, from whose docstring ``summary`` and ``description`` are taken."""

    id: str
    tag: str
    responses: Mapping[int, ResponseSpec]
    access: AccessRule = "public"
    body: type[Schema] | None = None
    needs_body: bool = False
    """Whether a body has to be sent although none of its fields has to be in it."""
    text_body: Mapping[str, str] = field(default_factory=dict)
    """What a body of text is, by the media types it may have; with it, no JSON is accepted."""
    headers: tuple[str, ...] = ()
    query: type[Schema] | None = None
    secret: bool = False
    """Whether the answer has a token, a key or another secret, and is stored by no cache."""
    shortest_key: int | None = None
    """The length of the shortest ``Idempotency-Key``, where it does not follow from ``secret``."""
    limited: bool | None = None
    """Whether the answer has the headers of rate limits, where it does not follow from ``access``."""
    fixed_type: bool = False
    """Whether the answer has its media type whatever ``Accept`` says."""
    repeatable: bool = False
    """Whether the same request changes nothing more by itself, so that no answer is kept under a key."""
    own_problems: tuple[str, ...] = ()
    """The codes of the problems that follow from nothing else."""
    stores: bool = False
    """Whether it stores anything that counts in the share of somebody (``limit_reached`` with the status 429)."""
    summary: str = ""
    description: str = ""

    def __call__(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a handler (``service.web.access`` says with what it is called)."""
        guard = Guard(self.access, self.query, shows_quota=self.shows_quota)
        call = guarded(handler, guard)
        summary, _, description = cleandoc(handler.__doc__ or "").partition("\n\n")
        described = replace(self, summary=summary.removesuffix("."), description=description.replace("\n", " "))
        call.operation = described  # type: ignore[attr-defined]  # a function takes attributes
        call.min_key_length = self.min_key_length  # type: ignore[attr-defined]  # as the headers of a request need it
        return call

    @property
    def takes_body(self) -> bool:
        return self.body is not None or bool(self.text_body)

    @property
    def problems(self) -> tuple[str, ...]:
        """The codes of its problems, beside those that every operation has."""
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
            *(("not_found",) if self.access in _ABOUT_A_GAME else ()),
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
        is_derived = self.secret or self.access in _WITH_KEY  # an application is answered again by what is derived
        return ("key_reused", "outcome_unknown", *(("secret_changed",) if is_derived else ()))

    @property
    def min_key_length(self) -> int:
        """The length of the shortest ``Idempotency-Key``: who knows the key of a secret gets the secret."""
        if self.shortest_key is not None:
            return self.shortest_key
        return TOKEN_KEY_LENGTH if self.secret else 1

    @property
    def is_replayable(self) -> bool:
        """Whether an answer may be the first one to an ``Idempotency-Key``; 200 is for what makes nothing."""
        return "Idempotency-Key" in self.headers and 200 not in self.responses and not self.repeatable

    @property
    def shows_quota(self) -> bool:
        """Whether an answer may have the headers of rate limits."""
        if self.limited is not None:
            return self.limited
        return self.access in _COUNTED or (self.access == "public" and self.takes_body)

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
    """Return the operation that a function that Flask calls was decorated with, if there is one."""
    described = getattr(view, "operation", None)
    return described if isinstance(described, Operation) else None
