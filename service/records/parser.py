"""The parser of records.

Owns the grammar of records. A record has one spelling, except for line ends and blanks that an editor may have changed
(``_Lines``). The parser reads a text once, line by line and without backtracking, so the time is linear in
its length. Does not depend on whether the match is possible (``verification``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar, get_args

from service.engine.errors import InvalidNotation
from service.engine.options import Value
from service.engine.presence import ABSENCES, Absence
from service.records.notation.events import scan_event, scan_seats
from service.records.notation.scanner import INTEGER, NATURAL, POSITIVE, Parsed, Scanner
from service.records.record import (
    SPECTATOR,
    FairnessClaim,
    InvalidRecord,
    Record,
    RecordedBot,
    RecordedClock,
    RecordedRound,
    VersionedEvent,
    Viewer,
)
from service.records.writer import NOTATION_VERSION

MAX_CHARS: Final = 2_000_000
"""The longest matches have about a tenth of this."""

MAX_LINE_CHARS: Final = 16_384
"""The longest lines, the results of rounds and the client seeds, have about a third of this."""

MAX_OPTIONS: Final = 64
"""The games have up to four."""

MAX_ROUNDS: Final = 4000
"""The number that could fit into ``MAX_CHARS``: a played round has more than 500 characters."""

YIELD_EVERY: Final = 1024
"""Characters between two calls of ``yield_control``, which happen at the end of a line; each line counts as 16 more."""

Default = TypeVar("Default")

_BYTE_ORDER_MARK: Final = "\ufeff"


def parse_record(text: str, yield_control: Callable[[], None] = lambda: None) -> Record:
    """Return the record with this text. Raises ``InvalidRecord``.

    ``yield_control`` is called every ``YIELD_EVERY`` characters, so that a server can handle other requests.
    """
    if len(text) > MAX_CHARS:
        raise InvalidRecord(f"A record has at most {MAX_CHARS} characters.", 1, 1)
    lines = _Lines(text, yield_control)
    head = _head(lines)
    rounds: list[RecordedRound] = []
    while not lines.over:
        lines.read(Scanner.end)
        if len(rounds) == MAX_ROUNDS:
            raise InvalidRecord(f"A record has at most {MAX_ROUNDS} rounds.", lines.number, 1)
        rounds.append(_round(lines))
    return replace(head, rounds=tuple(rounds))


def count_plays(text: str) -> int:
    """Return the number of tiles laid in the record with this text, without parsing it.

    For a text that is not a record, the number has no meaning.
    """
    return len(_PLAY.findall(text))


def decode_record(data: bytes) -> str:
    """Decode the bytes of a file. Raises ``InvalidRecord`` if they are not valid UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line_start = before.rfind("\n") + 1
        raise InvalidRecord("This is no UTF-8.", before.count("\n") + 1, len(before) - line_start + 1) from None


def _head(lines: _Lines) -> Record:
    """Read the tags before the first round; return a record without rounds."""
    lines.tag("Record", lambda scanner: scanner.expect(NOTATION_VERSION))
    game = lines.optional_tag("GameId", _non_empty_text, "", quoted=False)
    variant = lines.tag("Variant", lambda scanner: scanner.match(_KEY, "the key of a game"))
    edition = lines.tag("Edition", lambda scanner: scanner.number(POSITIVE))
    options = lines.tag("Options", _options)
    players: list[tuple[str, RecordedBot | None]] = []
    while lines.next_starts_with("[Player ") or not players:
        players.append(lines.tag("Player", partial(_player, seat=len(players)), quoted=False))
    clock = _clock(lines) if lines.next_starts_with("[Clock ") else None
    date = lines.optional_tag("Date", lambda scanner: scanner.match(_DATE, "a date"), "")
    fairness = lines.tag("Fairness", _fairness)
    viewer = lines.optional_tag("Seen", _viewer, None)
    result = lines.tag("Result", lambda scanner: None if scanner.accept("*") else scan_seats(scanner))
    return Record(
        variant=variant,
        edition=edition,
        options=options,
        players=tuple([name for name, _ in players]),
        bots=tuple([bot for _, bot in players if bot is not None]),
        clock=clock,
        game=game,
        date=date,
        fairness=fairness,
        viewer=viewer,
        result=result,
    )


def _player(scanner: Scanner, seat: int) -> tuple[str, RecordedBot | None]:
    """Read the name of the player of this seat, and the computer player."""
    start = scanner.offset
    if scanner.number(NATURAL) != seat:
        scanner.fail(f"The players are numbered by their seats; here {seat} is expected.", start)
    scanner.expect(" ")
    name = scanner.quoted()
    if not scanner.accept(" bot="):
        return name, None
    level = scanner.match(_WORD, "a level of computer players")
    scanner.expect(" edition=")
    return name, RecordedBot(seat, level, scanner.number(POSITIVE))


def _clock(lines: _Lines) -> RecordedClock:
    turn, bank, increment = lines.tag("Clock", _times)
    return RecordedClock(turn, bank, increment, lines.tag("Absence", _absence))


def _times(scanner: Scanner) -> tuple[int | None, int, int]:
    """Read either the time for a turn (with bank and increment 0), or a bank and an increment (with ``None``)."""
    if scanner.accept("turn="):
        return scanner.number(POSITIVE), 0, 0
    scanner.expect("bank=")
    bank = scanner.number(POSITIVE)
    scanner.expect(" increment=")
    return None, bank, scanner.number(NATURAL)


def _absence(scanner: Scanner) -> Absence:
    return scanner.match(_ABSENCE, "what follows when a time is over")  # type: ignore[return-value]  # by the pattern


def _round(lines: _Lines) -> RecordedRound:
    number = lines.tag("Round", lambda scanner: scanner.number(POSITIVE), quoted=False)
    commitment = lines.optional_tag("Commitment", _bytes, None)
    client_seeds = lines.optional_tag(
        "ClientSeeds", lambda scanner: scanner.row(" ", Scanner.quoted), None, quoted=False
    )
    attempt = lines.optional_tag("Attempt", lambda scanner: scanner.number(NATURAL), None, quoted=False)
    seed = lines.optional_tag("Seed", _bytes, None)

    def numbered(scanner: Scanner) -> VersionedEvent:
        version = scanner.number(POSITIVE)
        scanner.expect(". ")
        return VersionedEvent(version, scan_event(scanner, number))

    events = []
    while not (lines.over or lines.empty):
        events.append(lines.read(numbered))
    return RecordedRound(number, commitment, client_seeds, attempt, seed, tuple(events))


def _options(scanner: Scanner) -> tuple[tuple[str, Value], ...]:
    options: list[tuple[str, Value]] = []
    while scanner.peek(_ANOTHER if options else _WORD):
        if len(options) == MAX_OPTIONS:
            scanner.fail(f"A record has at most {MAX_OPTIONS} house rules.")
        if options:
            scanner.expect(" ")
        key = scanner.match(_WORD, "the key of a house rule")
        scanner.expect("=")
        options.append((key, _value(scanner)))
    return tuple(options)


def _value(scanner: Scanner) -> Value:
    if scanner.peek(INTEGER):
        return scanner.number()
    word = scanner.match(_WORD, "a value")
    return word == "true" if word in {"true", "false"} else word


def _fairness(scanner: Scanner) -> FairnessClaim:
    return scanner.match(_FAIRNESS, "a kind of fairness")  # type: ignore[return-value]  # by the pattern


def _viewer(scanner: Scanner) -> Viewer:
    return SPECTATOR if scanner.accept(SPECTATOR) else scanner.number(NATURAL)


def _non_empty_text(scanner: Scanner) -> str:
    start = scanner.offset + 1
    return scanner.quoted() or scanner.fail("Here must be something.", start)


def _bytes(scanner: Scanner) -> bytes:
    digits = scanner.match(_HEX, "a hexadecimal number")
    if len(digits) < 64:
        scanner.fail("Here are 64 hexadecimal digits expected.")
    return bytes.fromhex(digits)


class _Lines:
    """The lines of a text, read one after another, without empty lines around them.

    An editor or a mail program may have changed line ends, and blanks at the end of a line.
    """

    def __init__(self, text: str, yield_control: Callable[[], None]) -> None:
        self._yield_control = yield_control
        lines = [line.rstrip(" \t\r") for line in text.removeprefix(_BYTE_ORDER_MARK).split("\n")]
        filled = [number for number, line in enumerate(lines) if line]
        self._before = filled[0] if filled else 0
        self._lines = lines[self._before : filled[-1] + 1] if filled else []
        self._at = 0
        self._chars = 0

    @property
    def over(self) -> bool:
        return self._at == len(self._lines)

    @property
    def number(self) -> int:
        """Return the number of the next line in the text, from 1."""
        return self._before + self._at + 1

    @property
    def empty(self) -> bool:
        return self._lines[self._at] == ""

    def next_starts_with(self, prefix: str) -> bool:
        return not self.over and self._lines[self._at].startswith(prefix)

    def read(self, scan: Callable[[Scanner], Parsed]) -> Parsed:
        """Read the next line with ``scan``, which must consume all of it. Raises ``InvalidRecord``."""
        if self.over:
            raise InvalidRecord("The record ends too soon.", self.number, 1)
        line = self._lines[self._at]
        if len(line) > MAX_LINE_CHARS:
            raise InvalidRecord(f"A line has at most {MAX_LINE_CHARS} characters.", self.number, MAX_LINE_CHARS + 1)
        scanner = Scanner(line)
        try:
            parsed = scan(scanner)
            scanner.end()
        except InvalidNotation as refusal:
            raise InvalidRecord(refusal.sentence, self.number, refusal.at + 1) from None
        self._at += 1
        self._chars += len(line) + 16
        if self._chars >= YIELD_EVERY:
            self._chars = 0
            self._yield_control()
        return parsed

    def tag(self, name: str, scan: Callable[[Scanner], Parsed], *, quoted: bool = True) -> Parsed:
        """Read the tag with this name. Raises ``InvalidRecord``.

        ``quoted``: whether the value is in quotation marks that ``scan`` does not read.
        """

        def scan_tag(scanner: Scanner) -> Parsed:
            scanner.expect(f'[{name} "' if quoted else f"[{name} ")
            value = scan(scanner)
            scanner.expect('"]' if quoted else "]")
            return value

        return self.read(scan_tag)

    def optional_tag(
        self, name: str, scan: Callable[[Scanner], Parsed], default: Default, *, quoted: bool = True
    ) -> Parsed | Default:
        """Read the tag with this name as ``tag`` does; return ``default`` if the next line is another one."""
        return self.tag(name, scan, quoted=quoted) if self.next_starts_with(f"[{name} ") else default


_PLAY: Final = re.compile(r"\n[0-9]+\. [0-9]+: [0-9]")
_KEY: Final = re.compile(r"[a-z][a-z0-9_-]*")
_ANOTHER: Final = re.compile(r" [a-z]")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]*")
_FAIRNESS: Final = re.compile("|".join(get_args(FairnessClaim)))
_ABSENCE: Final = re.compile("|".join(ABSENCES))
_HEX: Final = re.compile(r"[0-9a-f]{0,64}")
_DATE: Final = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
