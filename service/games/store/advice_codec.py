"""Hints and reviews as bytes for the store, and back.

Owns their stored form: compact JSON arrays, as of events, and those of a review compressed.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

from msgspec import DecodeError, json

from service.games.model.game import Game
from service.games.ports import WrittenByNewer
from service.games.store.cache import UPGRADE_SECONDS
from service.games.store.codec import state_prefix
from service.games.store.stored_types import decoder, encoder
from service.records.review import Hint, Review

_hint_decoder: Final = decoder(Hint)
_review_decoder: Final = decoder(Review)


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
