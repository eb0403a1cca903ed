"""Looks up host names that applications give, each in a thread, with a limit for each application.

Owns the number of concurrent look-ups, and the time that a caller waits for one. A look-up cannot be interrupted: its
thread counts until it ends, which can be half a minute after its caller has given up. Works in threads and, where the
standard library is patched, with gevent. Does not depend on what is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from ipaddress import ip_address
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Literal, cast

from service.limits.fair_queue import free_slots
from service.outgoing.addresses import Address

if TYPE_CHECKING:
    from gevent.threadpool import ThreadPool

Lookup = Callable[[str], Sequence[str]]
"""Returns the addresses of a host name, as text.

Raises ``socket.gaierror`` with an error of ``NO_SUCH_HOST`` if the host has none, and any other ``OSError`` if the
look-up failed.
"""

LOOKUP_SECONDS: Final = 5.0
"""Seconds that a caller waits for a look-up."""
MAX_LOOKUPS: Final = 32
"""Look-ups that a process can have in flight."""
NO_SUCH_HOST: Final = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)
)
"""The errors which report that a name does not exist or has no address."""

Addresses = tuple[Address, ...]


class LookupFailed(Exception):
    """A look-up failed; another attempt can succeed.

    The reasons:

    ``share_used``: the application has its maximum of look-ups in flight.
    ``no_room``: the process has its maximum of look-ups in flight.
    ``no_answer``: the name server did not answer within the time limit, or reported a failure.
    """

    def __init__(self, reason: Literal["share_used", "no_room", "no_answer"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Lookups:
    """The look-ups of a process: at most ``limit`` in flight, and of each application a share (``free_slots``)."""

    def __init__(self, lookup: Lookup, limit: int = MAX_LOOKUPS) -> None:
        self._lookup = lookup
        self._limit = limit
        self._lock = Lock()
        self._futures: dict[tuple[str, str], Future[Addresses]] = {}

    def find(self, app: str, host: str, seconds: float = LOOKUP_SECONDS) -> Addresses:
        """Return the addresses of a name that an application has given, possibly none, in the order of the look-up.

        Raises ``LookupFailed``.
        """
        try:
            return self._get_or_start((app, host)).result(seconds)
        except OSError:  # also TimeoutError
            raise LookupFailed("no_answer") from None

    def _get_or_start(self, key: tuple[str, str]) -> Future[Addresses]:
        """Return the look-up of a name for an application: the one in flight, or a new one."""
        with self._lock:
            future = self._futures.get(key)
            if future is not None:
                return future
            own = [app for app, _ in self._futures].count(key[0])
            if not free_slots(own, len(self._futures), self._limit):
                raise LookupFailed("share_used" if own else "no_room")
            future = self._futures[key] = Future()
        try:
            Thread(target=self._look_up, args=(key, future), daemon=True).start()
        except RuntimeError:  # the system has no thread left
            with self._lock:
                del self._futures[key]
            raise LookupFailed("no_room") from None
        return future

    def _look_up(self, key: tuple[str, str], future: Future[Addresses]) -> None:
        """Look up a name, and set the result of its future. The look-up counts as in flight until it ends."""
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
        with self._lock:
            del self._futures[key]
        if failed is None:
            future.set_result(addresses)
        else:
            future.set_exception(failed)


def system_lookup(host: str) -> Sequence[str]:
    """Return the addresses of a name from the resolver of the system.

    With gevent, the look-up runs in a thread pool of its own: the resolver of gevent has only ten threads, which the
    service needs to look up its own servers, such as Redis.
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
    """Return the native threads for look-ups with gevent, enough for all of a ``Lookups``."""
    from gevent.threadpool import ThreadPool  # noqa: PLC0415 # as above

    return ThreadPool(MAX_LOOKUPS)
