"""Decides where requests may go: which URLs are accepted, and which addresses are public.

Owns the parsing of a URL, and the list of networks that are not public. A caller must connect to an address that
``resolve`` has returned, never to the host name: a second look-up could return another address. Does not depend on how
a name is looked up, nor on how a request is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Find = Callable[[str], Collection[Address]]
"""Returns the addresses of a host name, which may have none."""

MAX_URL_CHARACTERS: Final = 500
REASONS: Final = ("too_long", "malformed", "not_https", "credentials", "port", "not_public")
"""The reasons for which a URL is refused.

A name without an address is ``not_public``, too. With another reason, a client could find out which names exist in the
internal network of the service.
"""

EVERYWHERE: Final = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))
"""The networks that contain every address."""

_HTTPS_PORT: Final = 443
_PORTS: Final = {"http": 80, "https": _HTTPS_PORT}
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>.*)")
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_PATH: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
_NAME: Final = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")  # system resolvers read these as IPv4 addresses

_NOT_PUBLIC: Final = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # between a provider and its customers; metadata of Alibaba Cloud
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # metadata of Azure
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; metadata of Oracle Cloud
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # measurements
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved; broadcast
            "2001::/23",  # protocol assignments, among them Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which contains IPv4 addresses
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""It excludes loopback, mapped and translated IPv4 addresses, unique local and link-local addresses, and multicast."""


class RefusedUrl(ValueError):
    """The URL is refused; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Target(NamedTuple):
    """The parts of a URL.

    ``host``: in lower case; an IPv6 address without brackets.
    ``path``: includes the query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return host and port as in the header ``Host``, without the default port of the scheme."""
        return self.host_in_brackets if self.port == _PORTS[self.scheme] else f"{self.host_in_brackets}:{self.port}"

    @property
    def host_in_brackets(self) -> str:
        """Return the host as in a URL: an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host


def check_url(url: str, networks: Collection[Network] = ()) -> Target:
    """Parse and check a URL without looking up its host.

    Addresses in ``networks`` are allowed although they are not public. Only they may be used with ``http``, with other
    ports or with names without a dot. Without ``networks``, such URLs are refused here, else ``resolve`` refuses them.

    The host must be in ASCII (``xn--…``), a name without a final dot, an IPv4 address as four decimal numbers. A URL
    with a fragment is malformed.

    Raises:
        RefusedUrl: see ``REASONS``.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise RefusedUrl("too_long")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise RefusedUrl("malformed")
    scheme = parts["scheme"].lower()
    if scheme not in _PORTS or (scheme != "https" and not networks):
        raise RefusedUrl("not_https")
    if "@" in parts["authority"]:
        raise RefusedUrl("credentials")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    port = int(authority["port"] or _PORTS[scheme]) if authority else 0
    if authority is None or port > 65535 or not _PATH.fullmatch(parts["path"]):
        raise RefusedUrl("malformed")
    host = _parse_host(authority)
    if port != _HTTPS_PORT and not networks:
        raise RefusedUrl("port")
    path = parts["path"] if parts["path"].startswith("/") else "/" + parts["path"]
    target = Target(scheme, str(host), port, path)
    if not isinstance(host, str):
        _check_addresses(target, (host,), networks)
    elif "." not in host and not networks:
        raise RefusedUrl("not_public")
    return target


def resolve(target: Target, networks: Collection[Network], find: Find) -> tuple[Address, ...]:
    """Look up a target once, and return its addresses in the order of the look-up: at least one, and all are allowed.

    Raises:
        RefusedUrl: one of the addresses is not allowed, or the host has none.
        LookupFailed: raised by ``find``.
    """
    addresses: tuple[Address, ...] = ()
    with suppress(ValueError):
        addresses = (ip_address(target.host),)
    addresses = addresses or tuple(find(target.host))  # here, so that its errors do not have the host in their context
    if not addresses:
        raise RefusedUrl("not_public")
    _check_addresses(target, addresses, networks)
    return addresses


def is_public(address: Address) -> bool:
    """Return whether an address belongs to a single host on the internet, and does not embed another address."""
    if isinstance(address, IPv6Address) and (address not in _GLOBAL_UNICAST or address.scope_id is not None):
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)


def _parse_host(authority: re.Match[str]) -> Address | str:
    """Return the host: an address, or a name in lower case. Raises ``RefusedUrl``."""
    try:
        if authority["ipv6"]:
            return IPv6Address(authority["ipv6"])
        name = str(authority["name"]).lower()
        if _NUMBER.fullmatch(name):
            return IPv4Address(name)
    except ValueError:
        raise RefusedUrl("malformed") from None
    if not _NAME.fullmatch(name):
        raise RefusedUrl("malformed")
    return name


def _check_addresses(target: Target, addresses: Collection[Address], networks: Collection[Network]) -> None:
    """Raise ``RefusedUrl`` unless all addresses of a target are allowed."""
    for address in addresses:
        if any(address in network for network in networks):
            continue
        if not is_public(address):
            raise RefusedUrl("not_public")
        if target.scheme != "https":
            raise RefusedUrl("not_https")
        if target.port != _HTTPS_PORT:
            raise RefusedUrl("port")
