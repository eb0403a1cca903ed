"""The command ``audit``: what chance says of many records.

Owns which files are read, and how the answers are printed; the exit status is 0 if nothing is unusual, 1 if something
is, 2 if no record could be read. A file at a time is in memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from service.cli_records import read_record

if TYPE_CHECKING:
    from service.records.audit import Answer, Audit

_SUFFIXES: Final = (".domino", ".txt")
"""Of the files in a folder that are read."""
_QUESTIONS: Final = {
    "doubles": "doubles in a hand",
    "pips": "pips in a hand",
    "leads": "leads the first round",
    "wins": "wins the match",
    "people": "people who win, beside computer players",
}
_TALLIED: Final = ("wins", "people")
_COLUMNS: Final = "{:40} {:>4} {:>8} {:>8} {:>8} {:>18}  {}"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of the command line."""
    meaning = "say of many records whether chance alone explains who got which tiles, who led and who won"
    command = commands.add_parser("audit", help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}.")
    command.add_argument(
        "files", nargs="+", help="records, - for standard input, or folders with records (.domino, .txt)"
    )
    command.set_defaults(audited=True)
    command.add_argument("--json", action="store_true", help="print the answers as JSON")


def run(names: Sequence[str], *, as_json: bool) -> int:
    """Audit these files and folders; returns the exit status."""
    from service.records.audit import Audit  # noqa: PLC0415 # serving does not need it

    result, faulty = Audit(), 0
    for name in _files(names):
        record = read_record(name)
        if record is None or not result.add(record):
            faulty += 1
    if not result.matches:
        print("There is no record in these files.", file=sys.stderr)
        return 2
    answers = list(result.answers())
    if as_json:
        facts = {
            "matches": result.matches,
            "rounds": result.rounds,
            "arranged": result.arranged,
            "repeated": result.repeated,
            "faulty": faulty,
        }
        print(json.dumps({**facts, "answers": [each._asdict() for each in answers]}, indent=1))
    else:
        print("\n".join(_report(result, faulty, answers)))
    return 1 if any([each.unusual for each in answers]) else 0


def _files(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted([each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file()])
            yield from map(str, found)
        else:
            yield name


def _report(result: Audit, faulty: int, answers: Sequence[Answer]) -> Iterator[str]:
    matches, rounds = _count(result.matches, "match", "matches"), _count(result.rounds, "round", "rounds")
    yield f"{matches}; {rounds} of shuffled deals, whose proofs the command verify checks."
    if result.arranged:
        yield f"Of an arranged deal, which says nothing of a shuffle: {_count(result.arranged, 'match', 'matches')}."
    if result.repeated:
        yield f"Of a match that was counted already, and left out: {_count(result.repeated, 'record', 'records')}."
    if faulty:
        yield f"No record of a game that is known, and left out: {_count(faulty, 'file', 'files')}."
    yield ""
    yield _COLUMNS.format("what", "seat", "times", "observed", "expected", "chance allows", "")
    for each in answers:
        yield _COLUMNS.format(
            _QUESTIONS[each.question],
            "" if each.seat is None else each.seat,
            f"{each.many:,}",
            f"{each.observed:.3f}",
            f"{each.expected:.3f}",
            f"{each.low:.3f} to {each.high:.3f}",
            _judgement(each),
        ).rstrip()
    yield ""
    unusual = [each for each in answers if each.unusual]
    if unusual:
        yield "Unusual: an honest shuffle gives a pile with any such answer once in a hundred times."
    elif any([each.unusual is not None for each in answers]):
        yield "Nothing is unusual: the deals are as an honest shuffle gives them."
    else:
        yield "There are too few deals to say whether the shuffle is honest."
    yield "One answer of twenty is outside of what chance allows by chance alone; that means nothing."
    yield "Who wins depends on who plays well and who leads, too, so that is told and not judged."


def _count(many: int, one: str, several: str) -> str:
    return f"{many:,} {one if many == 1 else several}"


def _judgement(answer: Answer) -> str:
    if answer.question in _TALLIED:
        return ""
    if answer.unusual is None:
        return "too few to say"
    return f"UNUSUAL: chance {answer.chance:.1g}" if answer.unusual else "as chance has it"
