"""Hints and reviews in Redis or Valkey, each in a string beside its game.

Owns what is sent, and the form of the strings: a hint follows the position that it is for, and a review a byte that
says whether it is complete.
"""

from __future__ import annotations

from typing import Final

from service.games.advice import AdviceStore, HintState, KeptReview
from service.games.reminders import ReminderKind
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.shards import shard_of

_COMPLETE: Final = b"+"
_INCOMPLETE: Final = b"-"
_STATES: Final[tuple[HintState, ...]] = ("moved", "pending", "asked")


class RedisAdvice(AdviceStore):
    """The hints and reviews of the games on the servers of these calls.

    No replica has to confirm them, and what was lost is asked for again: so all calls are sent as reads are.
    """

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def ask_hint(self, game: str, holder: str, position: bytes) -> bytes | HintState:
        names = (keys.state(game), keys.advice(game)[0], *_reminders("hints", game))
        command = evalsha("ask_hint", names, position, game.encode(), holder.encode())
        answer = self._calls.read("ask_hint", names[0], command)
        return bytes(answer[0]) if isinstance(answer, list) else _STATES[answer]

    def is_hint_asked(self, game: str, position: bytes) -> bool:
        """Return whether there is the position alone."""
        key = keys.advice(game)[0]
        return bool(self._calls.read("is_hint_asked", key, (b"GET", key)) == position)

    def keep_hint(self, game: str, position: bytes, hint: bytes) -> bool:
        """Write it behind the position."""
        names = (keys.state(game), keys.advice(game)[0])
        return bool(self._calls.read("keep_hint", names[0], evalsha("keep_hint", names, position, hint)))

    def ask_review(self, game: str, holder: str) -> KeptReview | None:
        return self._review(game, holder, begin=True)

    def review(self, game: str, holder: str) -> KeptReview | None:
        return self._review(game, holder, begin=False)

    def _review(self, game: str, holder: str, *, begin: bool) -> KeptReview | None:
        names = (*keys.of_game(game), keys.advice(game)[1], *_reminders("reviews", game))
        command = evalsha("ask_review", names, b"%d" % begin, game.encode(), holder.encode())
        answer = self._calls.read("ask_review", names[0], command)
        if answer is None:
            return None
        value, asked = answer
        return KeptReview(bytes(value[1:]), value[:1] == _COMPLETE, bool(asked))

    def keep_review(self, game: str, data: bytes, *, is_complete: bool) -> bool:
        key = keys.advice(game)[1]
        value = (_COMPLETE if is_complete else _INCOMPLETE) + data
        return bool(self._calls.read("keep_review", key, evalsha("keep_review", (key,), value)))


def _reminders(kind: ReminderKind, game: str) -> tuple[bytes, ...]:
    """Return the set of holders in which the reminder of this game is noted; none for a game without a shard."""
    shard = shard_of(game)
    return () if shard is None else (keys.reminder_sets(kind)[shard],)
