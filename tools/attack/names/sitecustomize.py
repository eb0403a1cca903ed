"""In place of a name server, for processes that have this folder on their ``PYTHONPATH``.

    127-0-4-1.ip.example   has the address 127.0.4.1
    any.hangs.example      no answer comes: after HANGS_SECONDS the look-up fails, as after two tries at two servers

Every other name is looked up as usual. It replaces the function below ``socket.getaddrinfo``, so it does not depend on
who asks, or in which thread.
"""

from __future__ import annotations

import _socket
from time import sleep  # before gevent replaces it: a look-up blocks its thread
from typing import Any

HANGS_SECONDS = 20.0

_lookup = _socket.getaddrinfo


def _getaddrinfo(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    first, _, zone = name.rstrip(".").partition(".")
    if name.endswith(".hangs.example"):
        sleep(HANGS_SECONDS)
        raise _socket.gaierror(_socket.EAI_AGAIN, "Temporary failure in name resolution")
    if zone == "ip.example":
        return _lookup(first.replace("-", "."), port, *arguments, **options)
    return _lookup(host, port, *arguments, **options)


_socket.getaddrinfo = _getaddrinfo
