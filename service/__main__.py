"""The command line, ``domino-service`` or ``python -m service``; without a command it serves.

Owns the words of the command line and the exit status: 0 when all went well, 1 when the service could not go on or a
record is not verified, 2 for a bad setting, a bad word or a file that cannot be read. Does not depend on how anything
is done; each command calls one function elsewhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver import supervisor


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command, by default that of this process, and return the exit status."""
    arguments = _parser().parse_args(argv)
    if arguments.version:
        return _version()
    if arguments.read is not None:
        return _read_record(arguments.read, arguments.file)
    try:
        settings = Settings.from_environ(environ)
    except InvalidSettings as error:
        supervisor.warn(str(error))
        return 2
    status: int = arguments.run(settings)
    return status


def _parser() -> argparse.ArgumentParser:
    width = max(len(setting.name) for setting in SETTINGS)
    lines = (f"  {it.name:{width}}  {it.meaning.replace('`', '')} ({it.default or 'none'})" for it in SETTINGS)
    parser = argparse.ArgumentParser(
        prog="domino-service",
        description="Deals, referees and counts domino games over HTTP.",
        epilog="settings, from the environment:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="say which version this is")
    parser.set_defaults(run=_serve, read=None)
    commands = parser.add_subparsers(title="commands", metavar="command")
    serving = commands.add_parser(
        "serve",
        help="serve until Ctrl-C, also without a command: by gunicorn, without REDIS_URL with an embedded server",
    )
    serving.set_defaults(run=_serve)
    contract = commands.add_parser("openapi", help="print the contract as OpenAPI; `make openapi` keeps it in a file")
    contract.set_defaults(run=_print_contract)
    for word, says in (
        ("verify", "check the record of a match: its deals, its moves, its counts"),
        ("replay", "print the record of a match move by move, with the table and the counts"),
    ):
        reading = commands.add_parser(word, help=says, description=f"{says[0].upper()}{says[1:]}.")
        reading.add_argument("file", help="the record; - is standard input")
        reading.set_defaults(read=word)
    return parser


def _serve(settings: Settings) -> int:
    if settings.redis_url is not None:
        # gunicorn takes the place of this process, so that the command has its process id and its signals.
        command = [sys.executable, "-m", "gunicorn", "-c", str(supervisor.GUNICORN_CONF)]
        os.execv(sys.executable, command)  # noqa: S606 # no shell is wanted
    return supervisor.serve(settings)


def _print_contract(_settings: Settings) -> int:
    from service.bootstrap import build_document  # noqa: PLC0415 # serving does not need the application here

    sys.stdout.write(build_document())
    return 0


def _read_record(word: str, file: str) -> int:
    from service import record_cli  # noqa: PLC0415 # serving does not need it

    return record_cli.verify_file(file) if word == "verify" else record_cli.replay_file(file)


def _version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 # slow to import, and seldom asked for

    supervisor.print_line(f"domino-service {version('domino-service')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
