"""The endpoints of applications: registered, changed, tested and deleted.

Owns what an application may do with its endpoints. Does not depend on how messages are delivered, nor on HTTP.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from service.apps import endpoint_states
from service.apps.messages import message_id
from service.apps.ports import Attempt, Webhook, WebhookStore
from service.games.errors import LimitReached, NotFound
from service.games.ports import Clock, RandomBytes, StorageUnavailable
from service.games.shards import shard_of
from service.outgoing.signing import new_secret

MOST_WEBHOOKS: Final = 5
"""The most endpoints of an application."""
MOST_PINGS: Final = 10
"""The most pings of an endpoint that wait."""
OVERLAP_MS: Final = 86_400_000
"""For so long after a change, the old secret signs too."""
_MAX_ATTEMPTS: Final = 16

CheckUrl = Callable[[str], object]
"""Raises ``RefusedUrl`` for a URL to which nothing is sent."""


class WebhookChange(NamedTuple):
    """What an application changes of an endpoint; ``None`` for what stays. ``active``: whether it is to be told."""

    url: str | None = None
    events: Sequence[str] | None = None
    active: bool | None = None


class Webhooks:
    """The endpoints of a store. Every method raises ``StorageUnavailable``; those that write, ``OutcomeUnknown``.

    Those that take the id of an endpoint raise ``NotFound``.
    """

    def __init__(self, store: WebhookStore, *, check_url: CheckUrl, clock: Clock, random_bytes: RandomBytes) -> None:
        self._store = store
        self._check_url = check_url
        self._clock = clock
        self._random_bytes = random_bytes

    def create(self, app: str, url: str, events: Sequence[str]) -> Webhook:
        """Register an endpoint, which is challenged at once. Raises ``RefusedUrl``, ``LimitReached``."""
        self._check_url(url)
        name = b32encode(self._random_bytes(10)).decode().lower()
        secret = new_secret(self._random_bytes)
        webhook = Webhook(name, app, url, tuple(dict.fromkeys(events)), "unverified", self._clock(), secret)
        if not self._store.create(webhook, MOST_WEBHOOKS):
            raise LimitReached("too_many_webhooks", max=MOST_WEBHOOKS)
        return webhook

    def all(self, app: str) -> list[Webhook]:
        """The endpoints of an application, the oldest first."""
        return self._store.all(app)

    def get(self, app: str, webhook: str) -> Webhook:
        """The endpoint of an application."""
        found = None if shard_of(app) is None else self._store.read(app, webhook)
        if found is None:
            raise NotFound("no_such_webhook")
        return found

    def change(self, app: str, webhook: str, change: WebhookChange) -> Webhook:
        """Change an endpoint. Raises ``RefusedUrl``.

        Another URL has to answer a challenge first. An endpoint that was disabled resumes each game from where it was
        told; one that is not verified is challenged again.
        """
        if change.url is not None:
            self._check_url(change.url)
        return self._change(app, webhook, lambda before: _changed(before, change), resumes=bool(change.active))

    def delete(self, app: str, webhook: str) -> None:
        """Delete an endpoint: nothing more is sent there."""
        for _ in range(_MAX_ATTEMPTS):
            if self._store.replace(self.get(app, webhook), None):
                return
        raise StorageUnavailable("contention")

    def delete_all(self, app: str) -> None:
        """Delete all endpoints of an application."""
        for webhook in self.all(app):
            try:
                self.delete(app, webhook.id)
            except NotFound:
                continue

    def change_secret(self, app: str, webhook: str) -> Webhook:
        """Give an endpoint a new secret; for a day, the old one signs, too."""
        secret = new_secret(self._random_bytes)

        def changed(before: Webhook) -> Webhook:
            now = self._clock()
            return before._replace(secret=secret, old_secret=before.secret, old_secret_until=now + OVERLAP_MS)

        return self._change(app, webhook, changed)

    def ping(self, app: str, webhook: str) -> str:
        """Have a test message sent soon; returns its id. Raises ``LimitReached`` if too many wait."""
        ping = message_id(webhook, self._random_bytes(16).hex())

        def pinged(before: Webhook) -> Webhook:
            if len(before.pings) >= MOST_PINGS:
                raise LimitReached("too_many_pings", max=MOST_PINGS)
            return before._replace(pings=(*before.pings, ping))

        self._change(app, webhook, pinged)
        return ping

    def attempts(self, app: str, webhook: str) -> list[Attempt]:
        """The last attempts to deliver to an endpoint, the newest first."""
        return self._store.attempts(self.get(app, webhook))

    def _change(
        self, app: str, webhook: str, change: Callable[[Webhook], Webhook], *, resumes: bool = False
    ) -> Webhook:
        for _ in range(_MAX_ATTEMPTS):
            before = self.get(app, webhook)
            after = change(before)
            if self._store.replace(before, after, at=self._clock(), resume=resumes and before.status != "active"):
                return after
        raise StorageUnavailable("contention")


def _changed(before: Webhook, change: WebhookChange) -> Webhook:
    after = before
    if change.events is not None:
        after = after._replace(events=tuple(dict.fromkeys(change.events)))
    if change.url is not None and change.url != before.url:
        after = endpoint_states.resumed(after._replace(url=change.url, is_verified=False))
    if change.active is False:
        return after._replace(status="disabled")
    if change.active and after.status != "active":
        after = endpoint_states.resumed(after)
    return after
