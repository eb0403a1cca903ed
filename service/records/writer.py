"""A record as text (``docs/record.md``): a head of tags, and a section for every round.

Owns the order and the form of the tags; ``notation`` writes the events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from service.engine.options import Value, format_value
from service.records.notation.events import format_event
from service.records.notation.scanner import quote
from service.records.record import Record, RecordedClock, RecordedRound

MEDIA_TYPE: Final = "text/vnd.domino-record"
"""The type of a record, in UTF-8; the files of its records end in ``FILE_SUFFIX``."""
FILE_SUFFIX: Final = ".domino"
NOTATION_VERSION: Final = "1"
HEAD: Final = -1

Location = tuple[int, str | int]
"""A place in a record: the index of a round, or ``HEAD``; and the name of a tag (for a player with the seat:
``Player 0``), or the index of a line."""


def format_record(record: Record) -> str:
    """Return the text of a record; it ends with a line feed."""
    return "".join([f"{line}\n" for line in _lines(record)])


def line_numbers(record: Record) -> dict[Location, int]:
    """Return the number of every line, from 1, in the text of the record."""
    return {place: number for number, place in enumerate(_places(record), 1) if place is not None}


def _places(record: Record) -> Iterator[Location | None]:
    """Yield the place of every line; ``None`` for an empty one."""
    yield from [(HEAD, name) for name, _ in _head(record)]
    for index, each in enumerate(record.rounds):
        yield None
        yield from [(index, name) for name, _ in _tags(each)]
        yield from [(index, at) for at in range(len(each.lines))]


def _lines(record: Record) -> Iterator[str]:
    for _, tag in _head(record):
        yield tag
    for each in record.rounds:
        yield ""
        for _, tag in _tags(each):
            yield tag
        for version, event in each.lines:
            yield f"{version}. {format_event(event)}"


def _head(record: Record) -> Iterator[tuple[str, str]]:
    yield _tag("Record", NOTATION_VERSION)
    if record.game:
        yield _tag("GameId", record.game)
    yield _tag("Variant", record.variant)
    yield _tag("Edition", record.edition)
    yield _tag("Options", " ".join([_option(key, value) for key, value in record.options]))
    for seat, name in enumerate(record.players):
        yield f"Player {seat}", f"[Player {seat} {quote(name)}{_format_kind(record, seat)}]"
    if record.clock is not None:
        yield _tag("Clock", _format_clock(record.clock))
        yield _tag("Absence", record.clock.absence)
    if record.date:
        yield _tag("Date", record.date)
    yield _tag("Fairness", record.fairness)
    if record.viewer is not None:
        yield _tag("Seen", record.viewer)
    yield _tag("Result", "*" if record.result is None else " ".join(map(str, record.result)))


def _tags(each: RecordedRound) -> Iterator[tuple[str, str]]:
    yield "Round", f"[Round {each.number}]"
    if each.commitment is not None:
        yield _tag("Commitment", each.commitment.hex())
    if each.client_seeds is not None:
        yield "ClientSeeds", f"[ClientSeeds {' '.join(map(quote, each.client_seeds))}]"
    if each.attempt is not None:
        yield "Attempt", f"[Attempt {each.attempt}]"
    if each.seed is not None:
        yield _tag("Seed", each.seed.hex())


def _format_kind(record: Record, seat: int) -> str:
    """Return who plays the seat, unless it is a person."""
    bot = record.bot_at(seat)
    return "" if bot is None else f" bot={bot.level} edition={bot.edition}"


def _format_clock(clock: RecordedClock) -> str:
    return f"bank={clock.bank} increment={clock.increment}" if clock.turn is None else f"turn={clock.turn}"


def _option(key: str, value: Value) -> str:
    return f"{key}={format_value(value)}"


def _tag(name: str, value: str | int) -> tuple[str, str]:
    return name, f"[{name} {quote(str(value))}]"
