"""The command line, ``domino-service`` or ``python -m service``; without a command it serves.

Owns the commands, their output and the exit status: 0 on success; 1 if the service could not go on or a record is not
verified; 2 for an invalid setting or argument, or a file that cannot be read. Light to import: the process that
supervises the others imports it. Does not depend on how anything is done.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from service import cli_operator, cli_review
from service.cli_records import read_record
from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver import supervisor, terminal, web_server

if TYPE_CHECKING:
    from service.records.record import Record
    from service.records.report import Report
    from service.workers.loop import Stop


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command, by default the one that this process was started with; returns the exit status."""
    status = 0
    try:
        status = _run(argv, environ)
        if sys.stdout:  # there is none where it was closed
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe; Python itself would report an error when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(argv: Sequence[str] | None, environ: Mapping[str, str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.version:
        return _version()
    if arguments.reviewed:
        return cli_review.run(arguments.file, move=arguments.move, as_json=arguments.json)
    if arguments.show is not None:
        return _read_record(arguments.file, arguments.show)
    try:
        settings = Settings.from_environ(environ)
    except InvalidSettings as error:
        terminal.warn(str(error))
        return 2
    status: int = arguments.run(settings, *[getattr(arguments, name) for name in arguments.values])
    return status


def _parser() -> argparse.ArgumentParser:
    width = max(len(setting.name) for setting in SETTINGS)
    lines = (f"  {it.name:{width}}  {it.meaning.replace('`', '')} ({it.default or 'none'})" for it in SETTINGS)
    parser = argparse.ArgumentParser(
        prog="domino-service",
        description="Deals, referees and scores domino games over HTTP.",
        epilog="settings, read from the environment:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(run=_serve, show=None, reviewed=False, move=None, values=())
    commands = parser.add_subparsers(title="commands", metavar="command")
    serve = commands.add_parser(
        "serve",
        help="run the server until Ctrl-C (the default); without REDIS_URL also an embedded Redis server",
    )
    serve.set_defaults(run=_serve)
    bots = commands.add_parser("bots", help="make the moves of computer players until Ctrl-C; needs REDIS_URL")
    bots.set_defaults(run=_run_bots)
    scheduler = commands.add_parser("scheduler", help="handle expired deadlines until Ctrl-C; needs REDIS_URL")
    scheduler.set_defaults(run=_run_scheduler)
    cli_operator.add_commands(commands)
    messenger = commands.add_parser(
        "messenger", help="tell applications what happens in their games until Ctrl-C; needs REDIS_URL"
    )
    messenger.set_defaults(run=_run_messenger)
    _add_record_commands(commands)
    cli_review.add_commands(commands)
    return parser


def _add_record_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for name, show, meaning in (
        ("verify", _print_report, "check the deals, moves and scores of the record of a match"),
        ("replay", _print_transcript, "print the record of a match move by move, with the table and the scores"),
    ):
        command = commands.add_parser(name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}.")
        command.add_argument("file", help="the file with the record; - is standard input")
        command.set_defaults(show=show)


def _serve(settings: Settings) -> int:
    if settings.redis_url is not None:
        terminal.claim_standard_streams()
        # gunicorn replaces this process, so that it has the process id that received the command, and its signals.
        command = [sys.executable, "-m", "gunicorn", "-c", str(web_server.GUNICORN_CONF)]
        os.execv(sys.executable, command)  # noqa: S606 # no shell is wanted
    return supervisor.serve(settings)


def _run_bots(settings: Settings) -> int:
    if settings.redis_url is None:
        return _redis_required()
    stop = _stop_by_signal()
    from service.workers.processes import run_bots  # noqa: PLC0415 # serving does not need it

    return run_bots(settings, stop)


def _run_scheduler(settings: Settings) -> int:
    if settings.redis_url is None:
        return _redis_required()
    stop = _stop_by_signal()
    from service.workers.processes import run_scheduler  # noqa: PLC0415 # as above

    return run_scheduler(settings, stop)


def _run_messenger(settings: Settings) -> int:
    if settings.redis_url is None:
        return _redis_required()
    from gevent import monkey  # noqa: PLC0415 # as above

    monkey.patch_all()  # before the rest of the service is imported
    stop = _stop_by_signal()
    from service.workers.processes import run_messenger  # noqa: PLC0415 # as above

    return run_messenger(settings, stop)


def _stop_by_signal() -> Stop:
    """Have stop signals heeded from now on, as loading the application takes a while."""
    from service.workers.loop import Stop  # noqa: PLC0415 # as above

    stop = Stop()
    stop.install()
    return stop


def _redis_required() -> int:
    terminal.warn("REDIS_URL is not set; `domino-service serve` starts this process with its embedded server")
    return 2


def _version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 # slow to import, and rarely needed

    terminal.print_line(f"domino-service {version('domino-service')}")
    return 0


def _read_record(name: str, show: Callable[[Record], Report]) -> int:
    """Parse the record in a file (``-``: standard input) and print it by ``show``; returns the exit status."""
    record = read_record(name)
    if record is None:
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return 0 if show(record).verified else 1


def _print_report(record: Record) -> Report:
    from service.records.bot_checks import ALL_DECISIONS  # noqa: PLC0415 # serving does not need it
    from service.records.verification import verify  # noqa: PLC0415 # as above

    report = verify(record, _progress(), ALL_DECISIONS)
    _print(report.notes())
    _print(_findings(report))
    _print(["Verified." if report.verified else "Not verified."])
    return report


def _progress() -> Callable[[], None]:
    """Says on a terminal once a second for how long a record has been checked; computer players may take minutes."""
    if not sys.stderr.isatty():
        return lambda: None
    started = said = monotonic()

    def report() -> None:
        nonlocal said
        if monotonic() - said >= 1:
            said = monotonic()
            terminal.warn(f"checking for {said - started:.0f} s")

    return report


def _print_transcript(record: Record) -> Report:
    from service.records.verification import verify  # noqa: PLC0415 # serving does not need it
    from service.render.transcript import render_transcript  # noqa: PLC0415 # as above

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
