"""The commands for the record in a file: ``verify``, ``replay``, ``review`` and ``hint``.

Owns their output, and the messages about a file that cannot be read. Does not depend on the parser of the command line.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any, Final

from service.devserver.terminal import warn
from service.engine.moves import Move
from service.engine.variant import Rules
from service.learning.review import (
    NoSuchMove,
    Review,
    SeatSummary,
    Unreviewable,
    collect,
    hint,
    hint_before,
    review,
    sentence,
    summaries,
)
from service.records.bot_checks import ALL_DECISIONS
from service.records.parser import MAX_CHARS, decode_record, parse_record
from service.records.record import InvalidRecord, Record
from service.records.report import Report
from service.records.verification import rules_of, verify
from service.render.transcript import render_transcript


def run(command: str, file: str, **options: Any) -> int:
    """Run a command on the record in a file; return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    record = _read_record(file)
    if record is None:
        return 2
    functions: dict[str, Callable[..., int]] = {
        "verify": _print_report,
        "replay": _print_transcript,
        "review": _print_review,
        "hint": _print_review,
    }
    return functions[command](record, **options)


def _read_record(name: str) -> Record | None:
    """Return the record in the file ``name`` (``-``: standard input); after an error, print it and return ``None``."""
    try:
        return parse_record(decode_record(_read(name, 4 * MAX_CHARS)))
    except OSError as error:
        print(f"{name}: {error.strerror or error}", file=sys.stderr)
    except InvalidRecord as error:
        print(f"{name}:{error.line}:{error.column}: {error.sentence}", file=sys.stderr)
    return None


def _read(name: str, max_bytes: int) -> bytes:
    """Return the content of a file, at most ``max_bytes`` and one byte, so that the parser rejects longer ones."""
    if name == "-":
        return sys.stdin.buffer.read(max_bytes + 1)
    with Path(name).open("rb") as file:
        return file.read(max_bytes + 1)


def _print_report(record: Record) -> int:
    """Print the report about a record; return the exit status."""
    report = verify(record, _progress(), ALL_DECISIONS)
    _print(report.notes())
    _print(_findings(report))
    _print(["Verified." if report.verified else "Not verified."])
    return 0 if report.verified else 1


def _progress() -> Callable[[], None]:
    """Return a function that prints the elapsed time once a second if standard error is a terminal.

    Checking the moves of computer players can take minutes.
    """
    if not sys.stderr.isatty():
        return lambda: None
    started = reported_at = monotonic()

    def report() -> None:
        nonlocal reported_at
        if monotonic() - reported_at >= 1:
            reported_at = monotonic()
            warn(f"checking for {reported_at - started:.0f} s")

    return report


def _print_transcript(record: Record) -> int:
    """Print the transcript of a record, and what is wrong with it; return the exit status."""
    _print(render_transcript(record))
    report = verify(record)
    if not report.verified:
        _print(["", *_findings(report)])
    return 0 if report.verified else 1


def _findings(report: Report) -> Iterable[str]:
    for code, round_number, version, line, explanation in report.findings:
        parts = [f"round {round_number}"] if round_number is not None else []
        parts += [f"version {version}"] if version is not None else []
        place = f" ({', '.join(parts)})" if parts else ""
        yield f"line {line}: {code}: {explanation}{place}"
    if report.omitted:
        yield f"and {report.omitted} more"


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


# The commands ``review`` and ``hint``.


_COLUMNS: Final = "{:>4}  {:24} {:>9} {:>10} {:>6} {:>8} {:>8} {:>6} {:>8} {:>6}"


def _print_review(record: Record, as_json: bool, move: int | None = None) -> int:
    """Print the review of a match, or the hint before the move with version ``move``; return the exit status."""
    rules, _ = rules_of(record)
    if rules is None:
        print("The game of this record is not known, or has no such options.", file=sys.stderr)
        return 1
    try:
        if move is not None:
            print(_hint(record, rules, move, as_json=as_json))
            return 0
        match_review = collect(review(record, rules))
    except Unreviewable as error:
        print(f"This match cannot be reviewed: {error}", file=sys.stderr)
        return 1
    except NoSuchMove as error:
        print(error, file=sys.stderr)
        return 1
    print(_as_json(record, match_review) if as_json else "\n".join(_report(record, match_review)))
    return 0


def _hint(record: Record, rules: Rules, version: int, *, as_json: bool) -> str:
    """Return the output of ``hint`` for the move with this version."""
    seat, (estimates,) = hint_before(record, rules, version)
    if as_json:
        moves = [{"move": _move_text(row.move), "estimate": row.estimate, "error": row.error} for row in estimates]
        return json.dumps({"version": version, "seat": seat, "moves": moves, "text": hint(estimates)}, indent=1)
    lines = [f"{row.estimate:>8.2f} {row.error:>6.2f}  {_move_text(row.move)}" for row in estimates]
    player = f"Seat {seat}, {record.players[seat]}:"
    return "\n".join([player, f"{'estimate':>8} {'error':>6}  move", *lines, hint(estimates)])


def _as_json(record: Record, match_review: Review) -> str:
    rows = [
        {
            "version": decision.version,
            "seat": decision.seat,
            "move": _move_text(decision.move),
            "best": _move_text(decision.shown_best),
            "given_away": decision.given_away,
            "error": decision.error,
            "text": sentence(decision),
        }
        for decision in match_review.decisions
    ]
    players = [_player(summary) for summary in summaries(len(record.players), match_review)]
    return json.dumps({"players": players, "decisions": rows}, indent=1)


def _player(seat: SeatSummary) -> dict[str, float]:
    row = {"seat": seat.seat, "decisions": seat.decisions, "given_away": seat.given_away, "error": seat.error}
    return row | seat.luck._asdict() | {"skill": seat.luck.skill}


def _report(record: Record, match_review: Review) -> Iterator[str]:
    headings = "seat", "player", "decisions", "given away", "error", "result", "luck", "error", "skill", "error"
    yield _COLUMNS.format(*headings)
    for seat in map(_player, summaries(len(record.players), match_review)):
        given_away = (f"{seat['given_away']:.2f}", f"{seat['error']:.2f}")
        luck = [f"{seat[name]:.1f}" for name in ("result", "luck", "luck_error", "skill", "skill_error")]
        number = int(seat["seat"])
        yield _COLUMNS.format(number, record.players[number], seat["decisions"], *given_away, *luck)
    for decision in match_review.decisions:
        if decision.is_mistake:
            amount = f"{decision.given_away:.1f} (error {decision.error:.1f})"
            moves = f"{_move_text(decision.move)} gave away {amount}; best was {_move_text(decision.best)}."
            yield f"version {decision.version}, seat {decision.seat}: {moves} {sentence(decision)}"


def _move_text(move: Move) -> str:
    """Return a move as text, such as *3-5 at right*; without a tile, its action."""
    if move.tile is None:
        return move.action
    where = "" if move.end is None else f" at {move.end}"
    turned = ", face down" if move.face_down else ""
    outside = "" if move.outer is None else f", {move.outer} outside"
    return f"{move.tile}{where}{turned}{outside}"
