"""The commands ``review`` and ``hint`` for the record in a file.

Owns their output, and the messages about a file that cannot be read. Does not depend on the analysis of a match.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from service.engine.moves import Move
    from service.engine.variant import Rules
    from service.learning.review import Review, SeatSummary
    from service.records.record import Record


def read_record(name: str) -> Record | None:
    """Return the record in the file ``name`` (``-``: standard input); after an error, print it and return ``None``."""
    from service.records.parser import MAX_CHARS, decode_record, parse_record  # noqa: PLC0415 # as above
    from service.records.record import InvalidRecord  # noqa: PLC0415 # serving does not need it

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


# The commands ``review`` and ``hint``.


_COLUMNS: Final = "{:>4}  {:24} {:>9} {:>10} {:>6} {:>8} {:>8} {:>6} {:>8} {:>6}"


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``review`` and ``hint``."""
    meaning = "say what each player of a recorded match gave away, what was luck, and which moves were clear mistakes"
    command = commands.add_parser("review", help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}.")
    command.add_argument("file", help="the file with the record; - is standard input")
    command.add_argument("--json", action="store_true", help="print all decisions as JSON")
    command.set_defaults(reviewed=True)
    meaning = "say what the moves of a seat were worth before a move of a recorded match, by what the seat had seen"
    command = commands.add_parser("hint", help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}.")
    command.add_argument("file", help="the file with the record; - is standard input")
    command.add_argument("move", type=int, metavar="version", help="the version of the move, as review names it")
    command.add_argument("--json", action="store_true", help="print the moves as JSON")
    command.set_defaults(reviewed=True)


def run(name: str, *, move: int | None, as_json: bool) -> int:
    """Print the review of the record in a file, or the hint before the move with version ``move``.

    Returns the exit status.
    """
    record = read_record(name)
    return 2 if record is None else _review(record, move, as_json=as_json)


def _review(record: Record, move: int | None, *, as_json: bool) -> int:
    from service.learning.review import (  # noqa: PLC0415 # serving does not need it
        NoSuchMove,
        Unreviewable,
        collect,
        review,
    )
    from service.records.verification import rules_of  # noqa: PLC0415 # as above

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
    from service.learning.review import hint, hint_before  # noqa: PLC0415 # serving does not need it

    seat, (estimates,) = hint_before(record, rules, version)
    if as_json:
        moves = [{"move": _move_text(row.move), "estimate": row.estimate, "error": row.error} for row in estimates]
        return json.dumps({"version": version, "seat": seat, "moves": moves, "text": hint(estimates)}, indent=1)
    lines = [f"{row.estimate:>8.2f} {row.error:>6.2f}  {_move_text(row.move)}" for row in estimates]
    player = f"Seat {seat}, {record.players[seat]}:"
    return "\n".join([player, f"{'estimate':>8} {'error':>6}  move", *lines, hint(estimates)])


def _as_json(record: Record, match_review: Review) -> str:
    from service.learning.review import sentence, summaries  # noqa: PLC0415 # serving does not need it

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
    from service.learning.review import sentence, summaries  # noqa: PLC0415 # serving does not need it

    yield _COLUMNS.format(
        "seat", "player", "decisions", "given away", "error", "result", "luck", "error", "skill", "error"
    )
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
