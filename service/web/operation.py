"""The decorator ``Operation``: describes a handler for the OpenAPI document, and checks access before it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import Any, Final

from marshmallow import Schema

from service.web.access import AccessRule, guarded
from service.web.http.headers import TOKEN_KEY_LENGTH

_LIMITED: Final = ("join", "seat", "seat_or_app", "any_seat_or_app", "app", "anyone_or_app", "key_change", "app_game")
"""Access rules of operations whose responses have the headers of a rate limit."""


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
        query = None if self.query is None else self.query()
        call = guarded(handler, self.access, query, shows_quota=self.shows_quota)
        summary, _, description = cleandoc(handler.__doc__ or "").partition("\n\n")
        described = replace(self, summary=summary.removesuffix("."), description=description.replace("\n", " "))
        call.operation = described  # type: ignore[attr-defined]  # a function takes attributes
        call.min_key_length = self.min_key_length  # type: ignore[attr-defined]  # for service.web.http.headers
        return call

    @property
    def takes_body(self) -> bool:
        return self.body is not None or bool(self.text_body)

    @property
    def min_key_length(self) -> int:
        """The minimum length of ``Idempotency-Key``: longer for a secret, as anybody who knows the key can get it."""
        if self.shortest_key is not None:
            return self.shortest_key
        return TOKEN_KEY_LENGTH if self.secret else 1

    @property
    def shows_quota(self) -> bool:
        """Return whether responses can have the headers of rate limits."""
        if self.limited is not None:
            return self.limited
        return self.access in _LIMITED or (self.access == "public" and self.takes_body)
