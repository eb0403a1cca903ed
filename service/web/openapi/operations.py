"""The description of an operation, attached to its handler.

The document is generated from the routes of the application and their ``Operation``; a test checks that no route is
without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from marshmallow import Schema

VIEW_HEADERS: Final = ("ETag", "Cache-Control", "Vary")
"""Headers of a response that can be revalidated."""
TEXT_HEADERS: Final = ("Content-Language",)
"""Headers of a response that has texts if the request asks for them."""
READ_PROBLEMS: Final = ("unauthorized", "not_found", "rate_limited", "not_acceptable")
"""Problems of every request for a game."""
BODY_PROBLEMS: Final = ("malformed", "too_large", "unsupported_media_type", "invalid")
"""Problems of every request with a body."""

AccessRule = Literal[
    "public",
    "public_or_app",
    "spectator",
    "join",
    "seat",
    "seat_or_app",
    "token_change",
    "app",
    "anyone_or_app",
    "key_change",
    "app_game",
]
"""Who may call an operation, enforced by ``service.web.access``: anybody; an application or anybody, with answers of
their own; the bearer of a seat's token, the application that owns the game or, without a token, a spectator; the same
or, where there are no spectators, who has the join code; the bearer of a seat's token; the bearer of the token of the
seat in the path, or the application that owns the game; for a change of that token also the bearer of the old one, who
repeats the request; an application; an application or anybody, unless the service requires one; for another key of an
application also the bearer of its old one, who repeats the request; the application that owns the game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """A successful response: its meaning and its schema, if it has one.

    A ``replayable`` one may repeat the first response to an idempotency key. A ``limited`` one has rate limit
    headers. One ``for_streams`` is sent only where a stream was requested; the document tells it in words, as a client
    generated from a response without a body would take the body of the others for optional.
    """

    description: str
    schema: type[Schema] | None = None
    media_type: str | None = "application/json"
    headers: tuple[str, ...] = ()
    optional_headers: tuple[str, ...] = ()
    """Headers that only some of these responses have."""
    replayable: bool = False
    limited: bool = False
    for_streams: bool = False
    streams: Mapping[str, str] = field(default_factory=dict)
    """The other media types of the response, and the description of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    ``problems`` are the codes of its problems, beside those that every operation has; ``min_key_length`` is the length
    of the shortest ``Idempotency-Key``.
    """

    id: str
    tag: str
    summary: str
    description: str
    responses: Mapping[int, ResponseSpec]
    access: AccessRule = "public"
    body: type[Schema] | None = None
    needs_body: bool = False
    """Whether a body has to be sent although none of its fields has to be in it."""
    text_body: str = ""
    """What a body of ``text/plain`` is; empty where only JSON is accepted."""
    headers: tuple[str, ...] = ()
    min_key_length: int = 1
    query: type[Schema] | None = None
    ignores_query: bool = False
    """Whether parameters in the query are ignored, as for a page that others link to; else unknown ones are refused."""
    problems: tuple[str, ...] = field(default=())


def describe(call: Callable[..., Any], described: Operation) -> Callable[..., Any]:
    """Attach the description of an operation to the function that Flask calls for it."""
    call.operation = described  # type: ignore[attr-defined]  # a function takes attributes
    return call


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """The description that is attached to a function, if there is one."""
    described = getattr(view, "operation", None)
    return described if isinstance(described, Operation) else None
