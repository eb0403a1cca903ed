"""The games that were deleted lately, as Redis or Valkey tells: one script for all shards, or one for each of them.

Owns how they are read; they are noted by the deletion itself (``service.storage.redis_store``), in the slot of the
game. Does not depend on who has to know of a deletion.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

from redis.exceptions import NoScriptError

from service.games.ports import Deletions, RecentDeletions, StorageUnavailable
from service.storage import keys
from service.storage.connection import Command, MaybeSent, NotSent
from service.storage.redis_calls import Observer, observe_nothing
from service.storage.redis_errors import as_unavailable, unanswered
from service.storage.script_commands import evalsha, with_source
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
            answers = self._call([(each[0], evalsha("deleted", each, within)) for each in shards])
        finally:
            self._observe("deleted", monotonic() - began)
        failures = [_failure(answer) for answer in answers if isinstance(answer, Exception)]
        if len(failures) == len(answers):
            raise failures[0]
        games = [game.decode() for answer in answers if not isinstance(answer, Exception) for game in answer]
        return RecentDeletions(tuple(games), not failures)

    def _call(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """The answers to these commands, each on the owner of its key; a script that is unknown there is sent."""
        answers = self._topology.call_each(calls)
        unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:
            again = [(calls[at][0], with_source("deleted", calls[at][1])) for at in unknown]
            for at, answer in zip(unknown, self._topology.call_each(again), strict=True):
                answers[at] = answer
        return answers


def _failure(error: Exception) -> StorageUnavailable:
    """The error of the port for an answer that failed. Raises ``error`` itself if the program is wrong."""
    if isinstance(error, NotSent | MaybeSent):
        return unanswered(error)
    unavailable = as_unavailable(error)
    if unavailable is None:
        raise error
    return unavailable
