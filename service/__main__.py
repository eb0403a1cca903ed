"""The command line: ``python -m service`` serves.

Owns the words of the command line and the exit status: 0 when all went well, 1 when the service could not go on, 2 for
a bad setting or a bad word. Must not know how anything is done; each command calls one function elsewhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from service import supervisor
from service.config import SETTINGS, BadSettings, Settings


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command and return the exit status; no command means ``serve``."""
    arguments = _parser().parse_args(argv)
    if arguments.version:
        return _version()
    try:
        settings = Settings.from_environ(environ)
    except BadSettings as error:
        supervisor.warn(str(error))
        return 2
    status: int = arguments.run(settings)
    return status


def _parser() -> argparse.ArgumentParser:
    width = max(len(setting.name) for setting in SETTINGS)
    lines = (f"  {it.name:{width}}  {it.meaning.replace('`', '')} ({it.default or 'none'})" for it in SETTINGS)
    parser = argparse.ArgumentParser(
        prog="python -m service",
        description="Deals, referees and counts domino games over HTTP.",
        epilog="settings, from the environment:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="say which version this is")
    parser.set_defaults(run=supervisor.serve)
    commands = parser.add_subparsers(title="commands", metavar="command")
    serving = commands.add_parser("serve", help="serve until Ctrl-C; what no command at all does too")
    serving.set_defaults(run=supervisor.serve)
    contract = commands.add_parser("openapi", help="print the contract as OpenAPI; `make openapi` keeps it in a file")
    contract.set_defaults(run=_print_contract)
    return parser


def _print_contract(_settings: Settings) -> int:
    from service.bootstrap import build_document  # noqa: PLC0415 # serving does not need the application here

    sys.stdout.write(build_document())
    return 0


def _version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 # slow to import, and seldom asked for

    supervisor.say(f"domino-service {version('domino-service')}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
