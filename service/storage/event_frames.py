"""The events of a game as entries of its list in Redis, and as published.

Owns the frame around an event: ``<id> <event>``, where the first event of a write has the id of the write and the
others have an empty one. In a compacted list the first entry is ``*`` and a block (``service.storage.compaction``) that
contains the oldest events, without ids. No id begins with ``*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.games.ports import EventNotification
from service.storage.compaction import compress, decompress

_COMPACTED: Final = b"*"


def frame(write: bytes, events: Sequence[bytes]) -> list[bytes]:
    """Return the entries of a write: its id before the first event, an empty one before the others."""
    return [b"%b %b" % (write, events[0]), *[b" " + event for event in events[1:]]]


def event_of(entry: bytes) -> bytes:
    """Return the event of an entry that is no block."""
    return entry.partition(b" ")[2]


def events_of(entries: Sequence[bytes]) -> list[bytes]:
    """Return the events of consecutive entries, those of a block included."""
    if not entries or not entries[0].startswith(_COMPACTED):
        return [event_of(entry) for entry in entries]
    return [*decompress(entries[0].removeprefix(_COMPACTED)), *map(event_of, entries[1:])]


def last_write(entries: Sequence[bytes]) -> int:
    """Return the index of the first entry of the last write; 0 if no id separates it from earlier writes."""
    return next((index for index in range(len(entries) - 1, 0, -1) if not entries[index].startswith(b" ")), 0)


def block_of(entries: Sequence[bytes]) -> bytes | None:
    """One entry with the events of these; ``None`` for fewer than two, or if they cannot be compressed."""
    block = compress(events_of(entries)) if len(entries) > 1 else None
    return None if block is None else _COMPACTED + block


def parse_notification(message: bytes) -> EventNotification:
    """Return what ``commit`` published: ``<version before> `` and the entries, one per line.

    The script ``delete`` publishes a version without entries.
    """
    after, _, entries = message.partition(b" ")
    if not entries:
        return EventNotification(int(after), ())
    write, _, _ = entries.partition(b" ")
    return EventNotification(int(after), tuple([event_of(entry) for entry in entries.split(b"\n")]), write)
