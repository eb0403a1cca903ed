"""Parses REDIS_URL, which names one server, a primary by its Sentinels, or a Cluster.

Error messages never contain the URL, since it may contain a password.

============================================================ =============================================
``redis://[user:password@]host[:port][/db]``                 one server; ``rediss://`` with TLS
``unix://[user:password@]/path/to/socket[?db=n]``            one server
``redis+sentinel://[user:password@]host[:port],…/name[/db]`` the primary ``name``, according to these Sentinels;
                                                             ``?sentinel_password=`` is theirs
``redis+cluster://[user:password@]host[:port],…``            a Cluster, of which these are some servers
============================================================ =============================================

``rediss+sentinel://`` and ``rediss+cluster://`` are the same with TLS. With TLS the ``ssl_…`` options of redis-py work.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

_FORM = re.compile(
    r"(?P<scheme>redis|rediss)(\+(?P<kind>sentinel|cluster))?://"
    r"((?P<credentials>[^/?#]*)@)?(?P<servers>[^/?#@]*)(?P<path>/[^?#]*)?(\?(?P<options>[^#]*))?"
)
_DATABASE = re.compile(r"[0-9]{1,5}")
_SENTINEL_PORT = 26379
_REDIS_PORT = 6379


class Address(NamedTuple):
    """The address of a server."""

    host: str
    port: int


class RedisUrl(NamedTuple):
    """A parsed URL. Only ``kind`` is set for a socket.

    ``kind``: ``single``, ``sentinel`` or ``cluster``.
    ``credentials``, ``suffix``: the parts before and after the address in the URL of each data server.
    ``service``: the name of the primary, for Sentinel.
    """

    kind: str
    scheme: str = ""
    addresses: tuple[Address, ...] = ()
    credentials: str = ""
    suffix: str = ""
    service: str = ""
    sentinel_password: str | None = None

    def server(self, address: Address) -> str:
        """Return the URL of a data server."""
        return f"{self.scheme}://{self.credentials}{_host_and_port(address)}{self.suffix}"

    def sentinel(self, address: Address) -> str:
        """Return the URL of a Sentinel, which has its own password and no database."""
        credentials = "" if self.sentinel_password is None else f":{quote(self.sentinel_password, safe='')}@"
        _, mark, options = self.suffix.partition("?")
        return f"{self.scheme}://{credentials}{_host_and_port(address)}{mark}{options}"


def read_redis_url(text: str) -> RedisUrl:
    """Parse a URL. Raises ``ValueError`` for an invalid one."""
    if not text.isprintable() or " " in text:
        raise ValueError("it contains a space or an unprintable character")
    if text.startswith("unix://"):
        return _unix(text)
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(
            "it must begin with redis://, rediss:// or unix://, or with their forms for Sentinel or Cluster"
        )
    kind = form["kind"] or "single"
    options = _options(form["options"] or "", form["scheme"], kind)
    path = (form["path"] or "").removeprefix("/").split("/")
    service = unquote(path.pop(0)) if kind == "sentinel" else ""
    if kind == "sentinel" and not service:
        raise ValueError("it must name the primary that Sentinel knows")
    database = "/".join(path)
    if database and not _DATABASE.fullmatch(database):
        raise ValueError("the path must be the number of a database")
    if kind == "cluster" and database.strip("0"):
        raise ValueError("a Cluster only has database 0")
    port = _SENTINEL_PORT if kind == "sentinel" else _REDIS_PORT
    addresses = tuple(_address(server, port) for server in form["servers"].split(","))
    if kind == "single" and len(addresses) > 1:
        raise ValueError("one server has one address")
    password = options.pop("sentinel_password", None)
    credentials = "" if form["credentials"] is None else f"{form['credentials']}@"
    suffix = f"/{options.pop('db', database)}" + (f"?{urlencode(options)}" if options else "")
    return RedisUrl(kind, form["scheme"], addresses, credentials, suffix, service, password)


def _unix(text: str) -> RedisUrl:
    parts = urlsplit(text)
    if parts.netloc.rpartition("@")[2] or not parts.path.startswith("/"):
        raise ValueError("it must name the path of a socket")
    _options(parts.query, "unix", "single")
    return RedisUrl("single")


def _options(text: str, scheme: str, kind: str) -> dict[str, str]:
    """Return the options of a URL. Raises ``ValueError`` for an option that must not be set."""
    options = dict(parse_qsl(text, keep_blank_values=True))
    for name, value in options.items():
        is_password = name == "sentinel_password" and kind == "sentinel"
        if name == "db" and kind != "cluster":
            if not _DATABASE.fullmatch(value):
                raise ValueError("db must be the number of a database")
        elif not is_password and not (name.startswith("ssl_") and scheme == "rediss"):
            raise ValueError("it may not set " + re.sub(r"[^a-z_]", "?", name[:40]))
    return options


def _address(text: str, port: int) -> Address:
    try:
        parts = urlsplit(f"//{text}")
        explicit_port = parts.port
    except ValueError:
        raise ValueError("it is not a URL: a host or a port is malformed") from None
    if not parts.hostname or explicit_port == 0:
        raise ValueError("it must name a host, and a port from 1 to 65535")
    return Address(parts.hostname, port if explicit_port is None else explicit_port)


def _host_and_port(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"
