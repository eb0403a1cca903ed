"""Writes as the tests of the store send them."""

from __future__ import annotations

import secrets

from service.games.ports import Record, Write


def write(record: Record | None = None) -> Write:
    """A write that nobody has sent before."""
    return Write(secrets.token_urlsafe(6).encode(), record)
