"""The result of a round as text: formatting and scanning of its only spelling.

Owns this spelling. After the reason come, as far as there are any, the ``winner``, the ``loser`` and the points
``carried``; then the ``scores`` in seat order, the ``hands`` left with their values, and the ``lines`` of the score
card, each with its seat, points, rule and arithmetic::

    out; winner 0; loser 2; scores 0 0 64; hands 0: - = 0, 1: 0-0 1-3 = 14, 2: 6-6 = 50; lines 2: +64 2.11 "0 + 14 + 50"

The number of the round is not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar, get_args

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.records.notation.scanner import NATURAL, SIGNED, Scanner, quote
from service.records.notation.tiles import format_tiles, scan_tiles

_REASON: Final = re.compile("|".join(get_args(EndReason)))
_RULE: Final = re.compile(r"[0-9A-Za-z.]+")
_NOT_ZERO: Final = re.compile(r"-?[1-9][0-9]{0,14}")

Parsed = TypeVar("Parsed")


def format_result(result: RoundResult) -> str:
    """Return the result on one line."""
    parts: list[str] = [result.ended_by]
    parts += [f"winner {result.winner}"] if result.winner is not None else []
    parts += [f"loser {result.loser}"] if result.loser is not None else []
    parts += [f"carried {result.carried}"] if result.carried else []
    parts.append(f"scores {' '.join(map(str, result.scores))}")
    hands = [f"{left.seat}: {format_tiles(left.tiles)} = {left.value}" for left in result.hands]
    lines = [f"{line.seat}: {line.points:+} {line.rule} {quote(line.text)}" for line in result.lines]
    parts.append(f"hands {', '.join(hands)}")
    parts.append(f"lines {', '.join(lines) or '-'}")
    return "; ".join(parts)


def scan_result(scanner: Scanner, round_number: int) -> RoundResult:
    """Read the result of that round. Raises ``InvalidNotation``."""
    ended_by: EndReason = scanner.match(_REASON, "why the round ended")  # type: ignore[assignment]  # as its pattern has it
    winner = scanner.number(NATURAL) if scanner.accept("; winner ") else None
    loser = scanner.number(NATURAL) if scanner.accept("; loser ") else None
    carried = scanner.number(_NOT_ZERO) if scanner.accept("; carried ") else 0
    scanner.expect("; scores ")
    scores = _row(scanner, " ", Scanner.number)
    scanner.expect("; hands ")
    hands = _row(scanner, ", ", _scan_hand)
    scanner.expect("; lines ")
    lines = () if scanner.accept("-") else _row(scanner, ", ", _scan_line)
    return RoundResult(
        number=round_number,
        ended_by=ended_by,
        winner=winner,
        loser=loser,
        carried=carried,
        scores=scores,
        hands=hands,
        lines=lines,
    )


def _row(scanner: Scanner, separator: str, scan: Callable[[Scanner], Parsed]) -> tuple[Parsed, ...]:
    parts = [scan(scanner)]
    while scanner.accept(separator):
        parts.append(scan(scanner))
    return tuple(parts)


def _scan_hand(scanner: Scanner) -> RemainingHand:
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
