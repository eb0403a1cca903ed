"""What the rules say no to.

Owns the tree of refusals of the engine::

    Refusal
    ├── BadSetup       a match that cannot be made: options, players or an arranged deal   invalid
    ├── BadNotation    a text that is no tile or no line of a match                        invalid
    ├── NotYourTurn    somebody else is to move, or the seat is out of the match           not_your_turn
    ├── IllegalMove    the rules do not allow this move now                                illegal_move
    ├── RoundOver      the count stands and the next deal is due                           round_over
    └── GameOver       the match has been won                                              game_over

Must not know: HTTP. No message names a tile that its reader may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class Refusal(Exception):
    """A rule said no, and nothing has changed. ``code`` is stable; the message is a sentence for people."""

    code: ClassVar[str]

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class InvalidSetup(Refusal):
    """A match that cannot be made. ``errors`` has the complaints by the path of the field (``rules.set``)."""

    code = "invalid"

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("; ".join(f"{path}: {' '.join(texts)}" for path, texts in errors.items()))
        self.errors = dict(errors)


class InvalidNotation(Refusal):
    """A text that is no tile or no line of a match. ``at`` is the place, from 0, where it cannot be right."""

    code = "invalid"

    def __init__(self, sentence: str, at: int = 0) -> None:
        super().__init__(sentence)
        self.at = at


class NotYourTurn(Refusal):
    """Somebody else is to move, or this seat is out of the match."""

    code = "not_your_turn"


class IllegalMove(Refusal):
    """The rules do not allow this move now."""

    code = "illegal_move"


class RoundOver(Refusal):
    """The round has been counted; the next deal is due before anybody can move."""

    code = "round_over"


class GameOver(Refusal):
    """The match is over."""

    code = "game_over"
