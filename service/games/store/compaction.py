"""The compaction of finished games, in the background.

Owns what becomes of a failure.
"""

from __future__ import annotations

import logging
from functools import partial

from service.games.ports import OutcomeUnknown, RunLater, StorageUnavailable, Store

_log = logging.getLogger(__name__)


class Compaction:
    """Has a store compact games."""

    def __init__(self, store: Store, run_later: RunLater) -> None:
        self._store = store
        self._run_later = run_later

    def begin(self, game_id: str) -> None:
        """Compact the events of a finished game in the background."""
        self._run_later(partial(self._compact, game_id))

    def _compact(self, game_id: str) -> None:
        """Compact the events. A failure does not concern the client: its write is committed."""
        try:
            self._store.compact(game_id)
        except (StorageUnavailable, OutcomeUnknown):
            pass
        except Exception:
            _log.exception("a finished game could not be compacted")
