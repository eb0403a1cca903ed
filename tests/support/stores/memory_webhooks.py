"""The in-memory counterpart of ``service.backends.webhooks.store``."""

from __future__ import annotations

from collections import deque

from service.backends.ports import DeliveryAttempt, DueGame, Repeat, Webhook, WebhookStore
from tests.support.stores.memory_index import MemoryIndex
from tests.support.stores.memory_repeats import MemoryRepeats
from tests.support.stores.memory_store import MemoryStore


class MemoryWebhooks(WebhookStore):
    """Keeps endpoints as ``RedisWebhooks`` does; games are made due by this index, reminders are those of the store."""

    def __init__(self, store: MemoryStore, index: MemoryIndex) -> None:
        self._store = store
        self._index = index
        self._lock = index.lock
        self._webhooks: dict[tuple[str, str], Webhook] = {}
        self._failures: dict[tuple[str, str], dict[str, int]] = {}
        self._attempts: dict[tuple[str, str], deque[DeliveryAttempt]] = {}
        self._repeats = MemoryRepeats()
        index.on_due = self._remind

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """What is kept of a request under this name."""
        with self._lock:
            return self._repeats.find(app, name, now)

    def create(self, webhook: Webhook, max_count: int, repeat: Repeat | None = None) -> bool:
        """Store a new endpoint, due at once; ``False`` if there are too many."""
        with self._lock:
            key = webhook.app, webhook.id
            if self._webhooks.get(key) == webhook:
                return True
            self._repeats.check(webhook.app, repeat)
            if sum(app == webhook.app for app, _ in self._webhooks) >= max_count:
                return False
            self._repeats.keep(webhook.app, repeat)
            self._webhooks[key] = webhook
            self._remind(*key, webhook.created_at)
            return True

    def read(self, app: str, webhook: str) -> Webhook | None:
        """The endpoint, or ``None``."""
        with self._lock:
            return self._webhooks.get((app, webhook))

    def all(self, app: str) -> list[Webhook]:
        """The endpoints, the oldest first."""
        with self._lock:
            found = [each for each in self._webhooks.values() if each.app == app]
        return sorted(found, key=lambda each: (each.created_at, each.id))

    def replace(
        self,
        before: Webhook,
        after: Webhook | None,
        *,
        at: int | None = None,
        resume: bool = False,
        repeat: Repeat | None = None,
    ) -> bool:
        """Replace or delete an endpoint that is still as ``before``."""
        with self._lock:
            key = before.app, before.id
            current = self._webhooks.get(key)
            if current != before:
                return current == after
            if after is None:
                del self._webhooks[key]
                for kept in (self._index.due, self._index.notified, self._failures, self._attempts):
                    kept.pop(key, None)
                self._index.endpoints.get(key[0], set()).discard(key[1])
                self._store.remind("webhooks", _reminder(*key), None)
                return True
            self._repeats.check(before.app, repeat)
            self._repeats.keep(before.app, repeat)
            self._webhooks[key] = after
            if after.status == "active":
                self._index.endpoints.setdefault(key[0], set()).add(key[1])
            if resume:
                now, due = self._store.server_time(), self._due(before)
                self._failures.pop(key, None)
                due.update({game: now for game, at in due.items() if at > now})
            if at is not None:
                self._remind(*key, at)
            return True

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        """The games that are due, the earliest first."""
        with self._lock:
            due = sorted((at, game) for game, at in self._due(webhook).items() if at <= now)[:limit]
            notified, failures = self._notified(webhook), self._failures.get((webhook.app, webhook.id), {})
            return [
                DueGame(
                    game,
                    at,
                    notified.get(game, 0),
                    self._index.position(webhook.app, game).version,
                    failures.get(game, 0),
                )
                for at, game in due
            ]

    def mark_notified(
        self, webhook: Webhook, game: DueGame, version: int, *, done: bool, attempt: DeliveryAttempt | None = None
    ) -> None:
        """Note up to which version the endpoint knows the game."""
        with self._lock:
            name, due, notified = game.game, self._due(webhook), self._notified(webhook)
            if name not in due:
                return
            if attempt is not None:
                self.log(webhook, attempt)
            self._failures.get((webhook.app, webhook.id), {}).pop(name, None)
            if done and due[name] == game.at:
                del due[name]
                notified.pop(name, None)
            else:
                notified[name] = max(version, notified.get(name, 0))

    def mark_failed(
        self, webhook: Webhook, game: DueGame, at: int, *, count: bool, attempt: DeliveryAttempt | None
    ) -> None:
        """Put the game off."""
        with self._lock:
            name, due = game.game, self._due(webhook)
            if name in due:
                if attempt is not None:
                    self.log(webhook, attempt)
                due[name] = at
                failures = self._failures.setdefault((webhook.app, webhook.id), {})
                failures[name] = failures.get(name, 0) + count

    def log(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        """Keep an attempt."""
        with self._lock:
            self._attempts.setdefault((webhook.app, webhook.id), deque(maxlen=100)).appendleft(attempt)

    def attempts(self, webhook: Webhook) -> list[DeliveryAttempt]:
        """The last attempts, the newest first."""
        with self._lock:
            return list(self._attempts.get((webhook.app, webhook.id), ()))

    def forget(self, webhook: Webhook, before: int) -> None:
        """Forget the games that were due before."""
        with self._lock:
            due = self._due(webhook)
            for game in [game for game, at in due.items() if at < before]:
                for each in (due, self._notified(webhook), self._failures.get((webhook.app, webhook.id), {})):
                    each.pop(game, None)

    def renew(self, webhook: Webhook, leased: float, lease: int) -> float | None:
        """Lease the reminder for longer."""
        with self._lock:
            member = _reminder(webhook.app, webhook.id)
            if self._store.reminder("webhooks", member) != leased:
                return None
            again = self._store.server_time() + lease + 0.5  # no write makes an endpoint due at half a millisecond
            self._store.remind("webhooks", member, again)
            return again

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        """End the lease."""
        with self._lock:
            key = webhook.app, webhook.id
            member = _reminder(*key)
            if self._store.reminder("webhooks", member) != leased:
                return
            current = self._webhooks.get(key)
            if current is None:
                at = None
            elif current != webhook:
                at = self._store.server_time()
            elif games:
                first = min(self._due(webhook).values(), default=None)
                at = None if first is None else max(first, at or 0)
            self._store.remind("webhooks", member, at)

    def _due(self, webhook: Webhook) -> dict[str, int]:
        return self._index.due.setdefault((webhook.app, webhook.id), {})

    def _notified(self, webhook: Webhook) -> dict[str, int]:
        return self._index.notified.setdefault((webhook.app, webhook.id), {})

    def _remind(self, app: str, webhook: str, at: int) -> None:
        """Make an endpoint due, unless it is leased or due earlier."""
        due = self._store.reminder("webhooks", _reminder(app, webhook))
        if due is None or (due == int(due) and due > at):
            self._store.remind("webhooks", _reminder(app, webhook), at)


def _reminder(app: str, webhook: str) -> str:
    return f"{app}.{webhook}"
