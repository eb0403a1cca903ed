"""The storage of hints and reviews beside their games in Redis or Valkey, and their encoding.

Owns what bot workers and the web server share of them. Each hint and each review is a string. In it, a hint comes after
the position that it is for, and a review after a byte that says whether it is complete. Both are compact JSON arrays,
as events are; reviews are compressed. Does not depend on who computes them.
"""

from __future__ import annotations

import zlib
from typing import Any, Final, Literal, NamedTuple

from msgspec import DecodeError, json

from service.games.model.game import Game
from service.games.ports import WrittenByNewer
from service.games.reminders import ReminderKind
from service.games.store.codec import decoder, encoder, state_prefix
from service.learning.review import Hint, Review
from service.redis import keys
from service.redis.calls import RedisCalls
from service.redis.shards import shard_of

HintState = Literal["requested", "pending", "moved"]
"""Why there is no hint: it was requested just now, it was requested before, or the game has left the position."""

_COMPLETE: Final = b"+"
_INCOMPLETE: Final = b"-"
_STATES: Final[tuple[HintState, ...]] = ("moved", "pending", "requested")
_hint_decoder: Final = decoder(Hint)
_review_decoder: Final = decoder(Review)


class StoredReview(NamedTuple):
    """A review that was requested."""

    data: bytes
    """The encoded part that has been computed; empty at first."""
    is_complete: bool


class RedisLearning:
    """Hints and reviews. They expire with their game, and are deleted with it. Each pending request has a reminder.

    A ``position`` is the beginning of a stored game: its version, and the first bytes of its state at that version.
    Every method can raise ``StorageUnavailable``, and is idempotent: a failed call can be repeated. All calls are sent
    like reads: replicas need not confirm writes, because lost data is requested again.
    """

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def request_hint(self, game: str, tenant: str, position: bytes) -> bytes | HintState:
        """Return the hint at this position; if there is none, request it. A game has only its latest hint."""
        names = (keys.state(game), keys.learning(game)[0], *_reminders("hints", game))
        answer = self._calls.read("ask_hint", names, position, game.encode(), tenant.encode())
        return bytes(answer[0]) if isinstance(answer, list) else _STATES[answer]

    def is_hint_requested(self, game: str, position: bytes) -> bool:
        """Return whether the latest request for a hint is for this position and has no result yet."""
        key = keys.learning(game)[0]
        return self._calls.read_all("is_hint_asked", key, (b"GET", key)) == [position]

    def store_hint(self, game: str, position: bytes, hint: bytes) -> bool:
        """Store a hint unless the game has left this position; return whether it is stored."""
        names = (keys.state(game), keys.learning(game)[0])
        return bool(self._calls.read("keep_hint", names, position, hint))

    def review(self, game: str, tenant: str, *, begin: bool = False) -> StoredReview | None:
        """Return the part of the review that has been computed; ``None`` if it was not requested.

        With ``begin``, it is requested if it was not before; ``None`` if there is no such game. A lost reminder is
        written again.
        """
        names = (*keys.of_game(game), keys.learning(game)[1], *_reminders("reviews", game))
        value = self._calls.read("ask_review", names, b"%d" % begin, game.encode(), tenant.encode())
        return None if value is None else StoredReview(bytes(value[1:]), value[:1] == _COMPLETE)

    def store_review(self, game: str, data: bytes, *, is_complete: bool) -> bool:
        """Store the part of a review that has been computed; return whether the rest is still needed.

        Does nothing if the review was not requested or is complete, or if the game was deleted.
        """
        value = (_COMPLETE if is_complete else _INCOMPLETE) + data
        return bool(self._calls.read("keep_review", keys.learning(game)[1:], value))


def _reminders(kind: ReminderKind, game: str) -> tuple[bytes, ...]:
    """Return the key of the tenants with reminders in the shard of this game; empty for a game without a shard."""
    shard = shard_of(game)
    return () if shard is None else (keys.reminder_sets(kind)[shard],)


def position_of(game: Game) -> bytes:
    """Return the beginning of the stored game, which is different at every version."""
    return b"%d %b" % (game.version, state_prefix(game))


def encode_hint(hint: Hint) -> bytes:
    """Encode a hint."""
    return encoder.encode(hint)


def decode_hint(data: bytes) -> Hint:
    """Decode a hint. Raises ``WrittenByNewer`` if it cannot be read."""
    hint: Hint = _decoded(_hint_decoder, data)
    return hint


def encode_review(review: Review) -> bytes:
    """Encode a review."""
    return zlib.compress(encoder.encode(review))


def decode_review(data: bytes) -> Review:
    """Decode a review; no bytes are an empty review. Raises ``WrittenByNewer`` if it cannot be read."""
    review: Review = _decoded(_review_decoder, zlib.decompress(data)) if data else Review([], [])
    return review


def _decoded(form: json.Decoder[Any], data: bytes) -> Any:
    try:
        return form.decode(data)
    except DecodeError:
        raise WrittenByNewer from None
