"""Why a request is refused at the level of HTTP.

Owns the errors of a request that is not of the form that it should have, and how the current one and its client are
found.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final

from service.engine.errors import Param, Reason
from service.outgoing.addresses import RefusedUrl


class RequestError(Exception):
    """A request that is rejected at the level of HTTP."""

    def __init__(self, word: str, **params: Param) -> None:
        self.reason = Reason(word, params)
        super().__init__(str(self.reason))


class TooManyStreams(Exception):
    """This worker has reached its limit of open streams, or is about to stop."""


class InvalidBody(Exception):
    """A body, query or header with invalid fields: the reasons by the path of the field."""

    def __init__(self, errors: Mapping[str, list[Reason]]) -> None:
        super().__init__("invalid")
        self.errors = errors


def refused_url(error: RefusedUrl) -> Reason:
    """Why a URL in a body is refused."""
    return Reason(f"url_{error.reason}")


# The address of a client, as the server or a proxy writes it.


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


# The WSGI environment of the request that is handled.


ENVIRON: Final = ContextVar[dict[str, Any]]("environ")
"""Set only while a request is handled, so that a connection that waits for the next one keeps nothing of the last."""

current_environ: Final[Callable[[], dict[str, Any]]] = ENVIRON.get
"""The environment of the current request. Raises ``LookupError`` where there is none."""
