"""The text form of a time, the same wherever the service writes one.

Owns that form.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=4096)
def format_rfc3339(milliseconds: int) -> str:
    """Return a time in milliseconds since 1970 in the form of RFC 3339, in UTC: ``2026-01-06T19:33:20.000Z``.

    Cached, as the times of a game are shown again with each view.
    """
    minutes, rest = divmod(milliseconds, 60_000)
    seconds, thousandths = divmod(rest, 1000)
    return f"{_format_minute(minutes)}:{seconds:02}.{thousandths:03}Z"


@lru_cache(maxsize=1024)
def _format_minute(minutes: int) -> str:
    """Return the text up to the minute; cached, as many times within a minute are formatted."""
    return datetime.fromtimestamp(minutes * 60, UTC).strftime("%Y-%m-%dT%H:%M")
