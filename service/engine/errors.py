"""The exceptions of the engine, for moves, setups and texts that it rejects.

A refusal has its reason as data; ``service.reasons`` turns the reason into a sentence. No reason names a tile that its
reader must not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

Param = int | str | Sequence[str]
_NONE: Final[Mapping[str, Param]] = MappingProxyType({})


class Reason(NamedTuple):
    """The reason of a refusal: a stable word, and the values for its sentence."""

    word: str
    params: Mapping[str, Param] = _NONE

    def __str__(self) -> str:
        return " ".join([self.word, *[f"{name}={value}" for name, value in self.params.items()]])


class Refusal(Exception):
    """A request that is refused; the state is unchanged. ``service.reasons`` has the code of each reason."""

    def __init__(self, word: str, **params: Param) -> None:
        self.reason = Reason(word, params)
        super().__init__(str(self.reason))


class InvalidSetup(Refusal):
    """A match that cannot be created. ``errors`` has the reasons by the path of the field (``options.set``)."""

    def __init__(self, errors: Mapping[str, list[Reason]]) -> None:
        super().__init__("invalid", fields=list(errors))
        self.errors = dict(errors)


class InvalidNotation(Refusal):
    """A text that is not a tile or a line of a match.

    ``sentence`` describes in English what was expected; ``at`` is the offset of the first wrong character, from 0.
    """

    def __init__(self, sentence: str, at: int = 0) -> None:
        super().__init__("record_syntax", line=1, column=at + 1, message=sentence)
        self.sentence = sentence
        self.at = at


class NotYourTurn(Refusal):
    """Another seat is to move."""


class NotInMatch(Refusal):
    """This seat is out of the match."""


class IllegalMove(Refusal):
    """The rules do not allow this move now."""


class RoundOver(Refusal):
    """The round has been scored; the next one has to be dealt before any other move."""


class GameOver(Refusal):
    """The match is over."""
