"""What the document says of a route, kept beside the route.

A view carries its ``Operation``; ``openapi`` writes the document from the routes of the app and their
operations, and a test walks the routes so that none is without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from marshmallow import Schema

VIEW_HEADERS: Final = ("ETag", "Cache-Control", "Vary")
"""Headers of an answer that can be known already."""
READ_PROBLEMS: Final = ("unauthorized", "not_found", "rate_limited", "not_acceptable")
"""What may be wrong with any request for a game."""
BODY_PROBLEMS: Final = ("malformed", "too_large", "unsupported_media_type", "invalid")
"""What may be wrong with a body."""

AccessRule = Literal["public", "spectator", "seat", "own_seat"]
"""Who may call an operation, enforced by ``service.web.access``: everybody; the bearer of a seat's token or, without
one, a spectator; the bearer of a seat's token; the bearer of the token of the seat in the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A good answer: its schema, if it has one of ours, and what it means; a ``replayable`` one may be a repetition.

    A ``limited`` one says what is left of its rate limit.
    """

    description: str
    schema: type[Schema] | None = None
    media_type: str | None = "application/json"
    headers: tuple[str, ...] = ()
    replayable: bool = False
    limited: bool = False
    streams: Mapping[str, str] = field(default_factory=dict)
    """Media types of streams that it may be instead, and what is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one address. ``problems`` are the codes it may answer, beside those that any may."""

    id: str
    tag: str
    summary: str
    description: str
    responses: Mapping[int, ResponseSpec]
    access: AccessRule = "public"
    body: type[Schema] | None = None
    headers: tuple[str, ...] = ()
    query: type[Schema] | None = None
    problems: tuple[str, ...] = field(default=())


def describe(call: Callable[..., Any], described: Operation) -> Callable[..., Any]:
    """Attach the description of an operation to the function that Flask calls for it."""
    call.operation = described  # type: ignore[attr-defined]  # a function takes attributes
    return call


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """The description that is attached to a function, if there is one."""
    described = getattr(view, "operation", None)
    return described if isinstance(described, Operation) else None
