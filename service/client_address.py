"""Parsing of client addresses, as the server or a proxy writes them.

Owns the accepted forms of an address. Does not depend on its use, such as rate limits.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final

_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]*)\](?::[0-9]{1,5})?|(?P<v4>[0-9.]+):[0-9]{1,5}")
"""The form in which some load balancers write the address in ``X-Forwarded-For``."""


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address with or without a port: ``192.0.2.7:80``, ``[2001:db8::1]:80``; ``None`` if it is invalid.

    An IPv4 address that is mapped to IPv6 is returned as IPv4.
    """
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ipaddress.ip_address(text if match is None else match["v6"] or match["v4"])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


@lru_cache(maxsize=1024)  # several limits count each request
def client_network(address: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 address; ``"unknown"`` if it is invalid."""
    parsed = parse_address(address)
    if parsed is None:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Address(int(parsed) >> 64 << 64))
