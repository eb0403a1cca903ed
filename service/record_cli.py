"""The commands that read a record: check it, or print it move by move.

Owns the reading of the file and what is printed. The exit status is 0 when the record is verified, 1 when it is not, 2
when it cannot be read.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from service.records.errors import InvalidRecord
from service.records.parser import MAX_CHARS, decode_record, parse_record
from service.records.record import Record
from service.records.report import Report
from service.records.verification import verify
from service.render.transcript import render_transcript

_MOST_BYTES = 4 * MAX_CHARS


def verify_file(name: str) -> int:
    """Print what was checked of the record in this file (``-``: standard input), and every finding."""
    return _with_record(name, _print_report)


def replay_file(name: str) -> int:
    """Print the match of the record in this file (``-``: standard input) move by move, and what is wrong with it."""
    return _with_record(name, _print_transcript)


def _with_record(name: str, show: Callable[[Record], Report]) -> int:
    try:
        record = parse_record(decode_record(_read(name)))
    except OSError as error:
        return _unreadable(f"{name}: {error.strerror or error}")
    except InvalidRecord as error:
        return _unreadable(f"{name}:{error.line}:{error.column}: {error.sentence}")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        report = show(record)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough; Python itself would complain at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0 if report.verified else 1


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _unreadable(complaint: str) -> int:
    print(complaint, file=sys.stderr)
    return 2


def _print_report(record: Record) -> Report:
    report = verify(record)
    _print(report.notes())
    _print(_findings(report))
    _print(["Verified." if report.verified else "Not verified."])
    return report


def _print_transcript(record: Record) -> Report:
    _print(render_transcript(record))
    report = verify(record)
    if not report.verified:
        _print(["", *_findings(report)])
    return report


def _findings(report: Report) -> Iterable[str]:
    for code, round_number, version, line, sentence in report.findings:
        where = [f"round {round_number}"] if round_number is not None else []
        where += [f"version {version}"] if version is not None else []
        place = f" ({', '.join(where)})" if where else ""
        yield f"line {line}: {code}: {sentence}{place}"
    if report.omitted:
        yield f"and {report.omitted} more"


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
