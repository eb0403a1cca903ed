"""The in-memory counterpart of the feeds in Redis.

The same contract tests run over both. Does not depend on Redis.
"""

from __future__ import annotations

import orjson

from service.backends.index.store import cursor_of, item_id
from service.backends.ports import FeedStore, StoredItem, StoredItems
from tests.support.stores.memory_index import MemoryIndex


class MemoryFeed(FeedStore):
    """The feeds that a ``MemoryIndex`` writes; the cursor of an item is its number, from 1."""

    def __init__(self, index: MemoryIndex) -> None:
        self._index = index

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """Items after a cursor, and what the index knows of their games."""
        start = None if after is None else item_id(after)
        kept, trimmed = list(self._index.items.get(app, ())), self._index.trimmed.get(app, 0)
        last = (trimmed + len(kept), 0)
        if start is not None and start < (trimmed, 0):
            return StoredItems((), cursor_of((trimmed, 0)), {}, lost=True)
        if start is not None and start > last:
            return StoredItems((), cursor_of(last), {}, lost=True)
        first = 0 if start is None else start[0] - trimmed
        items = tuple(
            [
                StoredItem(cursor_of((trimmed + number, 0)), orjson.loads(item)["game_id"], item)
                for number, item in enumerate(kept[first : first + limit], first + 1)
            ]
        )
        known = {item.game: self._index.summary(app, item.game) for item in items}
        summaries = {game: summary for game, summary in known.items() if summary is not None}
        return StoredItems(items, items[-1].cursor if items else cursor_of(last if start is None else start), summaries)

    def newest(self, app: str) -> str:
        """The number of the newest item."""
        return self.read(app, None, 0).cursor
