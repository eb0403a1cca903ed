"""The type of a record: a complete match, or the part of it that one viewer has seen.

Owns the fields of a record, the errors for an invalid one, and the division of a text into lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.deal import SCHEME
from service.engine.errors import Refusal
from service.engine.options import Value
from service.engine.presence import Absence
from service.engine.view import RecordedEvent

FairnessClaim = Literal["domino-deal-1", "arranged"]
"""The claim of a record about its deals: derived by the scheme of that name, or arranged."""

PROVABLE: Final = SCHEME
ARRANGED: Final = "arranged"

SPECTATOR: Final = "spectator"
Viewer = int | Literal["spectator"]


class RecordedBot(NamedTuple):
    """A computer player: its seat, its level, and the edition of that level that chose its moves."""

    seat: int
    level: str
    edition: int


class RecordedClock(NamedTuple):
    """The clock of a match, in seconds: either ``turn``, or ``bank`` and ``increment``."""

    turn: int | None
    bank: int
    increment: int
    absence: Absence
    """What happens at a time-out."""


class VersionedEvent(NamedTuple):
    """An event with its version in the game. The proof of a deal is in its round, not here."""

    version: int
    event: RecordedEvent


class RecordedRound(NamedTuple):
    """A round; without ``lines`` it has not been dealt. Only verifiable deals have commitments, seeds and attempts."""

    number: int
    commitment: bytes | None = None
    """The commitment to the ``seed``."""
    client_seeds: tuple[str, ...] | None = None
    """The text that each seat has contributed to the deal; published with the deal."""
    attempt: int | None = None
    """The number of rejected deals of this seed; published after the round."""
    seed: bytes | None = None
    """The secret that the deal is derived from; published after the round."""
    lines: tuple[VersionedEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A match: the game, its options, the players and every round."""

    variant: str
    edition: int
    options: tuple[tuple[str, Value], ...]
    """Every option with its value, in the order of the variant."""
    players: tuple[str, ...]
    """The names in seat order; empty for an open seat."""
    bots: tuple[RecordedBot, ...] = ()
    """The seats of computer players, ascending."""
    clock: RecordedClock | None = None
    game: str = ""
    """The id of the hosted game; empty if there was none."""
    date: str = ""
    """The time when the game was created: UTC with milliseconds, as 2026-11-21T21:16:28.123Z; empty if unknown."""
    fairness: FairnessClaim
    viewer: Viewer | None = None
    """The viewer that a partial record is redacted for; ``None``: the record is complete."""
    result: tuple[int, ...] | None = None
    """The winners; ``None`` until the match is over."""
    rounds: tuple[RecordedRound, ...] = ()

    def bot_at(self, seat: int) -> RecordedBot | None:
        """Return the computer player at this seat; ``None`` for a person."""
        return next((bot for bot in self.bots if bot.seat == seat), None)


# Errors.


class InvalidRecord(Refusal):
    """A text that is not a record.

    ``sentence`` says in English what was expected. ``line`` and ``column`` are the place of the first wrong character,
    counted from 1.
    """

    def __init__(self, sentence: str, line: int, column: int) -> None:
        super().__init__("record_syntax", line=line, column=column, message=sentence)
        self.sentence = sentence
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.sentence}"


class InvalidForkPoint(Refusal):
    """A version from which a recorded match cannot be continued."""
