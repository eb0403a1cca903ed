"""Moves, setups and texts that are rejected.

Owns the tree of refusals of the engine::

    Refusal
    ├── InvalidSetup     a match that cannot be created: options, players or an arranged deal   invalid
    ├── InvalidNotation  a text that is not a tile or not a line of a match                     invalid
    ├── NotYourTurn      another seat is to move, or the seat is out of the match               not_your_turn
    ├── IllegalMove      the rules do not allow this move now                                   illegal_move
    ├── RoundOver        the round has been scored, and the next deal is due                    round_over
    └── GameOver         the match has been won                                                 game_over

Does not depend on HTTP. No message names a tile that its reader may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class Refusal(Exception):
    """A request that the rules reject; nothing has changed. ``code`` is stable, the message is for people."""

    code: ClassVar[str]

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class InvalidSetup(Refusal):
    """A match that cannot be created. ``errors`` has the messages by the path of the field (``rules.set``)."""

    code = "invalid"

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("; ".join(f"{path}: {' '.join(texts)}" for path, texts in errors.items()))
        self.errors = dict(errors)


class InvalidNotation(Refusal):
    """A text that is not a tile or a line of a match. ``at``: the offset, from 0, of the first wrong character."""

    code = "invalid"

    def __init__(self, sentence: str, at: int = 0) -> None:
        super().__init__(sentence)
        self.at = at


class NotYourTurn(Refusal):
    """Another seat is to move, or this seat is out of the match."""

    code = "not_your_turn"


class IllegalMove(Refusal):
    """The rules do not allow this move now."""

    code = "illegal_move"


class RoundOver(Refusal):
    """The round has been scored; the next one has to be dealt before any other move."""

    code = "round_over"


class GameOver(Refusal):
    """The match is over."""

    code = "game_over"
