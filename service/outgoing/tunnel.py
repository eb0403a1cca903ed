"""A tunnel through the operator's proxy, which then decides where requests may go.

Owns the request for it.
"""

from __future__ import annotations

import socket
from http.client import HTTPResponse
from typing import Final, cast

from service.outgoing.connection import Connection

_REFUSED: Final = (403, 407)  # what smokescreen and other filtering proxies answer


class TunnelRefused(Exception):
    """The proxy does not allow requests to this host."""


def open_tunnel(connection: Connection, authority: str) -> None:
    """Have the proxy connect to ``authority`` (``host:port``).

    Raises:
        TunnelRefused: the proxy does not allow it.
        ConnectionError: the proxy could not connect.
    """
    connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("ascii"))
    response = HTTPResponse(cast(socket.socket, connection), method="CONNECT")
    response.begin()
    if response.status in _REFUSED:
        raise TunnelRefused
    if response.status != 200:
        raise ConnectionError(f"the proxy answers {response.status}")
