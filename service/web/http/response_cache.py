"""Responses that are made of the history of a game, cached for its version and their viewer.

Owns the cache, which is limited by its bytes. A cached response is returned only after the access to the game was
checked on the stored game, and only for the version and the viewer that it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from threading import Lock
from typing import Any, Final

from service.bounded_cache import BoundedCache
from service.games.access import Access
from service.web.http.responses import RawResponse, conditional, to_json

_MAKERS: Final = 64
"""Bodies that can be made at the same time."""
MAX_CACHE_BYTES: Final = 16 * 1024 * 1024
"""Of all bodies in the cache of a process; a body that is larger than a quarter of it is not cached."""
Key = tuple[str, *tuple[Hashable, ...]]
"""The id of a game, and what tells one response from the others about this game."""


class ResponseCache:
    """The bodies of responses by their keys; those that were not used for the longest time are evicted first."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bodies = BoundedCache[Key, bytes](max_bytes, weigh=len)
        self._making = [Lock() for _ in range(_MAKERS)]

    def get(self, key: Key, make: Callable[[], bytes]) -> bytes:
        """Return the body of this key.

        If it is not cached, one of several callers makes it, and the others wait for it.
        """
        with self._making[hash(key) % _MAKERS]:
            body = self._bodies.use(key)
            if body is None:
                body = make()
                if len(body) <= self._max_bytes // 4:
                    self._bodies.put(key, body)
            return body

    def forget(self, games: Container[str]) -> None:
        """Drop the bodies of responses about these games."""
        self._bodies.drop(lambda key, _: key[0] in games)


def cached_body(cache: ResponseCache, access: Access, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the body of the response of this name for the viewer of the game; make it if it is not cached."""
    return cache.get((access.game.id, name, access.game.write_id, access.etag), make)


def cached_json(cache: ResponseCache, access: Access, name: str, serialize: Callable[[], Any]) -> RawResponse:
    """200 with the result of ``serialize`` as JSON, which is cached, or 304 if the client has this version."""
    return conditional(access.etag, lambda: cached_body(cache, access, name, lambda: to_json(serialize())))
