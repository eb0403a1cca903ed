"""The addresses at which other devices of a home network reach this machine.

Owns which of its addresses these are. Sends nothing, and does not depend on the service that listens.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket

_ELSEWHERE = "192.0.2.1", 9
"""An address that is nobody's, to which nothing is sent: a route to it leads out of the machine."""


def reachable_hosts(host: str) -> list[str]:
    """Return the hosts under which other devices reach a socket that is bound to this address: none for loopback."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return []
    if address.is_loopback:
        return []
    return _own_addresses() if address.is_unspecified else [host]


def _own_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine in its networks, that of the usual route first."""
    found: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ELSEWHERE)
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [each for each in dict.fromkeys(found) if _leads_here(ipaddress.ip_address(each))]


def _leads_here(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)
