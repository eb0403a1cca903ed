"""Events as they stand in Redis: each behind the id of its write, if it is the first of it, or many in one block.

Owns the frame around an event and around a block, in the list of a game and in the news of it. Must not know what an
event means.

A block is the first entry of a list, if there is one: ``*<number of events>:<block> ["packed",0]``. No id begins with
``*``, and none of the events in it has an id any more. Its end is there for a service that knows no blocks: it takes
what stands behind the first space for an event, and this for an event of a newer service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.games.ports import EventNotification
from service.storage.compaction import compress, decompress

_BLOCK: Final = b"*"
_END: Final = b' ["packed",0]'


def frame(write: bytes, events: Sequence[bytes]) -> list[bytes]:
    """The entries of a write: the id before the first event, nothing before the others."""
    return [b"%b %b" % (write, events[0]), *[b" " + event for event in events[1:]]]


def event_of(entry: bytes) -> bytes:
    """The event of an entry. Games kept in the first format have no frame; there an event begins with ``[``."""
    return entry if entry.startswith(b"[") else entry.partition(b" ")[2]


def events_of(entries: Sequence[bytes]) -> list[bytes]:
    """The events of entries that follow each other, those of a block included."""
    if not entries or not entries[0].startswith(_BLOCK):
        return [event_of(entry) for entry in entries]
    _, _, block = entries[0].removesuffix(_END).partition(b":")
    return [*decompress(_with_spaces(block)), *map(event_of, entries[1:])]


def last_write(entries: Sequence[bytes]) -> int:
    """The place of the first entry of the last write; 0 if none can be told from what was before it."""
    return next((place for place in range(len(entries) - 1, 0, -1) if not entries[place].startswith((b" ", b"["))), 0)


def block_of(entries: Sequence[bytes]) -> bytes | None:
    """One entry that stands for these; ``None`` if they are one already, or cannot be packed."""
    if len(entries) < 2:
        return None
    events = events_of(entries)
    block = compress(events)
    return None if block is None else b"%b%d:%b%b" % (_BLOCK, len(events), _without_spaces(block), _END)


def parse_notification(message: bytes) -> EventNotification:
    """What the script ``commit`` published: ``<version before> ``, and the entries, a line each."""
    after, _, entries = message.partition(b" ")
    return EventNotification(int(after), tuple([event_of(entry) for entry in entries.split(b"\n")]))


def _without_spaces(block: bytes) -> bytes:
    return block.replace(b"\\", b"\\0").replace(b" ", b"\\1")


def _with_spaces(block: bytes) -> bytes:
    return block.replace(b"\\1", b" ").replace(b"\\0", b"\\")
