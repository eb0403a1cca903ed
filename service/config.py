"""The settings of the service, read from the environment once, at the start.

Owns their names, defaults, bounds and meanings: one list, ``SETTINGS``, drives reading, ``--help`` and the README.
Must not know who uses them. Nothing here falls back in silence: a value that cannot be taken stops the start.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from service.redis_url import read_redis_url

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
DURABILITIES = ("local", "replicated")

_INTEGER = re.compile(r"0|[1-9][0-9]{0,8}")
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!.*\.[0-9]+$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")


class SettingType(NamedTuple):
    """How the text of a setting is read, and what a good one is, as a noun for people.

    ``read`` raises ``ValueError`` for a text it cannot take. A ``secret`` text is never shown.
    """

    expected: str
    read: Callable[[str], object]
    secret: bool = False


class Setting(NamedTuple):
    """One line of the list of settings; ``default`` is the text that would give the default, "" for none."""

    name: str
    default: str
    meaning: str
    kind: SettingType


class InvalidSetting(NamedTuple):
    """A setting that could not be taken: its name, its text (``None`` when that is secret), what was expected."""

    name: str
    text: str | None
    expected: str

    def __str__(self) -> str:
        """The fault in a few words, on one line whatever the text holds."""
        shown = "" if self.text is None else f" is {self.text[:40]!r}"
        return f"{self.name}{shown} (expected {self.expected})"


class InvalidSettings(ValueError):
    """Some settings cannot be taken; the message is one line that names them all, ``faults`` has them one by one."""

    def __init__(self, faults: tuple[InvalidSetting, ...]) -> None:
        super().__init__("bad settings: " + "; ".join(str(fault) for fault in faults))
        self.faults = faults


def _integer(low: int, high: int) -> SettingType:
    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    return SettingType(f"an integer from {low} to {high}", read)


def _word(words: tuple[str, ...]) -> SettingType:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError
        return text.lower()

    return SettingType(f"one of {', '.join(words)}", read)


def _host(text: str) -> str:
    if not _HOST_NAME.fullmatch(text):
        ipaddress.ip_address(text)
    return text


def _folder(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError
    return Path(text)


def _redis_url(text: str) -> str | None:
    if not text:
        return None
    read_redis_url(text)
    return text


def _secret(text: str) -> str | None:
    if not text:
        return None
    if len(text) < 32 or not text.isprintable():
        raise ValueError
    return text


_SECRET = SettingType("32 characters or more", _secret, secret=True)
_HOST = SettingType("an IP address or a host name", _host)
_FOLDER = SettingType("the path of a folder", _folder)
_REDIS_URL = SettingType(
    "redis[s]://host[:port][/db], unix:///path/to/socket, redis[s]+sentinel://host[:port],…/name[/db] "
    "or redis[s]+cluster://host[:port],…",
    _redis_url,
    secret=True,
)


def _setting(default: str, kind: SettingType, meaning: str) -> Any:
    about = {"default": default, "kind": kind, "meaning": meaning}
    return field(default=kind.read(default), repr=not kind.secret, metadata=about)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the environment asks for; each field is the variable of the same name in capitals."""

    host: str = _setting("127.0.0.1", _HOST, "address to listen on; `0.0.0.0` is every IPv4 address of the machine")
    port: int = _setting("8000", _integer(0, 65535), "port to listen on; `0` takes any free one")
    workers: int = _setting("2", _integer(1, 256), "worker processes; about one a core")
    redis_url: str | None = _setting(
        "",
        _REDIS_URL,
        "Redis or Valkey 7 or newer that keeps the games: `redis://` or `rediss://` with `host[:port][/db]`, "
        "`unix:///path`, `redis+sentinel://host,…/name` or `redis+cluster://host,…` (`rediss+…` with TLS); "
        "none: an embedded server is started",
    )
    durability: str = _setting(
        "local",
        _word(DURABILITIES),
        "when a move counts as made: `local`, the server has it; `replicated`, a replica has it too",
    )
    data_dir: Path = _setting(  # noqa: RUF009 # it is a field
        "data", _FOLDER, "folder of the embedded server and of what is kept beside the games"
    )
    secret_key: str | None = _setting(
        "",
        _SECRET,
        "what tokens are made from again when a request is repeated; the same on every machine that "
        "serves the same Redis; none: made once and kept in `DATA_DIR`",
    )
    game_ttl_days: int = _setting("30", _integer(1, 3650), "days a game is kept after its last move")
    log_level: str = _setting("info", _word(LOG_LEVELS), "least level that is logged: " + ", ".join(LOG_LEVELS))
    creates_per_minute: int = _setting(
        "3000",
        _integer(0, 1_000_000),
        "games that one address may create or have checked a minute, 4 KiB of a record being one; `0`: no limit",
    )
    token_failures_per_minute: int = _setting(
        "600",
        _integer(0, 1_000_000),
        "wrong tokens, join codes and games that one address may try a minute; `0`: no limit",
    )
    seat_requests_per_minute: int = _setting(
        "6000", _integer(0, 1_000_000), "requests that one seat may send a minute; `0`: no limit"
    )
    trusted_proxies: int = _setting(
        "0", _integer(0, 10), "reverse proxies in front, each trusted to add its client to `X-Forwarded-For`"
    )
    worker_connections: int = _setting("5000", _integer(1, 100_000), "clients that one worker serves at a time")
    max_streams: int = _setting(
        "4000",
        _integer(0, 100_000),
        "streams and waiting polls of one worker at a time; fewer than its clients",
    )
    graceful_timeout: int = _setting("30", _integer(1, 3600), "seconds that running requests get at a stop")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """The settings that ``environ`` asks for; what it does not name has its default.

        Raises:
            BadSettings: one or more values cannot be taken; it names all of them.
        """
        values: dict[str, object] = {}
        faults: list[InvalidSetting] = []
        for setting in SETTINGS:
            text = environ.get(setting.name)
            if text is None:
                continue
            try:
                values[setting.name.lower()] = setting.kind.read(text)
            except ValueError:
                faults.append(
                    InvalidSetting(setting.name, None if setting.kind.secret else text, setting.kind.expected)
                )
        if faults:
            raise InvalidSettings(tuple(faults))
        return cls(**values)  # type: ignore[arg-type] # each reader gives the type of its field; a test holds it


SETTINGS: tuple[Setting, ...] = tuple(Setting(name=item.name.upper(), **item.metadata) for item in fields(Settings))
