"""Moves, events and whole matches as text, both ways.

Owns the written form. Every move and every event has exactly one spelling, and what is spelled otherwise
is ``BadNotation``. Must not know whether a move is legal or an event possible, nor who may read it: an
event is written whole, hidden tiles included.

A *move* is what a seat asks for; a *line* is an event, what then happened:

==============================  =======================================================================
``6-6``                         play a tile: the lead, or one that has a single place
``5-12>e7``                     play a tile at an end
``6-6>left down``               play a double face down
``draw`` ``pass`` ``done``      the moves without a tile; also ``flip`` and ``deal``
``dealt 1: 0-3 6-6 / - | 0-1``  round 1: the hands in seat order, then the stock in the order of drawing
``dealt 1 arranged: …``         the same, as somebody had set it
``2 played 5-12>e7``            seat 2 laid a tile
``2 played 5-12>e7 = 28 +4``    the same where ends are counted: their sum, and the points
``2 drew 0-1``                  a tile of the stock went to the hand of seat 2
``2 passed``                    also ``2 done`` (the turn), ``2 flipped`` (the lead), ``2 eliminated``
``ended 1 out; …``              the count of round 1: see below
``finished: 0 2``               the winners
==============================  =======================================================================

A count names, in this order and as far as there are any: ``winner`` and ``loser``, what is ``carried``;
then the ``scores`` in seat order, the ``hands`` left with their values, and the ``lines`` of the score
card, each with its seat, its points, the rule and the arithmetic::

    ended 3 out; winner 0; loser 2; scores 0 0 64; hands 0: - = 0, 1: 0-0 1-3 = 14, 2: 6-6 = 50; lines …
    2: +64 2.11 "0 + 14 + 50"

``-`` stands where there is nothing. A character that would break this form is written as a backslash and
six hexadecimal digits. A *match* is its events, each on a line of its own. No line is empty or begins with
a bracket or a hash: those are free for what a record may add.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, get_args

from service.engine.errors import BadNotation
from service.engine.events import (
    Dealt,
    Done,
    Drew,
    Eliminated,
    Event,
    Finished,
    Flipped,
    HandLeft,
    Line,
    Passed,
    Played,
    Reason,
    Round,
    RoundEnded,
)
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.tiles import Tile, parse_tile

# Moves


def format_move(move: Move) -> str:
    """What the move asks for; the sum and the points that a listed move tells are no part of it."""
    return move.action if move.tile is None else _format_play(move.tile, move.end, face_down=move.face_down)


def parse_move(text: str) -> Move:
    """The move spelled by ``text``. Raises ``BadNotation``."""
    move = _PLAIN_MOVES.get(text)
    if move is not None:
        return move
    match = _MOVE.fullmatch(text)
    if match is None:
        _refuse_move()
    tile, end, down = match.groups()
    move = Move(PLAY, parse_tile(tile), end, bool(down))
    if format_move(move) != text:
        _refuse_move()
    return move


def _format_play(tile: Tile, end: str | None, *, face_down: bool) -> str:
    return f"{tile}{f'>{end}' if end else ''}{' down' if face_down else ''}"


def _refuse_move() -> NoReturn:
    raise BadNotation('A move is written like "5-12>e7", "6-6>left down", "draw", "pass", "done", "flip" or "deal".')


# Events


def format_event(event: Event) -> str:
    """The event as one line, without its end of line."""
    return _FORMATS[type(event)](event)


def parse_event(line: str) -> Event:
    """The event that this line tells. Raises ``BadNotation``."""
    for pattern, event_of in _PARSERS:
        match = pattern.fullmatch(line)
        if match:
            event = event_of(match)
            if format_event(event) == line:
                return event
    raise BadNotation("This is no line of a match, or it is spelled in an unusual way.")


def _format_dealt(event: Dealt) -> str:
    arranged = " arranged" if event.arranged else ""
    return f"dealt {event.round}{arranged}: {' / '.join(map(_words, event.hands))} | {_words(event.stock)}"


def _parse_dealt(match: re.Match[str]) -> Dealt:
    number, arranged, hands, stock = match.groups()
    return Dealt(int(number), tuple([_tiles(hand) for hand in hands.split(" / ")]), _tiles(stock), bool(arranged))


def _format_played(event: Played) -> str:
    play = _format_play(event.tile, event.end, face_down=event.face_down)
    ends_sum = "" if event.ends_sum is None else f" = {event.ends_sum}"
    points = "" if event.points is None else f" {event.points:+}"
    return f"{event.seat} played {play}{ends_sum}{points}"


def _parse_played(match: re.Match[str]) -> Played:
    seat, tile, end, down, ends_sum, points = match.groups()
    return Played(int(seat), parse_tile(tile), end, bool(down), _int_or_none(points), _int_or_none(ends_sum))


def _format_round_ended(event: RoundEnded) -> str:
    counted = event.round
    fields = [f"ended {counted.number} {counted.ended_by}"]
    fields += [f"winner {counted.winner}"] if counted.winner is not None else []
    fields += [f"loser {counted.loser}"] if counted.loser is not None else []
    fields += [f"carried {counted.carried}"] if counted.carried else []
    fields.append(f"scores {_words(counted.scores)}")
    fields.append(f"hands {', '.join([f'{seat}: {_words(hand)} = {value}' for seat, hand, value in counted.hands])}")
    fields.append(f"lines {', '.join(map(_format_line, counted.lines)) or '-'}")
    return "; ".join(fields)


def _format_line(line: Line) -> str:
    return f'{line.seat}: {line.points:+} {_escape(_NO_WORD, line.rule)} "{_escape(_UNQUOTED, line.text)}"'


def _parse_round_ended(match: re.Match[str]) -> RoundEnded:
    number, ended_by, winner, loser, carried, scores, hands, lines = match.groups()
    return RoundEnded(
        Round(
            number=int(number),
            ended_by=ended_by,  # type: ignore[arg-type]  # the pattern admits nothing else
            winner=_int_or_none(winner),
            loser=_int_or_none(loser),
            carried=int(carried or 0),
            scores=_ints(scores),
            hands=tuple(
                [HandLeft(int(seat), _tiles(tiles), int(value)) for seat, tiles, value in _HAND_LEFT.findall(hands)]
            ),
            lines=tuple(
                [
                    Line(int(seat), int(points), _unescape(rule), _unescape(text))
                    for seat, points, rule, text in _LINE.findall(lines)
                ]
            ),
        )
    )


# Matches


def format_match(events: Iterable[Event]) -> str:
    """The events of a match, each on a line of its own."""
    return "".join([f"{format_event(event)}\n" for event in events])


def parse_match(text: str) -> tuple[Event, ...]:
    """The events of a match from its lines. Raises ``BadNotation`` with the number of the first bad line."""
    *lines, rest = text.split("\n")
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(parse_event(line))
        except BadNotation as refusal:
            raise BadNotation(f"Line {number}: {refusal.sentence}") from refusal
    if rest:
        raise BadNotation(f"Line {len(lines) + 1}: The end of the line is missing.")
    return tuple(events)


# Small things


def _words(things: Iterable[object]) -> str:
    return " ".join(map(str, things)) or "-"


def _tiles(text: str) -> tuple[Tile, ...]:
    return () if text == "-" else tuple(map(parse_tile, text.split(" ")))


def _ints(text: str) -> tuple[int, ...]:
    return () if text == "-" else tuple(map(int, text.split(" ")))


def _int_or_none(text: str | None) -> int | None:
    return None if text is None else int(text)


def _escape(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: f"\\{ord(match[0]):06x}", text)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _line_pattern(form: str) -> re.Pattern[str]:
    """A pattern in which N is a whole number, T a tile and P a play."""
    form = form.replace("P", r"(T)(?:>(left|right|e[1-9]\d*))?( down)?")
    return re.compile(form.replace("N", r"-?\d{1,15}").replace("T", r"\d{1,2}-\d{1,2}"), re.ASCII)


_MOVE: Final = _line_pattern("P")
_HAND_LEFT: Final = _line_pattern("(N): (-|T(?: T)*) = (N)")
_LINE: Final = _line_pattern(r'(N): ([+-]\d{1,15}) (\S*) "([^"]*)"')
_NO_WORD: Final = re.compile(r"[^0-9A-Za-z.]")
_UNQUOTED: Final = re.compile(r'[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_ESCAPE: Final = re.compile(r"\\(0[0-9a-f]{5}|10[0-9a-f]{4})")

_PLAIN_MOVES: Final[dict[str, Move]] = {move.action: move for move in (DRAW, PASS, DONE, FLIP, DEAL)}

_FORMATS: Final[dict[type[Event], Callable[[Any], str]]] = {
    Dealt: _format_dealt,
    Played: _format_played,
    Drew: lambda event: f"{event.seat} drew {event.tile}",
    Passed: lambda event: f"{event.seat} passed",
    Done: lambda event: f"{event.seat} done",
    Flipped: lambda event: f"{event.seat} flipped",
    RoundEnded: _format_round_ended,
    Eliminated: lambda event: f"{event.seat} eliminated",
    Finished: lambda event: f"finished: {_words(event.winners)}",
}

_PARSERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Event]], ...]] = (
    (_line_pattern(r"(N) played P(?: = (N))?(?: ([+-]\d{1,15}))?"), _parse_played),
    (_line_pattern("(N) drew (T)"), lambda match: Drew(int(match[1]), parse_tile(match[2]))),
    (_line_pattern("(N) passed"), lambda match: Passed(int(match[1]))),
    (_line_pattern("(N) done"), lambda match: Done(int(match[1]))),
    (_line_pattern("(N) flipped"), lambda match: Flipped(int(match[1]))),
    (_line_pattern("(N) eliminated"), lambda match: Eliminated(int(match[1]))),
    (
        _line_pattern(r"dealt (N)( arranged)?: ((?:-|T(?: T)*)(?: / (?:-|T(?: T)*))*) \| (-|T(?: T)*)"),
        _parse_dealt,
    ),
    (
        _line_pattern(
            f"ended (N) ({'|'.join(get_args(Reason))})(?:; winner (N))?(?:; loser (N))?(?:; carried (N))?"
            r"; scores (-|N(?: N)*); hands ((?:N: (?:-|T(?: T)*) = N(?:, |(?=;)))+); lines (.*)"
        ),
        _parse_round_ended,
    ),
    (_line_pattern("finished: (-|N(?: N)*)"), lambda match: Finished(_ints(match[1]))),
)
