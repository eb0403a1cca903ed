"""Errors of requests that are refused at the level of HTTP, and the WSGI environment of the current request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from service.engine.errors import Reason, Refusal


class RequestError(Refusal):
    """A request that is rejected at the level of HTTP."""


class TooManyStreams(Exception):
    """This worker has reached its limit of open streams, or is about to stop."""


class InvalidBody(Exception):
    """A body, query or header has invalid fields; ``errors`` has the reasons for each field, by its path."""

    def __init__(self, errors: Mapping[str, list[Reason]]) -> None:
        super().__init__("invalid")
        self.errors = errors


ENVIRON: Final = ContextVar[dict[str, Any]]("environ")
"""Set only while a request is handled, so that an idle connection does not keep the last request in memory."""

current_environ: Final[Callable[[], dict[str, Any]]] = ENVIRON.get
"""Returns the environment of the current request. Raises ``LookupError`` outside a request."""
