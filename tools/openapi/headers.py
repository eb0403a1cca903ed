"""The headers of a response in the document."""

from __future__ import annotations

from typing import Any, Final

from tools.openapi.operations import QUOTA
from tools.openapi.texts import RESPONSE_HEADERS

_OPTIONAL_HEADERS: Final = (*QUOTA, "Accept-Patch", "Idempotent-Replayed")
"""Headers that are not in every response."""


def headers_section(names: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the headers of these names, of which ``optional`` are only in some of the responses."""
    return {
        name: {
            "description": RESPONSE_HEADERS[name],
            **({} if name in (*_OPTIONAL_HEADERS, *optional) else {"required": True}),
            "schema": {"type": "integer", "minimum": 0} if name == "Retry-After" else {"type": "string"},
        }
        for name in names
    }
