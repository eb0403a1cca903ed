"""The arguments of the commands of an operator: on applications, on stored games, and on the lists of games.

Owns which commands there are, and on whose Redis they work. Light to import. Does not depend on what they do
(``service.cli_backends``, ``service.cli_games``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from service.config import Settings
from service.devserver import terminal
from service.devserver.embedded import running_url

USUAL: Final = -1
"""What stands for a limit that is to be the usual one again."""
MOST: Final = 1_000_000
"""The highest limit, as of the settings."""
_LIMITS: Final = {
    "requests": "requests per minute, in place of APP_REQUESTS_PER_MINUTE",
    "games": "games that it creates or joins per minute, in place of APP_GAMES_PER_MINUTE",
    "stored": "MiB that it stores per day, in place of APP_STORED_MB_PER_DAY",
}

Commands = argparse._SubParsersAction  # noqa: SLF001 # its only name


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add ``apps``, ``games`` and ``reindex``."""
    _add_app_commands(commands.add_parser("apps", help="make, list and revoke the keys of applications"))
    _add_game_commands(commands.add_parser("games", help="list stored games by size, age and holder, and delete them"))
    reindex = commands.add_parser(
        "reindex", help="rebuild the lists of games of all applications, or of one; the service may run meanwhile"
    )
    reindex.add_argument("id", nargs="?", help="the id of an application; none: all")
    reindex.set_defaults(run=partial(_on_apps, "reindex"), values=("id",))


def _add_app_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)

    def add(name: str, meaning: str, *values: str) -> argparse.ArgumentParser:
        return _added(commands, name, meaning, partial(_on_apps, name), values=values)

    command = add("create", "make an application, and print its key", "name")
    command.add_argument("name", help="a name for people, of at most 60 characters")
    add("list", "list the applications with the suffixes of their keys")
    command = add("rotate", "make a new key for an application, and print it", "id", "overlap")
    command.add_argument("id", help="the id of the application")
    command.add_argument(
        "--overlap",
        type=_seconds,
        default=86_400,
        metavar="SECONDS",
        help="how long the other keys stay valid (86400); 0: they are revoked at once",
    )
    command = add("revoke", "revoke a key of an application, or all of them", "id", "suffix")
    command.add_argument("id", help="the id of the application")
    command.add_argument("suffix", nargs="?", help="the suffix of the key; none: all keys")
    command = add("suspend", "accept no key of an application until it is resumed; its games go on", "id")
    command.add_argument("id", help="the id of the application")
    command = add("resume", "accept the keys of an application again", "id")
    command.add_argument("id", help="the id of the application")
    command = add("limit", "give an application limits of its own, or the usual ones again", "id", *_LIMITS)
    command.add_argument("id", help="the id of the application")
    for name, meaning in _LIMITS.items():
        text = f"{meaning}; 0: no limit; without a number: the usual limit again"
        command.add_argument(f"--{name}", nargs="?", type=_limit, const=USUAL, metavar="N", help=text)
    command = add("delete", "delete an application; its games go on", "id")
    command.add_argument("id", help="the id of the application")


def _add_game_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    wanted = ("holder", "address", "older", "unmoved", "sort", "limit")
    listed = _added(
        commands, "list", "list stored games, the largest first", partial(_on_games, "list"), values=(*wanted, "json")
    )
    listed.add_argument("--json", action="store_true", help="print an object on each line")
    shown = _added(
        commands, "show", "print games and their players, but no tiles", partial(_on_games, "show"), values=("ids",)
    )
    shown.add_argument("ids", nargs="+", metavar="ID", help="the ids of games")
    deleted = _added(
        commands, "delete", "delete stored games, as their application would", partial(_on_games, "delete"), values=()
    )
    deleted.set_defaults(values=(*wanted, "ids", "yes"))
    deleted.add_argument("ids", nargs="*", metavar="ID", help="the ids of games; none: those that the options name")
    deleted.add_argument("--yes", action="store_true", help="delete what the options name, instead of counting it")
    for command, limit in ((listed, 50), (deleted, 1_000_000)):
        command.add_argument("--holder", help="only those of this application or network, as `games list` shows it")
        command.add_argument("--address", help="only those that were created from the network of this address")
        command.add_argument(
            "--older", type=_number, default=0, metavar="DAYS", help="only those not written for so many days"
        )
        command.add_argument("--unmoved", action="store_true", help="only those in which nobody has moved")
        command.add_argument("--sort", choices=("size", "age"), default="size", help="the largest or the oldest first")
        command.add_argument(
            "--limit", type=_number, default=limit, metavar="N", help=f"so many games at most ({limit})"
        )


def _added(
    commands: Commands[argparse.ArgumentParser],
    name: str,
    meaning: str,
    run: Callable[..., int],
    *,
    values: tuple[str, ...],
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
    )
    command.set_defaults(run=run, values=values)
    return command


def _seconds(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return int(text)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _limit(text: str) -> int:
    if not text.isdecimal() or len(text) > 7 or int(text) > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number up to {MOST}")
    return int(text)


def _on_apps(command: str, settings: Settings, *values: str | int | None) -> int:
    """Run a command on the applications; returns the exit status."""
    reached = _reached(settings)
    if reached is None:
        return 2
    from service import cli_backends  # noqa: PLC0415 # serving does not need it

    functions: dict[str, Callable[..., int]] = {
        "create": cli_backends.create,
        "list": cli_backends.list_all,
        "rotate": cli_backends.rotate,
        "revoke": cli_backends.revoke,
        "suspend": cli_backends.suspend,
        "resume": cli_backends.resume,
        "limit": cli_backends.limit,
        "delete": cli_backends.delete,
        "reindex": cli_backends.reindex,
    }
    return functions[command](reached, *values)


def _on_games(command: str, settings: Settings, *values: Any) -> int:
    """Run a command on stored games; returns the exit status."""
    reached = _reached(settings)
    if reached is None:
        return 2
    from service import cli_games  # noqa: PLC0415 # as above

    if command == "show":
        return cli_games.show_games(reached, *values)
    wanted, others = cli_games.Filter(*values[:6]), values[6:]
    if command == "list":
        return cli_games.list_games(reached, wanted, as_json=others[0])
    return cli_games.delete_games(reached, others[0], wanted, sure=others[1])


def _reached(settings: Settings) -> Settings | None:
    """Return the settings with the Redis of the running embedded server, if they name none.

    ``None`` if none is running.
    """
    if settings.redis_url is not None:
        return settings
    url = running_url(settings.data_dir)
    if url is not None:
        return replace(settings, redis_url=url)
    terminal.warn(
        f"no service is running on {settings.data_dir.absolute()}; start one, or set DATA_DIR to its data "
        "folder, or REDIS_URL"
    )
    return None
