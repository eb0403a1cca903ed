"""The address of a client, as the server or a proxy writes it.

Owns in which form an address may be. Does not depend on what it is used for: rate limits count by it, operators ban it.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final

_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]*)\](?::[0-9]{1,5})?|(?P<v4>[0-9.]+):[0-9]{1,5}")
"""How some load balancers write the address in ``X-Forwarded-For``."""


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address, perhaps with a port: ``192.0.2.7:80``, ``[2001:db8::1]:80``; ``None`` if it is none.

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


@lru_cache(maxsize=1024)  # a request is counted in several limits
def client_network(address: str) -> str:
    """Return the address, for IPv6 its network of 64 bits; ``"unknown"`` for an invalid one."""
    parsed = parse_address(address)
    if parsed is None:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Address(int(parsed) >> 64 << 64))
