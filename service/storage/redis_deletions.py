"""The games that were deleted lately, as Redis or Valkey tells: one script for all shards, or one for each of them.

Owns how they are read; they are noted by the deletion itself (``service.storage.redis_store``), in the slot of the
game. Does not depend on who has to know of a deletion.
"""

from __future__ import annotations

from time import monotonic

from service.games.ports import Deletions, RecentDeletions, StorageUnavailable
from service.storage import keys
from service.storage.redis_calls import Observer, call_scripts, observe_nothing
from service.storage.script_commands import evalsha
from service.storage.topology import Topology


class RedisDeletions(Deletions):
    """The deletions of the games that a ``RedisStore`` keeps on the same servers."""

    def __init__(self, topology: Topology, *, observe: Observer = observe_nothing) -> None:
        self._topology = topology
        self._observe = observe

    def deleted(self, within: int) -> RecentDeletions:
        """The games that were deleted lately."""
        shards = [keys.DELETED] if self._topology.scripts_span_slots else [(key,) for key in keys.DELETED]
        began = monotonic()
        try:
            answers = call_scripts(
                self._topology, "deleted", [(each[0], evalsha("deleted", each, within)) for each in shards]
            )
        finally:
            self._observe("deleted", monotonic() - began)
        failures = [answer for answer in answers if isinstance(answer, StorageUnavailable)]
        if len(failures) == len(answers):
            raise failures[0]
        games = [game.decode() for answer in answers if not isinstance(answer, StorageUnavailable) for game in answer]
        return RecentDeletions(tuple(games), not failures)
