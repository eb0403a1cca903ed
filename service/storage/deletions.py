"""The games that were deleted lately, as Redis or Valkey tells: one script for all shards, or one for each of them.

Owns how they are read; they are noted by the deletion itself (``service.storage.games``), in the slot of the game.
Those from which a player was erased are noted beside them, with a word behind their id.
"""

from __future__ import annotations

from time import monotonic
from typing import Final

from service.games.model.shards import shard_of
from service.games.ports import DELETIONS_KEPT_MS, Deletions, RecentDeletions, StorageUnavailable
from service.storage import keys
from service.storage.redis.calls import Observer, RedisCalls, call_scripts, evalsha, observe_nothing
from service.storage.redis.topology import Topology

_ERASED: Final = " erased"
"""Behind the id of a game from which a player was erased."""


class RedisDeletions(Deletions):
    """The deletions of the games that a ``RedisStore`` keeps on the same servers."""

    def __init__(self, topology: Topology, *, observe: Observer) -> None:
        self._topology = topology
        self._observe = observe
        self._calls = RedisCalls(topology, observe=observe, observe_failure=observe_nothing)

    def deleted(self, within: int) -> RecentDeletions:
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
        noted = [each.decode() for answer in answers if not isinstance(answer, StorageUnavailable) for each in answer]
        games = tuple([each for each in noted if not each.endswith(_ERASED)])
        erased = tuple([each.removesuffix(_ERASED) for each in noted if each.endswith(_ERASED)])
        return RecentDeletions(games, erased, not failures)

    def note_erasure(self, game: str) -> None:
        shard = shard_of(game)
        if shard is not None:
            key = keys.DELETED[shard]
            command = evalsha("note_erasure", (key,), (game + _ERASED).encode(), DELETIONS_KEPT_MS)
            self._calls.write("note_erasure", key, command)
