"""The settings of the service, read once from the environment at the start.

Owns their names, defaults, bounds and meanings: the list ``SETTINGS`` serves for reading, for ``--help`` and for the
documentation. Does not depend on their use. An invalid value prevents the start; there are no silent fallbacks.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from service.redis.url import read_redis_url

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
LOG_FORMATS = ("auto", "json", "text")
GAMES = ("anyone", "apps")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_INTEGER = re.compile(r"0|[1-9][0-9]{0,8}")
_MAPPED_BITS = 96
_PUBLIC_URL = re.compile(
    r"https?://(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[^][/?#@:]+))(?::(?P<port>[1-9][0-9]{0,4}))?(?:/[\w.~-]+)*/?"
)
_PROXY = re.compile(r"http://(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[^][/?#@:]+)):(?P<port>[1-9][0-9]{0,4})")
_HOST_NAME = re.compile(r"(?=.{1,253}$)(?!.*\.[0-9]+$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")


class SettingType(NamedTuple):
    """The type of a setting."""

    expected: str
    """A noun phrase that describes a valid text in an error message."""
    read: Callable[[str], object]
    """The parser of the text; raises ``ValueError`` if it is invalid."""
    secret: bool = False
    """Whether the text must never be shown."""


class Setting(NamedTuple):
    """One setting; ``default`` is the default as text, "" if there is none."""

    name: str
    default: str
    meaning: str
    kind: SettingType


class InvalidSetting(NamedTuple):
    """An invalid setting: its name, its text (``None`` if it is secret), and the expected form."""

    name: str
    text: str | None
    expected: str

    def __str__(self) -> str:
        """Return a short error message on one line, whatever the text contains."""
        shown = "" if self.text is None else f" is {self.text[:40]!r}"
        return f"{self.name}{shown} (expected {self.expected})"


class InvalidSettings(ValueError):
    """Some settings are invalid. The message names all of them on one line; ``errors`` lists them."""

    def __init__(self, errors: tuple[InvalidSetting, ...]) -> None:
        super().__init__("invalid settings: " + "; ".join(str(error) for error in errors))
        self.errors = errors


def _integer(low: int, high: int) -> SettingType:
    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    return SettingType(f"an integer from {low} to {high}", read)


def _optional_integer(low: int, high: int) -> SettingType:
    kind = _integer(low, high)
    return SettingType(kind.expected, lambda text: kind.read(text) if text else None)


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


def _network(text: str) -> Network:
    """Return the network; one that is mapped from IPv4 to IPv6 is returned as IPv4."""
    network = ipaddress.ip_network(text)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is not None and network.prefixlen >= _MAPPED_BITS:
        return ipaddress.IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))
    return network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(map(_network, re.split(" *, *", text.strip(" ")))) if text else ()


def _check_url(parts: re.Match[str] | None) -> None:
    """Raise ``ValueError`` unless there is a match, with a valid host and port."""
    if parts is None or int(parts["port"] or 1) > 65535:
        raise ValueError
    if parts["ipv6"]:
        ipaddress.IPv6Address(parts["ipv6"])
    else:
        _host(parts["host"])


def _proxy(text: str) -> str | None:
    if text:
        _check_url(_PROXY.fullmatch(text))
    return text or None


def _public_urls(text: str) -> tuple[str, ...]:
    urls = re.split(" *, *", text) if text else []
    for url in urls:
        _check_url(_PUBLIC_URL.fullmatch(url))
    return tuple([url.removesuffix("/") for url in urls])


def _redis_url(text: str) -> str | None:
    if text:
        read_redis_url(text)
    return text or None


def _secrets(text: str) -> tuple[str, ...]:
    secrets = tuple(re.split(" *, *", text)) if text else ()
    if any(len(secret) < 32 or not secret.isprintable() for secret in secrets):
        raise ValueError
    return secrets


_SECRETS = SettingType("32 characters or more, or several such keys separated by commas", _secrets, secret=True)
_DURABLE = SettingType(
    "one of local, replicated, replicated:1 to replicated:9",
    _word(("local", "replicated", *[f"replicated:{number}" for number in range(1, 10)])).read,
)
_HOST = SettingType("an IP address or a host name", _host)
_FOLDER = SettingType("the path of a folder", _folder)
_NETWORKS = SettingType("addresses and networks, separated by commas", _networks)
_PROXY_URL = SettingType("http://host:port", _proxy)
_PUBLIC_URLS = SettingType("http[s]://host[:port][/path], or several separated by commas", _public_urls)
_REDIS_URL = SettingType(
    "redis[s]://host[:port][/db], unix:///path/to/socket, redis[s]+sentinel://host[:port],…/name[/db] "
    "or redis[s]+cluster://host[:port],…",
    _redis_url,
    secret=True,
)


def _setting(default: str, kind: SettingType, meaning: str) -> Any:
    metadata = {"default": default, "kind": kind, "meaning": meaning}
    return field(default=kind.read(default), repr=not kind.secret, metadata=metadata)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings; each field is the environment variable of the same name in capitals."""

    host: str = _setting("127.0.0.1", _HOST, "address to listen on; `0.0.0.0`: every IPv4 address of the machine")
    port: int = _setting("8000", _integer(0, 65535), "port to listen on; `0`: any free one")
    public_url: tuple[str, ...] = _setting(
        "",
        _PUBLIC_URLS,
        "addresses at which others reach the page, separated by commas, such as `https://domino.example`; invitations "
        "show them; none: the address that the browser shows, or the addresses of the machine if `REDIS_URL` is not "
        "set and `HOST` is beyond loopback",
    )
    metrics_host: str = _setting("127.0.0.1", _HOST, "address to listen on for `METRICS_PORT`")
    metrics_port: int = _setting(
        "0", _integer(0, 65535), "port of `/metrics`, also of `/healthz` and `/readyz`; other than `PORT`; `0`: none"
    )
    workers: int = _setting("2", _integer(1, 256), "worker processes; about one per core")
    bot_workers: int = _setting(
        "1",
        _integer(0, 64),
        "processes that make the moves of computer players, in a run without `REDIS_URL`; `0`: none",
    )
    schedulers: int = _setting(
        "1", _integer(0, 16), "processes that handle expired deadlines, in a run without `REDIS_URL`; `0`: none"
    )
    messengers: int = _setting(
        "1",
        _integer(0, 16),
        "processes that tell applications what happens in their games, in a run without `REDIS_URL`; `0`: none",
    )
    redis_url: str | None = _setting(
        "",
        _REDIS_URL,
        "Redis or Valkey 7 or newer that stores the games: `redis://` or `rediss://` with `host[:port][/db]`, "
        "`unix:///path`, `redis+sentinel://host,…/name` or `redis+cluster://host,…` (`rediss+…` with TLS); "
        "none: an embedded server is started",
    )
    durability: str = _setting(
        "local",
        _DURABLE,
        "when a move is acknowledged: `local`, as soon as the server has it; `replicated`, when every replica has it "
        "that may be promoted; `replicated:1`, when that number of replicas has it",
    )
    data_dir: Path = _setting(  # noqa: RUF009 # it is a field
        "data", _FOLDER, "folder of the embedded server, and of the generated secret"
    )
    max_memory_mb: int = _setting(
        "512",
        _integer(0, 1_000_000),
        "MiB that the embedded server may use, of which the last tenth is kept for games that exist; `0`: no limit",
    )
    secret_key: tuple[str, ...] = _setting(
        "",
        _SECRETS,
        "key from which tokens are derived, so that a repeated request gets the same ones; the same on every machine "
        "that serves the same Redis; several, separated by commas: new tokens come from the first, repeated requests "
        "may have used any; none: generated once and kept in `DATA_DIR`",
    )
    game_ttl_days: int = _setting("30", _integer(1, 3650), "days a game is kept after its last move")
    finished_ttl_days: int = _setting(
        "7",
        _integer(1, 3650),
        "days a finished game is kept, `GAME_TTL_DAYS` at most; a game in which nobody has moved is kept for one day",
    )
    stored_mb_per_day: int | None = _setting(
        "",
        _optional_integer(0, 1_000_000),
        "MiB that the games of one address may take in a day of UTC; `0`: no limit; none: a twentieth of the memory "
        "of the store, if that has a limit",
    )
    app_stored_mb_per_day: int | None = _setting(
        "", _optional_integer(0, 1_000_000), "the same for one application; none: a fifth"
    )
    log_level: str = _setting("info", _word(LOG_LEVELS), "lowest level that is logged: " + ", ".join(LOG_LEVELS))
    log_format: str = _setting(
        "auto",
        _word(LOG_FORMATS),
        "form of the log: `json`, an object on each line; `text`, lines for people; `auto`: `text` in a terminal, else "
        "`json`",
    )
    creates_per_minute: int = _setting(
        "3000",
        _integer(0, 1_000_000),
        "games that one address may create or join, and records that it may verify or replay, per minute; a body "
        "counts as one more for each 4 KiB, an `expert` as one more (if computer players may play alone, for each "
        "round); `0`: no limit",
    )
    max_games_of_bots: int = _setting(
        "50",
        _integer(0, 1_000_000),
        "games under way of one address or application that computer players may finish without people; `0`: no limit",
    )
    reads_per_minute: int = _setting(
        "12000",
        _integer(0, 1_000_000),
        "reads of histories (records, fairness, repeated requests) that one address may make per minute; 100 events "
        "count as one, and so do 4 tiles laid in a replay, or a page of the lobby after the first; `0`: no limit",
    )
    token_failures_per_minute: int = _setting(
        "600",
        _integer(0, 1_000_000),
        "wrong tokens, join codes and game ids that one address may send per minute; `0`: no limit",
    )
    seat_requests_per_minute: int = _setting(
        "6000",
        _integer(0, 1_000_000),
        "requests that one seat may send per minute; `0`: no limit, except 20 per minute to leave or come back",
    )
    token_changes_per_hour: int = _setting(
        "10", _integer(0, 1_000_000), "changes of its token that one seat may request per hour; `0`: no limit"
    )
    games: str = _setting(
        "anyone", _word(GAMES), "who may create games: `anyone`; `apps`, only who has the key of an application"
    )
    app_games_per_minute: int = _setting(
        "6000",
        _integer(0, 1_000_000),
        "games that one application may create or join per minute, from all addresses together; large bodies and "
        "`expert` count as for `CREATES_PER_MINUTE`; `0`: no limit",
    )
    app_requests_per_minute: int = _setting(
        "60000",
        _integer(0, 1_000_000),
        "other requests that one application may send per minute, from all addresses together; its reads, as in "
        "`READS_PER_MINUTE`, are added; `0`: no limit, and its reads count in `READS_PER_MINUTE`",
    )
    trusted_proxies: int = _setting(
        "0",
        _integer(0, 10),
        "number of reverse proxies in front, each trusted to append its client to `X-Forwarded-For`",
    )
    webhook_networks: tuple[Network, ...] = _setting(
        "",
        _NETWORKS,
        "non-public networks in which webhooks are allowed, separated by commas, such as `10.0.0.0/8`; there also with "
        "`http` and on every port; none: public addresses only",
    )
    webhook_proxy: str | None = _setting(
        "",
        _PROXY_URL,
        "`http://host:port` of a proxy that makes the connections to webhooks, and decides where to; not together "
        "with `WEBHOOK_NETWORKS`; none: the service makes and checks them",
    )
    worker_connections: int = _setting("5000", _integer(1, 100_000), "connections that one worker serves at a time")
    max_streams: int = _setting(
        "4000", _integer(0, 100_000), "streams and long polls of one worker at a time; less than `WORKER_CONNECTIONS`"
    )
    max_streams_per_address: int = _setting(
        "1000", _integer(0, 100_000), "of these, from one address; `0`: no limit of its own"
    )
    max_streams_per_game: int = _setting(
        "2000",
        _integer(0, 100_000),
        "of these, of one game, or of the feed of one application; `0`: no limit of its own",
    )
    graceful_timeout: int = _setting(
        "30", _integer(1, 3600), "seconds that running requests get to finish when the service stops"
    )

    @property
    def replicated(self) -> bool:
        """Return whether replicas have to confirm a write."""
        return self.durability != "local"

    @property
    def replicas(self) -> int | None:
        """The number of replicas that have to confirm a write; ``None``: the topology decides."""
        _, _, number = self.durability.partition(":")
        return int(number) if number else None

    @property
    def game_ttl_seconds(self) -> int:
        """Seconds that a game is stored after its last move."""
        return self.game_ttl_days * 86_400

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Return the settings in ``environ``; missing ones have their defaults.

        A secret can be in a file that ``<NAME>_FILE`` names; blanks and line feeds around it are removed. Raises
        ``InvalidSettings``, which names all invalid values.
        """
        values: dict[str, object] = {}
        errors: list[InvalidSetting] = []
        for setting in SETTINGS:
            text = None
            try:
                text = _text_of(setting, environ)
                if text is not None:
                    values[setting.name.lower()] = setting.kind.read(text)
            except InvalidSettings as error:
                errors += error.errors
            except ValueError:
                shown = None if setting.kind.secret else text
                errors.append(InvalidSetting(setting.name, shown, setting.kind.expected))
        settings = cls(**values)  # type: ignore[arg-type] # each reader returns the type of its field, which a test checks
        errors += settings._conflicts(environ)
        if errors:
            raise InvalidSettings(tuple(errors))
        return settings

    def _conflicts(self, environ: Mapping[str, str]) -> list[InvalidSetting]:
        """Return the settings that do not go with others."""
        conflicts = []
        if self.metrics_port and self.metrics_port == self.port:
            conflicts.append(InvalidSetting("METRICS_PORT", str(self.metrics_port), "another than PORT"))
        if self.webhook_proxy and self.webhook_networks:
            networks = environ["WEBHOOK_NETWORKS"]
            conflicts.append(InvalidSetting("WEBHOOK_NETWORKS", networks, "none with a WEBHOOK_PROXY"))
        if self.max_streams >= self.worker_connections:
            conflicts.append(InvalidSetting("MAX_STREAMS", str(self.max_streams), "less than WORKER_CONNECTIONS"))
        return conflicts


def _text_of(setting: Setting, environ: Mapping[str, str]) -> str | None:
    """Return the text of a setting, for a secret also from its file; ``None`` if it is not set.

    Raises ``InvalidSettings``.
    """
    text, file = environ.get(setting.name), f"{setting.name}_FILE"
    path = environ.get(file) if setting.kind.secret else None
    if not path:
        return text
    if text:
        raise InvalidSettings((InvalidSetting(file, path, f"none with {setting.name}"),))
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeError):
        raise InvalidSettings((InvalidSetting(file, path, "a file with text that can be read"),)) from None


SETTINGS: tuple[Setting, ...] = tuple(Setting(name=item.name.upper(), **item.metadata) for item in fields(Settings))
