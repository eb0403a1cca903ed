"""Events as they stand in Redis: each behind the id of its write, if it is the first of it.

Owns the frame around an event, in the list of a game and in the news of it. Must not know what an event means.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.games.ports import News


def framed(write: bytes, events: Sequence[bytes]) -> list[bytes]:
    """The entries of a write: the id before the first event, nothing before the others."""
    return [b"%b %b" % (write, events[0]), *[b" " + event for event in events[1:]]]


def event_of(entry: bytes) -> bytes:
    """The event of an entry. Games kept in the first format have no frame; there an event begins with ``[``."""
    return entry if entry.startswith(b"[") else entry.partition(b" ")[2]


def news_of(message: bytes) -> News:
    """What the script ``commit`` published: ``<version before> ``, and the entries, a line each."""
    after, _, entries = message.partition(b" ")
    return News(int(after), tuple([event_of(entry) for entry in entries.split(b"\n")]))
