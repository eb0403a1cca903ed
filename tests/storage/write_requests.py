"""Writes and events as the tests of the store send them."""

from __future__ import annotations

import secrets

from service.games.ports import IdempotencyRecord, WriteRequest


def write(wish: IdempotencyRecord | None = None) -> WriteRequest:
    """A write that nobody has sent before."""
    return WriteRequest(secrets.token_urlsafe(6).encode(), wish)


def usual(first: int, last: int) -> list[bytes]:
    """Events of these versions, as they begin in every game."""
    return [
        b'[%d,%d,"event %d"]' % (version % 12, version * version * 7, version) for version in range(first, last + 1)
    ]
