"""The feeds of applications in Redis or Valkey: read only, as the script ``index`` writes them.

Owns what a cursor is, the id of an item of a stream, and how it is seen that items after one are lost.
"""

from __future__ import annotations

import re
from typing import Final

from service.backends.ports import FeedStore, StoredItem, StoredItems
from service.storage import keys
from service.storage.redis.calls import RedisCalls, evalsha

_CURSOR: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
"""Milliseconds since 1970, and a number within these; fewer digits than make Redis refuse an id."""
_HIGHEST: Final = 10**18 - 1

ItemId = tuple[int, int]


class RedisFeed(FeedStore):
    """The feeds of applications."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        start = None if after is None else item_id(after)
        key = keys.feed(app)
        first = b"" if start is None else b"%d-%d" % start
        command = evalsha("feed_read", (key, keys.index(app)), first, limit)
        oldest, newest, length, added, found, known = self._calls.read("feed_read", key, command)
        last = item_id(newest.decode())
        if start is not None:
            # After the newest of the items that were dropped nothing is lost, but which one that was is not known.
            before = _predecessor(item_id(oldest.decode())) if length else last
            if added > length and start < before:
                return StoredItems((), cursor_of(before), {}, lost=True)
            if start > last:  # the servers have lost their last writes, or their data was restored from a copy
                return StoredItems((), cursor_of(last), {}, lost=True)
        items = tuple(
            [
                StoredItem(at.decode(), game.decode(), item)
                for at, game, item in zip(found[::3], found[1::3], found[2::3], strict=True)
            ]
        )
        summaries = {game.decode(): summary for game, summary in zip(known[::2], known[1::2], strict=True)}
        return StoredItems(items, items[-1].cursor if items else cursor_of(last if start is None else start), summaries)

    def newest(self, app: str) -> str:
        """Return the id of the newest item."""
        return self.read(app, None, 0).cursor


def item_id(cursor: str) -> ItemId:
    """Return the id that a cursor is. Raises ``ValueError``."""
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ValueError("no cursor")
    return int(found[1]), int(found[2])


def cursor_of(item: ItemId) -> str:
    """Return the cursor that an id is."""
    milliseconds, number = item
    return f"{milliseconds}-{number}"


def _predecessor(item: ItemId) -> ItemId:
    """Return the last id before this one that a cursor may be."""
    milliseconds, number = item
    return (milliseconds, number - 1) if number else (max(milliseconds - 1, 0), _HIGHEST if milliseconds else 0)
