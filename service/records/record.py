"""A complete match, or what one viewer has seen of it, as a value.

Owns the form of a record, the errors of one, and how a text becomes lines.
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
"""What a record claims of its deals: derived by the scheme of that name, or arranged."""

PROVABLE: Final = SCHEME
ARRANGED: Final = "arranged"

SPECTATOR: Final = "spectator"
Viewer = int | Literal["spectator"]


class RecordedBot(NamedTuple):
    """A seat of a computer player: its level, and the edition of the computer players that chose its moves."""

    seat: int
    level: str
    edition: int


class RecordedClock(NamedTuple):
    """The time for each ``turn``, or else a ``bank`` and an ``increment``, in seconds; and what follows at its end."""

    turn: int | None
    bank: int
    increment: int
    absence: Absence


class VersionedEvent(NamedTuple):
    """An event with its version in the game; a deal has no proof here, but its round does."""

    version: int
    event: RecordedEvent


class RecordedRound(NamedTuple):
    """A round that was dealt, or one that has only been committed to (no ``lines``).

    If the deals can be verified, it has the ``commitment``; once dealt, the ``client_seeds``; and once over, the
    ``attempt`` at dealing and the ``seed``.
    """

    number: int
    commitment: bytes | None = None
    client_seeds: tuple[str, ...] | None = None
    attempt: int | None = None
    seed: bytes | None = None
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
    """When the game was created: UTC with milliseconds, as 2026-11-21T21:16:28.123Z; empty if unknown."""
    fairness: FairnessClaim
    viewer: Viewer | None = None
    """Whose view the record is; ``None``: it is complete."""
    result: tuple[int, ...] | None = None
    """The winners; ``None`` until the match is over."""
    rounds: tuple[RecordedRound, ...] = ()

    def bot_at(self, seat: int) -> RecordedBot | None:
        """Return the computer player at this seat; ``None`` for a person."""
        return next((bot for bot in self.bots if bot.seat == seat), None)


# Records that are rejected.


class InvalidRecord(Refusal):
    """A text that is not a record.

    ``sentence`` says in English what was expected; ``line`` and ``column``, from 1, are those of the first wrong
    character.
    """

    code = "invalid"

    def __init__(self, sentence: str, line: int, column: int) -> None:
        super().__init__("record_syntax", line=line, column=column, message=sentence)
        self.sentence = sentence
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.sentence}"


class InvalidForkPoint(Refusal):
    """A version from which a recorded match cannot be continued."""

    code = "invalid"


# The lines of a record, from a text as an editor or a mail may have left it.


_BYTE_ORDER_MARK = "\ufeff"


class SourceLines(NamedTuple):
    """The lines, without their ends, and how many lines of the text were before them."""

    lines: list[str]
    before: int


def split_lines(text: str) -> SourceLines:
    """Return the lines of a text that may be a record. Takes linear time."""
    lines = [line.rstrip(" \t\r") for line in text.removeprefix(_BYTE_ORDER_MARK).split("\n")]
    before, end = 0, len(lines)
    while end and not lines[end - 1]:
        end -= 1
    while before < end and not lines[before]:
        before += 1
    return SourceLines(lines[before:end], before)
