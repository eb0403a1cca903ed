"""Hints and reviews beside their games in Redis or Valkey, each in a string; and their stored form.

Owns the port, which a bot worker and the web share, and its adapter: what was asked for and what was computed. A hint
follows the position that it is for, and a review a byte that says whether it is complete. Both are compact JSON arrays,
as events are, and those of a review compressed. Does not depend on who computes them.
"""

from __future__ import annotations

import zlib
from typing import Any, Final, Literal, NamedTuple, Protocol

from msgspec import DecodeError, json

from service.games.model.game import Game
from service.games.ports import WrittenByNewer
from service.games.reminders import ReminderKind
from service.games.store.cache import UPGRADE_SECONDS
from service.games.store.codec import state_prefix
from service.games.store.stored_types import decoder, encoder
from service.learning.review import Hint, Review
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.shards import shard_of

HintState = Literal["asked", "pending", "moved"]
"""A hint that is not there: it was asked for just now, or before, or the game is not at that position any more."""

_COMPLETE: Final = b"+"
_INCOMPLETE: Final = b"-"
_STATES: Final[tuple[HintState, ...]] = ("moved", "pending", "asked")
_hint_decoder: Final = decoder(Hint)
_review_decoder: Final = decoder(Review)


class StoredReview(NamedTuple):
    """A review: what is known of it, nothing at first, and whether that is all. ``requested``: it was, just now."""

    data: bytes
    is_complete: bool
    requested: bool = False


class LearningStore(Protocol):
    """Hints and reviews. They expire with their game, and are deleted with it. Whatever is asked for has a reminder.

    A ``position`` is how a stored game begins: its version, and the first bytes of its state at that version. Every
    method raises ``StorageUnavailable``; each may be repeated, as it does then what it would have done.
    """

    def ask_hint(self, game: str, tenant: str, position: bytes) -> bytes | HintState:
        """Return the hint at this position; if there is none, have it computed. A game has one hint, the last one."""

    def is_hint_requested(self, game: str, position: bytes) -> bool:
        """Return whether the last hint that was asked for is that at this position, and is not there yet."""

    def keep_hint(self, game: str, position: bytes, hint: bytes) -> bool:
        """Keep a hint, unless the game is at another position by now; returns whether it is kept."""

    def ask_review(self, game: str, tenant: str) -> StoredReview | None:
        """Return the review of a game, as far as it is computed; if there is none, have it computed.

        ``None`` if there is no such game.
        """

    def review(self, game: str, tenant: str) -> StoredReview | None:
        """Return the review as far as it is computed; ``None`` if nobody has asked for it.

        A lost reminder is written anew.
        """

    def keep_review(self, game: str, data: bytes, *, is_complete: bool) -> bool:
        """Keep what is known of a review; returns whether more is wanted.

        Does nothing if nobody has asked for it, if the game was deleted, or if the review is complete.
        """


class RedisLearning(LearningStore):
    """The hints and reviews of the games on the servers of these calls.

    No replica has to confirm them, and what was lost is asked for again: so all calls are sent as reads are.
    """

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def ask_hint(self, game: str, tenant: str, position: bytes) -> bytes | HintState:
        names = (keys.state(game), keys.learning(game)[0], *_reminders("hints", game))
        command = evalsha("ask_hint", names, position, game.encode(), tenant.encode())
        answer = self._calls.read("ask_hint", names[0], command)
        return bytes(answer[0]) if isinstance(answer, list) else _STATES[answer]

    def is_hint_requested(self, game: str, position: bytes) -> bool:
        """Return whether there is the position alone."""
        key = keys.learning(game)[0]
        return bool(self._calls.read("is_hint_asked", key, (b"GET", key)) == position)

    def keep_hint(self, game: str, position: bytes, hint: bytes) -> bool:
        """Write it behind the position."""
        names = (keys.state(game), keys.learning(game)[0])
        return bool(self._calls.read("keep_hint", names[0], evalsha("keep_hint", names, position, hint)))

    def ask_review(self, game: str, tenant: str) -> StoredReview | None:
        return self._review(game, tenant, begin=True)

    def review(self, game: str, tenant: str) -> StoredReview | None:
        return self._review(game, tenant, begin=False)

    def _review(self, game: str, tenant: str, *, begin: bool) -> StoredReview | None:
        names = (*keys.of_game(game), keys.learning(game)[1], *_reminders("reviews", game))
        command = evalsha("ask_review", names, b"%d" % begin, game.encode(), tenant.encode())
        answer = self._calls.read("ask_review", names[0], command)
        if answer is None:
            return None
        value, requested = answer
        return StoredReview(bytes(value[1:]), value[:1] == _COMPLETE, bool(requested))

    def keep_review(self, game: str, data: bytes, *, is_complete: bool) -> bool:
        key = keys.learning(game)[1]
        value = (_COMPLETE if is_complete else _INCOMPLETE) + data
        return bool(self._calls.read("keep_review", key, evalsha("keep_review", (key,), value)))


def _reminders(kind: ReminderKind, game: str) -> tuple[bytes, ...]:
    """Return the set of tenants in which the reminder of this game is noted; none for a game without a shard."""
    shard = shard_of(game)
    return () if shard is None else (keys.reminder_sets(kind)[shard],)


def position_of(game: Game) -> bytes:
    """Return what the game, as it is stored, begins with at this version, and at no other."""
    return b"%d %b" % (game.version, state_prefix(game))


def encode_hint(hint: Hint) -> bytes:
    """Return the bytes of a hint."""
    return encoder.encode(hint)


def decode_hint(data: bytes) -> Hint:
    """Return the hint of these bytes. Raises ``WrittenByNewer`` if they cannot be read."""
    hint: Hint = _decoded(_hint_decoder, data)
    return hint


def encode_review(review: Review) -> bytes:
    """Return the bytes of a review."""
    return zlib.compress(encoder.encode(review))


def decode_review(data: bytes) -> Review:
    """Return the review of these bytes, with nothing in it of no bytes.

    Raises ``WrittenByNewer`` if they cannot be read.
    """
    review: Review = _decoded(_review_decoder, zlib.decompress(data)) if data else Review([], [])
    return review


def _decoded(form: json.Decoder[Any], data: bytes) -> Any:
    try:
        return form.decode(data)
    except DecodeError:
        raise WrittenByNewer("newer format", retry_after=UPGRADE_SECONDS) from None
