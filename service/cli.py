"""The command line, ``domino-service`` or ``python -m service``; without a command it serves.

Owns the arguments of the commands and the exit status: 0 on success; 1 if the service could not continue, a command
could not do what was asked, or a record is not verified; 2 for an invalid setting or argument, or a file that cannot be
read. Light to import, because the supervising process imports it. Does not depend on how a command is implemented.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, Final

from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver import supervisor, terminal
from service.devserver.embedded import running_url

# The arguments of the commands for applications, stored games, the lists of games, and records.


USUAL_LIMIT: Final = -1
"""The value that replaces an application's own limit by the usual limit."""
MAX_LIMIT: Final = 1_000_000
"""The highest limit, the same as in the settings."""
_LIMITS: Final = {
    "requests": "requests per minute, in place of APP_REQUESTS_PER_MINUTE",
    "games": "games that it creates or joins per minute, in place of APP_GAMES_PER_MINUTE",
    "stored": "MiB that it stores per day, in place of APP_STORED_MB_PER_DAY",
}

Commands = argparse._SubParsersAction  # noqa: SLF001 # argparse has no public name for it


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add ``apps``, ``games`` and ``reindex``."""
    _add_app_commands(commands.add_parser("apps", help="create, list and change applications and their keys"))
    _add_game_commands(commands.add_parser("games", help="list stored games by size, age and tenant, and delete them"))
    meaning = "rebuild the lists of games of all applications, or of one; the service may run meanwhile"
    reindex = commands.add_parser("reindex", help=meaning)
    reindex.add_argument("app", nargs="?", metavar="id", help="the id of an application; none: all")
    reindex.set_defaults(run="service.cli_backends:reindex", needs="redis")


def _add_app_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)

    def add(name: str, meaning: str, run: str, *, of_one: bool = True, **values: bool) -> argparse.ArgumentParser:
        command = _add_command(commands, name, meaning, run=f"service.cli_backends:{run}", needs="redis", **values)
        if of_one:
            command.add_argument("app", metavar="id", help="the id of the application")
        return command

    command = add("create", "create an application, and print its key", "create", of_one=False)
    command.add_argument("name", help="a name for people, of at most 60 characters")
    add("list", "list the applications with the suffixes of their keys", "list_all", of_one=False)
    command = add("rotate", "create a new key for an application, and print it", "rotate")
    text = "how long the other keys stay valid (86400); 0: they are revoked at once"
    command.add_argument("--overlap", type=_number, default=86_400, metavar="SECONDS", help=text)
    command = add("revoke", "revoke a key of an application, or all of them", "revoke")
    command.add_argument("suffix", nargs="?", help="the suffix of the key; none: all keys")
    meaning = "reject the keys of an application until it is resumed; its games continue"
    add("suspend", meaning, "suspend", suspended=True)
    add("resume", "accept the keys of an application again", "suspend", suspended=False)
    command = add("limit", "give an application limits of its own, or the usual ones again", "limit")
    for name, meaning in _LIMITS.items():
        text = f"{meaning}; 0: no limit; without a number: the usual limit again"
        command.add_argument(f"--{name}", nargs="?", type=_limit, const=USUAL_LIMIT, metavar="N", help=text)
    add("delete", "delete an application; its games continue", "delete")


def _add_game_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)

    def add(name: str, meaning: str, run: str) -> argparse.ArgumentParser:
        return _add_command(commands, name, meaning, run=f"service.cli_games:{run}", needs="redis")

    list_command = add("list", "list stored games, the largest first", "list_games")
    list_command.add_argument("--json", action="store_true", dest="as_json", help="print an object on each line")
    show_command = add("show", "print games and their players, but no tiles", "show_games")
    show_command.add_argument("ids", nargs="+", metavar="ID", help="the ids of games")
    delete_command = add("delete", "delete stored games, as their application would", "delete_games")
    ids_help = "the ids of games; none: those that the options select"
    delete_command.add_argument("ids", nargs="*", metavar="ID", help=ids_help)
    yes_help = "delete the games that the options select, instead of counting them"
    delete_command.add_argument("--yes", action="store_true", dest="confirmed", help=yes_help)
    for command, limit in ((list_command, 50), (delete_command, 1_000_000)):
        command.add_argument("--tenant", help="only those of this application or network, as `games list` shows it")
        command.add_argument("--address", help="only those that were created from the network of this address")
        older_help = "only those without a write for this number of days"
        command.add_argument("--older", type=_number, default=0, metavar="DAYS", help=older_help)
        command.add_argument("--unmoved", action="store_true", help="only those in which nobody has moved")
        command.add_argument("--sort", choices=("size", "age"), default="size", help="the largest or the oldest first")
        limit_help = f"the maximum number of games ({limit})"
        command.add_argument("--limit", type=_number, default=limit, metavar="N", help=limit_help)


def _add_record_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    def add(name: str, meaning: str) -> argparse.ArgumentParser:
        command = _add_command(commands, name, meaning, run="service.cli_records:run", needs="nothing", command=name)
        command.add_argument("file", help="the file with the record; - is standard input")
        return command

    add("verify", "check the deals, moves and scores of the record of a match")
    add("replay", "print the record of a match move by move, with the table and the scores")
    meaning = "say what each player of a recorded match gave away, what was luck, and which moves were clear mistakes"
    command = add("review", meaning)
    command.add_argument("--json", action="store_true", dest="as_json", help="print all decisions as JSON")
    meaning = "say what the moves of a seat were worth before a move of a recorded match, by what the seat had seen"
    command = add("hint", meaning)
    command.add_argument("move", type=int, metavar="version", help="the version of the move, as review names it")
    command.add_argument("--json", action="store_true", dest="as_json", help="print the moves as JSON")


def _add_command(
    commands: Commands[argparse.ArgumentParser], name: str, meaning: str, **defaults: Any
) -> argparse.ArgumentParser:
    """Add a command; ``defaults`` are values that its function gets beside the arguments, and two others.

    ``run``: the function. Most are given by their names, as their modules are not needed to serve.
    ``needs``: ``settings`` if it is called with the settings; ``redis`` if these must have the URL of a server.
    """
    description = f"{meaning[0].upper()}{meaning[1:]}."
    command: argparse.ArgumentParser = commands.add_parser(name, help=meaning, description=description)
    command.set_defaults(**defaults)
    return command


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _limit(text: str) -> int:
    if not text.isdecimal() or len(text) > 7 or int(text) > MAX_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number up to {MAX_LIMIT}")
    return int(text)


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command, by default the one in ``sys.argv``; return the exit status."""
    status = 1  # also if the reader of the output goes away before the command has ended
    try:
        status = _run(argv, environ)
        if sys.stdout:  # ``None`` if the process was started with a closed standard output
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe; without this, Python would report an error at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(argv: Sequence[str] | None, environ: Mapping[str, str]) -> int:
    values = vars(_parser().parse_args(argv))
    if values.pop("version"):
        return _version()
    run, needs = values.pop("run"), values.pop("needs")
    if isinstance(run, str):
        run = resolve_name(run)
    if needs == "nothing":
        return int(run(**values))
    try:
        settings = Settings.from_environ(environ)
    except InvalidSettings as error:
        terminal.warn(str(error))
        return 2
    if needs == "redis" and settings.redis_url is None:
        url = running_url(settings.data_dir)
        if url is None:
            terminal.warn(
                f"no service is running on {settings.data_dir.absolute()}; start one, or set DATA_DIR to its data "
                "folder, or REDIS_URL"
            )
            return 2
        settings = replace(settings, redis_url=url)
    return int(run(settings, **values))


def _parser() -> argparse.ArgumentParser:
    width = max(len(setting.name) for setting in SETTINGS)
    lines = [
        f"  {setting.name:{width}}  {setting.meaning.replace('`', '')} ({setting.default or 'none'})"
        for setting in SETTINGS
    ]
    parser = argparse.ArgumentParser(
        prog="domino-service",
        description="Deals, referees and scores domino games over HTTP.",
        epilog="settings, read from the environment:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(run=_serve, needs="settings")
    commands = parser.add_subparsers(title="commands", metavar="command")
    meaning = "run the server until Ctrl-C (the default); without REDIS_URL also an embedded Redis server"
    commands.add_parser("serve", help=meaning)
    bots = commands.add_parser("bots", help="make the moves of computer players until Ctrl-C; needs REDIS_URL")
    bots.set_defaults(run=_run_process, name="bots")
    scheduler = commands.add_parser("scheduler", help="handle expired deadlines until Ctrl-C; needs REDIS_URL")
    scheduler.set_defaults(run=_run_process, name="scheduler")
    add_commands(commands)
    meaning = "send the events of games to their applications until Ctrl-C; needs REDIS_URL"
    messenger = commands.add_parser("messenger", help=meaning)
    messenger.set_defaults(run=_run_process, name="messenger")
    _add_record_commands(commands)
    return parser


def _serve(settings: Settings) -> int:
    if settings.redis_url is not None:
        terminal.claim_standard_streams()
        # gunicorn replaces this process, so that it keeps the process id and receives the signals.
        command = [sys.executable, "-m", "gunicorn", "-c", str(supervisor.GUNICORN_CONF)]
        os.execv(sys.executable, command)  # noqa: S606 # without a shell
    return supervisor.serve(settings)


def _run_process(settings: Settings, name: str) -> int:
    """Run a process beside the web server; return its exit status."""
    if settings.redis_url is None:
        terminal.warn("REDIS_URL is not set; `domino-service serve` starts this process with its embedded server")
        return 2
    if name == "messenger":
        from gevent import monkey  # noqa: PLC0415 # serving does not need it

        monkey.patch_all()  # before the rest of the service is imported
    from service.workers.consumer import Control  # noqa: PLC0415 # as above

    stop = Control()
    stop.install()  # now, as loading the rest takes a while
    from service.workers import processes  # noqa: PLC0415 # as above

    runs = {"bots": processes.run_bots, "scheduler": processes.run_scheduler, "messenger": processes.run_messenger}
    return runs[name](settings, stop)


def _version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 # slow to import, and rarely needed

    terminal.print_line(f"domino-service {version('domino-service')}")
    return 0
