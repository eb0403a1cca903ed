"""How a time is written, wherever a game tells one."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def format_rfc3339(milliseconds: int) -> str:
    """A time in RFC 3339, in UTC, to the millisecond."""
    minutes, rest = divmod(milliseconds, 60_000)
    seconds, thousandths = divmod(rest, 1000)
    return f"{_show_minute(minutes)}:{seconds:02}.{thousandths:03}Z"


@lru_cache(maxsize=1024)
def _show_minute(minutes: int) -> str:
    """The beginning of a time, which many answers have in common."""
    return datetime.fromtimestamp(minutes * 60, UTC).strftime("%Y-%m-%dT%H:%M")
