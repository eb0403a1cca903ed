"""The in-memory counterpart of the applications in Redis.

The same contract tests run over both. Does not depend on Redis.
"""

from __future__ import annotations

from threading import Lock

from service.apps.ports import Application, ApplicationStore


class MemoryApplications(ApplicationStore):
    """Keeps applications as ``RedisApplications`` does, for as long as the process lives."""

    def __init__(self) -> None:
        self._applications: dict[str, Application] = {}
        self._lock = Lock()

    def create(self, application: Application) -> None:
        """Store a new application."""
        with self._lock:
            self._applications[application.id] = application

    def read(self, app: str) -> Application | None:
        """The application with this id."""
        return self._applications.get(app)

    def replace(self, before: Application, after: Application | None) -> bool:
        """Replace the application if it is still as ``before``, or delete it."""
        with self._lock:
            current = self._applications.get(before.id)
            if current == after:
                return True
            if current != before:
                return False
            if after is None:
                del self._applications[before.id]
            else:
                self._applications[before.id] = after
            return True

    def all(self) -> list[Application]:
        """Every application, the oldest first."""
        with self._lock:
            return sorted(self._applications.values(), key=lambda each: (each.created_at, each.id))
