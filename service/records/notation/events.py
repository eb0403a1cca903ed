"""The notation of events, one line each: formatting and scanning.

Owns the notation: every event has exactly one spelling, and any other raises ``InvalidNotation``. Does not depend on
whether an event is possible, or on who may read it: a redacted event is written with its visible fields.

=============================  ========================================================================
``dealt: 0-3 6-6 / - | 0-1``   the hands in seat order, then the stock in the order of drawing
``dealt arranged: …``          the same for an arranged deal
``dealt: 0-3 6-6 / ?7 | ?14``  seven hidden tiles in a hand, and fourteen in the stock
``2: 6-6``                     seat 2 led a tile
``2: 5-12>e7``                 seat 2 laid a tile at an end; ``2: 6-6>e7 down``: a double face down
``2: 1-6>left:6``              the same in games where a tile can lie either way, with the half that stayed outside
``2: 5-12>e7 = 28 +4``         the same in games that count the ends, with their sum and the points
``2: draw 0-1``                seat 2 drew a tile of the stock; ``?``: a hidden one
``2: draw 0-1 auto``           the service drew it for the seat, which had no choice; also ``2: pass auto``
``2: pass``                    also ``2: done`` (the turn), ``2: flip`` (the lead), ``2: eliminated``
``2: timed_out bot``           seat 2 timed out, and what follows; ``2: claimed 0``: seat 0 claimed seat 2
``2: left``                    also ``2: returned``, ``2: resigned``, ``2: forfeited``
``ended out; …``               the result of the round (``format_result``)
``finished: 0 2``              the winners; ``finished: 0 2 forfeit``: because all others have forfeited
=============================  ========================================================================

``-`` stands for no tiles. A line does not contain the number of its round: ``scan_event`` needs it as an argument. No
line is empty or begins with a bracket or a hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, get_args

from service.engine.events import (
    EVENT_TYPES,
    Dealt,
    Drew,
    EndReason,
    EventType,
    FieldKind,
    Manche,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
    ScoreLine,
)
from service.engine.presence import PRESENCE_EVENT_TYPES
from service.engine.state import Hand
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.notation.scanner import (
    NATURAL,
    POSITIVE,
    SIGNED,
    Scanner,
    format_tiles,
    quote,
    scan_tile,
    scan_tiles,
)

# The notation of the result of a round.


_REASON: Final = re.compile("|".join(get_args(EndReason)))
_RULE: Final = re.compile(r"[0-9A-Za-z.]+")
_STARS: Final = re.compile(" [0-9]")
_NOT_ZERO: Final = re.compile(r"-?[1-9][0-9]{0,14}")


def format_result(result: RoundResult) -> str:
    """Return the result as text on one line."""
    parts: list[str] = [result.ended_by]
    parts += [f"winner {result.winner}"] if result.winner is not None else []
    parts += [f"loser {result.loser}"] if result.loser is not None else []
    parts += [f"carried {result.carried}"] if result.carried else []
    if result.manche is not None:
        number, stars, ended = result.manche
        parts.append(" ".join(["manche", str(number), *map(str, stars), *([ended] if ended else [])]))
    parts.append(f"scores {' '.join(map(str, result.scores))}")
    hands = [f"{left.seat}: {format_tiles(left.tiles)} = {left.value}" for left in result.hands]
    lines = [f"{line.seat}: {line.points:+} {line.rule} {quote(line.text)}" for line in result.lines]
    parts.append(f"hands {', '.join(hands)}")
    parts.append(f"lines {', '.join(lines) or '-'}")
    return "; ".join(parts)


def scan_result(scanner: Scanner, round_number: int) -> RoundResult:
    """Read the result of the round with this number. Raises ``InvalidNotation``."""
    ended_by: EndReason = scanner.match(_REASON, "why the round ended")  # type: ignore[assignment]  # by the pattern
    winner = scanner.number(NATURAL) if scanner.accept("; winner ") else None
    loser = scanner.number(NATURAL) if scanner.accept("; loser ") else None
    carried = scanner.number(_NOT_ZERO) if scanner.accept("; carried ") else 0
    manche = _scan_manche(scanner) if scanner.accept("; manche ") else None
    scanner.expect("; scores ")
    scores = scanner.row(" ", Scanner.number)
    scanner.expect("; hands ")
    hands = scanner.row(", ", _scan_remaining_hand)
    scanner.expect("; lines ")
    lines = () if scanner.accept("-") else scanner.row(", ", _scan_line)
    return RoundResult(
        number=round_number,
        ended_by=ended_by,
        winner=winner,
        loser=loser,
        carried=carried,
        scores=scores,
        hands=hands,
        lines=lines,
        manche=manche,
    )


def _scan_manche(scanner: Scanner) -> Manche:
    number = scanner.number(POSITIVE)
    stars = []
    while scanner.peek(_STARS) and scanner.accept(" "):
        stars.append(scanner.number(NATURAL))
    ended: Any = next((word for word in ("won", "chiree") if scanner.accept(f" {word}")), None)
    return Manche(number, tuple(stars), ended)


def _scan_remaining_hand(scanner: Scanner) -> RemainingHand:
    seat = scanner.number(NATURAL)
    scanner.expect(": ")
    tiles = scan_tiles(scanner)
    scanner.expect(" = ")
    return RemainingHand(seat, tiles, scanner.number())


def _scan_line(scanner: Scanner) -> ScoreLine:
    seat = scanner.number(NATURAL)
    scanner.expect(": ")
    points = scanner.number(SIGNED)
    scanner.expect(" ")
    rule = scanner.match(_RULE, "the number of a rule")
    scanner.expect(" ")
    return ScoreLine(seat, points, rule, scanner.quoted())


def format_event(event: RecordedEvent) -> str:
    """Return the event as one line, without the line feed and the number of its round."""
    return _FORMATS[type(event)](event)


def scan_event(scanner: Scanner, round_number: int) -> RecordedEvent:
    """Read an event of the round with this number. Raises ``InvalidNotation``."""
    if scanner.accept("dealt"):
        return _scan_dealt(scanner, round_number)
    if scanner.accept("ended"):
        scanner.expect(" ")
        return RoundEnded(scan_result(scanner, round_number))
    for kind in _WITHOUT_SEAT:
        if scanner.accept(kind.word):
            scanner.expect(": ")
            return _scan_fields(scanner, kind)
    return _scan_of_seat(scanner)


def _format_dealt(event: Dealt | RecordedDeal) -> str:
    arranged = " arranged" if event.arranged else ""
    return f"dealt{arranged}: {' / '.join(map(_format_hand, event.hands))} | {_format_hand(event.stock)}"


def _format_hand(hand: Hand | int) -> str:
    return f"?{hand}" if isinstance(hand, int) else format_tiles(hand)


def _scan_dealt(scanner: Scanner, round_number: int) -> Dealt | RecordedDeal:
    arranged = scanner.accept(" arranged")
    scanner.expect(": ")
    hands = scanner.row(" / ", _scan_hand)
    scanner.expect(" | ")
    stock = _scan_hand(scanner)
    visible = tuple([hand for hand in hands if isinstance(hand, tuple)])
    if len(visible) == len(hands) and isinstance(stock, tuple):
        return Dealt(round_number, visible, stock, arranged)
    return RecordedDeal(round_number, arranged, hands, stock)


def _scan_hand(scanner: Scanner) -> Hand | int:
    return scanner.number(POSITIVE) if scanner.accept("?") else scan_tiles(scanner)


def _format_played(event: Played) -> str:
    end = "" if event.end is None else f">{event.end}"
    outer = "" if event.outer is None else f":{event.outer}"
    down = " down" if event.face_down else ""
    ends_sum = "" if event.ends_sum is None else f" = {event.ends_sum}"
    points = "" if event.points is None else f" {event.points:+}"
    return f"{event.seat}: {event.tile}{end}{outer}{down}{ends_sum}{points}"


def _scan_of_seat(scanner: Scanner) -> RecordedEvent:
    seat = int(scanner.match(NATURAL, "a seat, or what happened"))
    scanner.expect(": ")
    for kind in _WITH_SEAT:
        if scanner.accept(kind.word):
            return _scan_fields(scanner, kind, seat)
    tile, end, outer = scan_tile(scanner), None, None
    if scanner.accept(">"):
        end = scanner.match(_END, "an end")
        outer = scanner.number(NATURAL) if scanner.accept(":") else None
    down = scanner.accept(" down")
    ends_sum = scanner.number() if scanner.accept(" = ") else None
    points = scanner.number(SIGNED) if scanner.accept(" ") else None
    return Played(seat, tile, end, down, points, ends_sum, outer)


def scan_seats(scanner: Scanner) -> tuple[int, ...]:
    """Read a row of seats."""
    seats = [scanner.number(NATURAL)]
    while not scanner.peek(_WORD_AFTER) and scanner.accept(" "):
        seats.append(scanner.number(NATURAL))
    return tuple(seats)


_WORD: Final = re.compile("[a-z]+")
_WORD_AFTER: Final = re.compile(" [a-z]")
_END: Final = re.compile(r"left|right|e[1-9][0-9]{0,14}")


def _format_plain(event: Any) -> str:
    """Return an event as text: its seat, if it has one, its word, and its other fields."""
    kind = _KIND_BY_TYPE[type(event)]
    fields = [
        name if field == "mark" else _FIELDS[field].format(value)
        for name, field in _fields_without_seat(kind)
        if (value := getattr(event, name)) is not None or field not in ("optional_word", "mark")
    ]
    return (
        " ".join([f"{event.seat}: {kind.word}", *fields]) if kind in _WITH_SEAT else f"{kind.word}: {' '.join(fields)}"
    )


def _scan_fields(scanner: Scanner, kind: EventType, *seat: int) -> RecordedEvent:
    """Read the fields after the word of an event."""
    values: list[Any] = [*seat]
    for name, field in _fields_without_seat(kind):
        if field == "mark":
            values += [True] if scanner.accept(f" {name}") else []
            continue
        if field == "optional_word" and not scanner.peek(_WORD_AFTER):
            continue
        if values:
            scanner.expect(" ")
        values.append(_FIELDS[field].scan(scanner))
    event: RecordedEvent = (_HIDDEN[kind.event] if None in values else kind.event)(*values)
    return event


def _fields_without_seat(kind: EventType) -> list[tuple[str, FieldKind]]:
    return [(name, field) for name, field in kind.fields or () if name != "seat"]


class _FieldNotation(NamedTuple):
    format: Callable[[Any], str]
    scan: Callable[[Scanner], Any]


_FIELDS: Final[dict[FieldKind, _FieldNotation]] = {
    "seats": _FieldNotation(lambda seats: " ".join(map(str, seats)), scan_seats),
    "seat": _FieldNotation(str, lambda scanner: scanner.number(NATURAL)),
    "tile": _FieldNotation(lambda tile: str(tile or "?"), lambda scan: None if scan.accept("?") else scan_tile(scan)),
    "number": _FieldNotation(str, Scanner.number),
    **dict.fromkeys(
        ("word", "optional_word"), _FieldNotation(str, lambda scanner: scanner.match(_WORD, "a word in small letters"))
    ),
}
_HIDDEN: Final[dict[type, type]] = {Drew: DrewView}
"""The type of an event with a hidden field, by the type of the complete event."""
_KINDS: Final = (*EVENT_TYPES, *PRESENCE_EVENT_TYPES)
_WITH_SEAT: Final = [kind for kind in _KINDS if kind.word and ("seat", "seat") in (kind.fields or ())]
_WITHOUT_SEAT: Final = [kind for kind in _KINDS if kind.word and kind not in _WITH_SEAT]
_KIND_BY_TYPE: Final = {kind.event: kind for kind in _KINDS if kind.word}
_KIND_BY_TYPE[DrewView] = _KIND_BY_TYPE[Drew]

_FORMATS: Final[dict[type, Callable[[Any], str]]] = {
    **dict.fromkeys(_KIND_BY_TYPE, _format_plain),
    Dealt: _format_dealt,
    RecordedDeal: _format_dealt,
    Played: _format_played,
    RoundEnded: lambda event: f"ended {format_result(event.round)}",
}
