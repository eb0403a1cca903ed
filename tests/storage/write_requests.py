"""Writes and events as the tests of the store send them."""

from __future__ import annotations

import secrets

from service.games.ports import IdempotencyRecord, WriteRequest


def write(idempotency: IdempotencyRecord | None = None) -> WriteRequest:
    """A write with a new id."""
    return WriteRequest(secrets.token_urlsafe(6).encode(), idempotency)


def usual(first: int, last: int) -> list[bytes]:
    """Events of these versions, in the usual form."""
    return [
        b'[%d,%d,"event %d"]' % (version % 12, version * version * 7, version) for version in range(first, last + 1)
    ]
