"""The in-memory counterpart of the applications in Redis.

The same contract tests run over both. Does not depend on Redis.
"""

from __future__ import annotations

from threading import Lock

from service.backends.ports import Backend, BackendStore, Repeat
from tests.support.stores.memory_repeats import MemoryRepeats


class MemoryBackends(BackendStore):
    """Keeps applications as ``RedisBackends`` does, for as long as the process lives."""

    def __init__(self) -> None:
        self._backends: dict[str, Backend] = {}
        self._repeats = MemoryRepeats()
        self._lock = Lock()

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """What is kept of a request under this name."""
        with self._lock:
            return self._repeats.find(app, name, now)

    def create(self, backend: Backend) -> bool:
        """Store a new application; ``False`` if there is another one with this id."""
        with self._lock:
            current = self._backends.get(backend.id)
            if current is not None:
                return current == backend
            self._backends[backend.id] = backend
            return True

    def read(self, app: str) -> Backend | None:
        """The application with this id."""
        return self._backends.get(app)

    def replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace the application if it is still as ``before``, or delete it."""
        with self._lock:
            current = self._backends.get(before.id)
            if current == after:
                return True
            if current != before:
                return False
            self._repeats.check(before.id, repeat)
            self._repeats.keep(before.id, repeat)
            if after is None:
                del self._backends[before.id]
            else:
                self._backends[before.id] = after
            return True

    def all(self) -> list[Backend]:
        """Every application, the oldest first."""
        with self._lock:
            return sorted(self._backends.values(), key=lambda each: (each.created_at, each.id))
