"""What the document says of a route, kept beside the route.

A view carries its ``Operation``; ``openapi`` writes the document from the routes of the app and their
operations, and a test walks the routes so that none is without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from marshmallow import Schema

VIEW_HEADERS: Final = ("ETag", "Cache-Control", "Vary")
"""Headers of an answer that can be known already."""
READ_PROBLEMS: Final = ("unauthorized", "not_found", "rate_limited", "not_acceptable")
"""What may be wrong with any request for a game."""
BODY_PROBLEMS: Final = ("malformed", "too_large", "unsupported_media_type", "invalid")
"""What may be wrong with a body."""

Handler = TypeVar("Handler", bound=Callable[..., Any])
Access = Literal["public", "spectator", "seat"]
"""Who may: anybody; a seat's bearer or, without a token, a spectator; a seat's bearer only."""


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
    access: Access = "public"
    body: type[Schema] | None = None
    headers: tuple[str, ...] = ()
    query: type[Schema] | None = None
    problems: tuple[str, ...] = field(default=())


def operation(described: Operation) -> Callable[[Handler], Handler]:
    """Attach a description to a view."""

    def attach(view: Handler) -> Handler:
        view.operation = described  # type: ignore[attr-defined]  # a view is a function, which takes attributes
        return view

    return attach


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """The description of a view, if it has one."""
    found = getattr(view, "operation", None)
    return found if isinstance(found, Operation) else None
