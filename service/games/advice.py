"""The port for what is computed of a game for who learns: the hint of a version, and the review of a finished match.

Owns the interface only: what was asked for, which a bot worker has to compute, and what was computed, beside its game
in the store. Both are opaque to the store.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

HintState = Literal["asked", "pending", "moved"]
"""A hint that is not there: it was asked for just now, or before, or the game is not at that position any more."""


class KeptReview(NamedTuple):
    """A review: what is known of it, nothing at first, and whether that is all. ``asked``: it was, just now."""

    data: bytes
    is_complete: bool
    asked: bool = False


class AdviceStore(Protocol):
    """Hints and reviews. They expire with their game, and are deleted with it. Whatever is asked for has a reminder.

    A ``position`` is how a stored game begins: its version, and the first bytes of its state at that version. Every
    method raises ``StorageUnavailable``; each may be repeated, as it does then what it would have done.
    """

    def ask_hint(self, game: str, holder: str, position: bytes) -> bytes | HintState:
        """Return the hint at this position; if there is none, have it computed. A game has one hint, the last one."""

    def is_hint_asked(self, game: str, position: bytes) -> bool:
        """Return whether the last hint that was asked for is that at this position, and is not there yet."""

    def keep_hint(self, game: str, position: bytes, hint: bytes) -> bool:
        """Keep a hint, unless the game is at another position by now; returns whether it is kept."""

    def ask_review(self, game: str, holder: str) -> KeptReview | None:
        """Return the review of a game, as far as it is computed; if there is none, have it computed.

        ``None`` if there is no such game.
        """

    def review(self, game: str, holder: str) -> KeptReview | None:
        """Return the review as far as it is computed; ``None`` if nobody has asked for it.

        A lost reminder is written anew.
        """

    def keep_review(self, game: str, data: bytes, *, is_complete: bool) -> bool:
        """Keep what is known of a review; returns whether more is wanted.

        Does nothing if nobody has asked for it, if the game was deleted, or if the review is complete.
        """
