"""Moves and events as text, both ways.

Owns the written form. Every move and every event has exactly one spelling, and what is spelled otherwise is
``InvalidNotation``. Must not know whether a move is legal or an event possible, nor who may read it: what a ``view``
has left of an event is written as far as it is told.

A *move* is what a seat asks for; a *line* is an event, what then happened:

=============================  ========================================================================
``6-6``                        play a tile: the lead, or one that has a single place
``5-12>e7``                    play a tile at an end
``6-6>left down``              play a double face down
``draw`` ``pass`` ``done``     the moves without a tile; also ``flip`` and ``deal``
``dealt: 0-3 6-6 / - | 0-1``   the hands in seat order, then the stock in the order of drawing
``dealt arranged: …``          the same, as somebody had set it
``dealt: 0-3 6-6 / ?7 | ?14``  seven tiles, and fourteen, that are not told
``2: 5-12>e7``                 seat 2 laid a tile
``2: 5-12>e7 = 28 +4``         the same where ends are counted: their sum, and the points
``2: draw 0-1``                a tile of the stock went to the hand of seat 2; ``?``: it is not told
``2: pass``                    also ``2: done`` (the turn), ``2: flip`` (the lead), ``2: eliminated``
``ended out; …``               the count of the round: see ``count_notation``
``finished: 0 2``              the winners
=============================  ========================================================================

``-`` stands where there is nothing. The number of a round stands in no line, so whoever reads one says in which
round it is. No line is empty or begins with a bracket or a hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from service.engine.errors import InvalidNotation
from service.engine.events import Dealt, Done, Drew, Eliminated, Finished, Flipped, Passed, Played, RoundEnded
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.state import Hand
from service.engine.tiles import Tile
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.notation.scanner import NATURAL, POSITIVE, SIGNED, Scanner
from service.records.notation.score import format_result, scan_result
from service.records.notation.tiles import format_tiles, scan_tile, scan_tiles

# Moves


def format_move(move: Move) -> str:
    """What the move asks for; the sum and the points that a listed move tells are no part of it."""
    return move.action if move.tile is None else _format_play(move.tile, move.end, face_down=move.face_down)


def parse_move(text: str) -> Move:
    """The move spelled by ``text``. Raises ``InvalidNotation``."""
    move = _PLAIN_MOVES.get(text)
    if move is not None:
        return move
    scanner = Scanner(text)
    try:
        move = Move(PLAY, *_scan_play(scanner))
        scanner.end()
    except InvalidNotation as refusal:
        raise InvalidNotation(_NO_MOVE, refusal.at) from None
    return move


def _format_play(tile: Tile, end: str | None, *, face_down: bool) -> str:
    return f"{tile}{f'>{end}' if end else ''}{' down' if face_down else ''}"


def _scan_play(scanner: Scanner) -> tuple[Tile, str | None, bool]:
    tile = scan_tile(scanner)
    end = scanner.match(_END, "an end") if scanner.accept(">") else None
    return tile, end, scanner.accept(" down")


# Events


def format_event(event: RecordedEvent) -> str:
    """The event as one line, without its end of line and without the number of its round."""
    return _FORMATS[type(event)](event)


def parse_event(line: str, round_number: int) -> RecordedEvent:
    """The event that this line of that round tells. Raises ``InvalidNotation``."""
    scanner = Scanner(line)
    event = scan_event(scanner, round_number)
    scanner.end()
    return event


def scan_event(scanner: Scanner, round_number: int) -> RecordedEvent:
    """Read an event of that round."""
    if scanner.accept("dealt"):
        return _scan_dealt(scanner, round_number)
    if scanner.accept("ended"):
        scanner.expect(" ")
        return RoundEnded(scan_result(scanner, round_number))
    if scanner.accept("finished"):
        scanner.expect(": ")
        return Finished(scan_seats(scanner))
    return _scan_of_seat(scanner)


def _format_dealt(event: Dealt | RecordedDeal) -> str:
    arranged = " arranged" if event.arranged else ""
    return f"dealt{arranged}: {' / '.join(map(_format_hand, event.hands))} | {_format_hand(event.stock)}"


def _format_hand(hand: Hand | int) -> str:
    return f"?{hand}" if isinstance(hand, int) else format_tiles(hand)


def _scan_dealt(scanner: Scanner, round_number: int) -> Dealt | RecordedDeal:
    arranged = scanner.accept(" arranged")
    scanner.expect(": ")
    hands = [_scan_hand(scanner)]
    while scanner.accept(" / "):
        hands.append(_scan_hand(scanner))
    scanner.expect(" | ")
    stock = _scan_hand(scanner)
    told = [hand for hand in hands if isinstance(hand, tuple)]
    if len(told) == len(hands) and isinstance(stock, tuple):
        return Dealt(round_number, tuple(told), stock, arranged)
    return RecordedDeal(round_number, arranged, tuple(hands), stock)


def _scan_hand(scanner: Scanner) -> Hand | int:
    return scanner.number(POSITIVE) if scanner.accept("?") else scan_tiles(scanner)


def _format_played(event: Played) -> str:
    play = _format_play(event.tile, event.end, face_down=event.face_down)
    ends_sum = "" if event.ends_sum is None else f" = {event.ends_sum}"
    points = "" if event.points is None else f" {event.points:+}"
    return f"{event.seat}: {play}{ends_sum}{points}"


def _scan_of_seat(scanner: Scanner) -> RecordedEvent:
    seat = int(scanner.match(NATURAL, "a seat, or what happened"))
    scanner.expect(": ")
    for word, event_of in _PLAIN_EVENTS.items():
        if scanner.accept(word):
            return event_of(seat)
    if scanner.accept("draw"):
        scanner.expect(" ")
        return DrewView(seat, None) if scanner.accept("?") else Drew(seat, scan_tile(scanner))
    tile, end, down = _scan_play(scanner)
    ends_sum = scanner.number() if scanner.accept(" = ") else None
    points = scanner.number(SIGNED) if scanner.accept(" ") else None
    return Played(seat, tile, end, down, points, ends_sum)


def scan_seats(scanner: Scanner) -> tuple[int, ...]:
    """Read a row of seats."""
    seats = [scanner.number(NATURAL)]
    while scanner.accept(" "):
        seats.append(scanner.number(NATURAL))
    return tuple(seats)


_END: Final = re.compile(r"left|right|e[1-9][0-9]{0,14}")

_PLAIN_MOVES: Final[dict[str, Move]] = {move.action: move for move in (DRAW, PASS, DONE, FLIP, DEAL)}
_NO_MOVE: Final = 'A move is written like "5-12>e7", "6-6>left down", "draw", "pass", "done", "flip" or "deal".'

_PLAIN_EVENTS: Final[dict[str, Callable[[int], Passed | Done | Flipped | Eliminated]]] = {
    "pass": Passed,
    "done": Done,
    "flip": Flipped,
    "eliminated": Eliminated,
}
_WORDS: Final = {event_of: word for word, event_of in _PLAIN_EVENTS.items()}


def _format_plain(event: Passed | Done | Flipped | Eliminated) -> str:
    return f"{event.seat}: {_WORDS[type(event)]}"


_FORMATS: Final[dict[type[RecordedEvent], Callable[[Any], str]]] = {
    Dealt: _format_dealt,
    RecordedDeal: _format_dealt,
    Played: _format_played,
    Drew: lambda event: f"{event.seat}: draw {event.tile}",
    DrewView: lambda event: f"{event.seat}: draw {event.tile or '?'}",
    Passed: _format_plain,
    Done: _format_plain,
    Flipped: _format_plain,
    Eliminated: _format_plain,
    RoundEnded: lambda event: f"ended {format_result(event.round)}",
    Finished: lambda event: f"finished: {' '.join(map(str, event.winners))}",
}
