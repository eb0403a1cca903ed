"""The in-memory counterpart of ``service.backends.store``."""

from __future__ import annotations

from service.backends.ports import MAX_REPEATS, Repeat, RepeatKnown
from service.games.model.errors import LimitReached
from service.games.ports import IDEMPOTENCY_TTL


class MemoryRepeats:
    """Keeps requests under idempotency keys. Its caller holds a lock."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Repeat]] = {}

    def find(self, app: str, name: str, now: int) -> Repeat | None:
        """What is kept under this name."""
        kept = self._kept.get(app, {}).get(name)
        return None if kept is None or _is_outdated(kept, now) else kept

    def check(self, app: str, repeat: Repeat | None) -> None:
        """Raises ``RepeatKnown``."""
        if repeat is not None and self.find(app, repeat.name, repeat.at) is not None:
            raise RepeatKnown

    def keep(self, app: str, repeat: Repeat | None) -> None:
        """Keep a request; raises ``LimitReached``."""
        if repeat is None:
            return
        kept = self._kept.setdefault(app, {})
        if repeat.name not in kept and len(kept) >= MAX_REPEATS:
            for name in [name for name, each in kept.items() if _is_outdated(each, repeat.at)]:
                del kept[name]
            if len(kept) >= MAX_REPEATS:
                raise LimitReached("too_many_repeats", max=MAX_REPEATS)
        kept[repeat.name] = repeat


def _is_outdated(repeat: Repeat, now: int) -> bool:
    return repeat.at <= now - IDEMPOTENCY_TTL * 1000
