"""Looks up the host names that applications give: each in a thread, a share of them for each application.

Owns how many look-ups are under way, and for how long one is waited for. A look-up cannot be interrupted: its thread
counts until it ends, which may be half a minute after its caller has given up. Works in threads and, where the standard
library is patched, with gevent. Does not depend on what is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from ipaddress import ip_address
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Literal, cast

from service.limits.in_flight import InFlight
from service.outgoing.addresses import Address

if TYPE_CHECKING:
    from gevent.threadpool import ThreadPool

Lookup = Callable[[str], Sequence[str]]
"""The addresses of a host name, as texts.

Raises ``socket.gaierror``, of which ``NO_SUCH_HOST`` say that there are none, or another ``OSError`` if that is not
known.
"""

LOOKUP_SECONDS: Final = 5.0
MAX_LOOKUPS: Final = 32
"""The most look-ups that are under way in a process."""
NO_SUCH_HOST: Final = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)
)
"""The errors by which a name server says that a name does not exist, or has no address."""

Addresses = tuple[Address, ...]


class LookupFailed(Exception):
    """It is not known which addresses a name has; another try may succeed.

    ``share_used``: as many look-ups of the application are under way as may be; ``no_room``: as many of all;
    ``no_answer``: the name server did not answer in time, or said that it does not know.
    """

    def __init__(self, reason: Literal["share_used", "no_room", "no_answer"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Lookups:
    """The look-ups of a process, by ``lookup``; at most ``most`` at a time, of which an application has a share."""

    def __init__(self, lookup: Lookup, most: int = MAX_LOOKUPS) -> None:
        self._lookup = lookup
        self._in_flight = InFlight(most)
        self._lock = Lock()
        self._under_way: dict[tuple[str, str], Future[Addresses]] = {}

    def find(self, app: str, host: str, seconds: float = LOOKUP_SECONDS) -> Addresses:
        """Return the addresses of a name that this application has given, in the order of the look-up.

        It may have none.

        Raises ``LookupFailed``.
        """
        try:
            return self._begun((app, host)).result(seconds)
        except OSError:  # also TimeoutError
            raise LookupFailed("no_answer") from None

    def _begun(self, key: tuple[str, str]) -> Future[Addresses]:
        """Return the look-up of this name for this application that is under way, or a new one."""
        with self._lock:
            future = self._under_way.get(key)
            if future is not None:
                return future
            if not self._in_flight.enter(key[0]):
                raise LookupFailed("share_used" if any(app == key[0] for app, _ in self._under_way) else "no_room")
            future = self._under_way[key] = Future()
        try:
            Thread(target=self._ask, args=(key, future), daemon=True).start()
        except RuntimeError:  # the system has no thread left
            self._end(key)
            raise LookupFailed("no_room") from None
        return future

    def _ask(self, key: tuple[str, str], future: Future[Addresses]) -> None:
        """Look up a name; however long that takes, it counts until it has ended."""
        addresses: Addresses = ()
        failed: Exception | None = None
        try:
            addresses = tuple(dict.fromkeys(map(ip_address, self._lookup(key[1]))))
        except socket.gaierror as error:
            failed = None if error.errno in NO_SUCH_HOST else error
        except ValueError:
            pass  # a name that cannot be encoded
        except Exception as error:
            failed = error
        self._end(key)
        if failed is None:
            future.set_result(addresses)
        else:
            future.set_exception(failed)

    def _end(self, key: tuple[str, str]) -> None:
        with self._lock:
            del self._under_way[key]
            self._in_flight.leave(key[0])


def system_lookup(host: str) -> Sequence[str]:
    """Return the addresses of a name, by the resolver of the system.

    With gevent, in threads for nothing else: its own resolver has ten threads, by which the connections of the service
    itself look up their servers, such as Redis.
    """
    from gevent.monkey import get_original, is_module_patched  # noqa: PLC0415 # not in processes that look nothing up

    arguments = (host, None, 0, socket.SOCK_STREAM)
    if is_module_patched("socket"):
        entries = _threads().apply(get_original("socket", "getaddrinfo"), arguments)
    else:
        entries = socket.getaddrinfo(*arguments)
    return [cast(str, address[4][0]) for address in entries]


@lru_cache(maxsize=1)
def _threads() -> ThreadPool:
    """Return the native threads of a process with gevent: enough for all look-ups of a ``Lookups``."""
    from gevent.threadpool import ThreadPool  # noqa: PLC0415 # as above

    return ThreadPool(MAX_LOOKUPS)
