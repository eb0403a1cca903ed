"""Registers, changes, tests and deletes the endpoints of applications.

Owns what an application may do with its endpoints. Does not depend on how messages are delivered, nor on HTTP.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, NamedTuple

from service.backends.keys import Prior, RepeatableRequest
from service.backends.values import DeliveryAttempt, RepeatKnown, RequestedMessage, Webhook
from service.backends.webhooks import endpoint_states
from service.backends.webhooks.messages import CHALLENGE, DELETED, PING, message_id
from service.backends.webhooks.store import RedisWebhooks
from service.games.model.errors import Forbidden, LimitReached, NotFound
from service.games.model.views import CommandResult
from service.games.ports import RandomBytes, TimeSource
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.outgoing.sender import new_secret
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of

MAX_WEBHOOKS: Final = 5
"""Endpoints that an application can have."""
MAX_REQUESTED: Final = 20
"""Requested messages that can wait for an endpoint."""
OVERLAP_MS: Final = 86_400_000
"""Time after a change of the secret during which the old one also signs."""
CREATE: Final = "create webhook"
CHANGE_SECRET: Final = "change secret"  # noqa: S105 # no secret
ASK_PING: Final = "ping"
SEND_AGAIN: Final = "send again"
"""The purposes of ``RepeatableRequest``s; the ids of the endpoint and the message follow them."""
_STORED_FIELDS: Final = ("id", "url", "events", "status", "created_at", "failing_since")
_MAX_ATTEMPTS: Final = 16

CheckUrl = Callable[[str, str], object]
"""Checks a URL that an application, the second argument, has given.

Raises ``RefusedUrl`` if nothing may be sent to it, and ``LookupFailed`` if that could not be found out.
"""
CheckGame = Callable[[str], object]
"""Raises ``NotFound`` or ``Gone`` if messages about a game cannot be made any more."""


class WebhookChange(NamedTuple):
    """A change of an endpoint by its application; fields that are ``None`` stay as they are.

    ``active``: whether to resume or to disable it.
    """

    url: str | None = None
    events: Sequence[str] | None = None
    active: bool | None = None


@dataclass(eq=False, repr=False)
class Webhooks:
    """The endpoints of a store. Every method raises ``StorageUnavailable``; those that write, ``OutcomeUnknown``.

    Methods with the id of an endpoint raise ``NotFound``. Methods with an idempotency key take effect only once for a
    key. They also raise ``KeyReused``, ``SecretChanged``, and ``LimitReached`` if too many idempotency records of the
    application are stored.
    """

    store: RedisWebhooks
    _: KW_ONLY
    check_url: CheckUrl
    clock: TimeSource
    random_bytes: RandomBytes
    idempotency: Idempotency

    def create(
        self, app: str, url: str, events: Sequence[str], key: IdempotencyKey | None = None
    ) -> CommandResult[Webhook]:
        """Register an endpoint, which is challenged at once.

        Raises ``RefusedUrl``, ``LookupFailed``, ``LimitReached``.
        """
        for _ in range(_MAX_ATTEMPTS):
            now = self.clock()
            request = self._repeatable(key, app, CREATE)
            prior = request.prior(now)
            if prior is not None:
                return CommandResult(_as_answered(app, prior), replayed=True)
            self.check_url(url, app)
            name = b32encode(self.random_bytes(10)).decode().lower()
            secret = new_secret(request.random_bytes)
            webhook = Webhook(name, app, url, tuple(dict.fromkeys(events)), "unverified", now, secret)
            try:
                if not self.store.create(webhook, MAX_WEBHOOKS, request.repeat(now, _stored_answer(webhook))):
                    raise LimitReached("too_many_webhooks", max=MAX_WEBHOOKS)
            except RepeatKnown:
                continue
            return CommandResult(webhook, replayed=False)
        raise StorageUnavailable("contention")

    def is_repeated(self, app: str, key: IdempotencyKey | None, *purpose: str) -> bool:
        """Return whether there was an earlier request with this key; ``purpose`` is that of a ``RepeatableRequest``."""
        return self._repeatable(key, app, *purpose).prior(self.clock()) is not None

    def all(self, app: str) -> list[Webhook]:
        """Return the endpoints of an application, the oldest first."""
        return self.store.all(app)

    def get(self, app: str, webhook: str) -> Webhook:
        """Return the endpoint of an application."""
        endpoint = None if shard_of(app) is None else self.store.read(app, webhook)
        if endpoint is None:
            raise NotFound("no_such_webhook")
        return endpoint

    def change(self, app: str, webhook: str, change: WebhookChange) -> Webhook:
        """Change an endpoint. Raises ``RefusedUrl``, ``LookupFailed``.

        Another URL has to answer a challenge first. With ``active=True``, deferred messages are sent at once, and an
        endpoint that is not verified is challenged again.
        """
        if change.url is not None:
            self.check_url(change.url, app)
        request = self._repeatable(None, app)
        after = self._change(
            app, webhook, lambda before: _changed(before, change), request=request, resumes=bool(change.active)
        )
        assert not isinstance(after, Prior)
        return after

    def delete(self, app: str, webhook: str) -> None:
        """Delete an endpoint."""
        for _ in range(_MAX_ATTEMPTS):
            if self.store.replace(self.get(app, webhook), None):
                return
        raise StorageUnavailable("contention")

    def delete_all(self, app: str) -> None:
        """Delete all endpoints of an application."""
        for webhook in self.all(app):
            with suppress(NotFound):
                self.delete(app, webhook.id)

    def change_secret(self, app: str, webhook: str, key: IdempotencyKey | None = None) -> CommandResult[Webhook]:
        """Give an endpoint a new secret. The old one also signs messages for ``OVERLAP_MS``."""
        request = self._repeatable(key, app, CHANGE_SECRET, webhook)
        secret = new_secret(request.random_bytes)

        def changed(before: Webhook) -> Webhook:
            now = self.clock()
            return before._replace(secret=secret, old_secret=before.secret, old_secret_until=now + OVERLAP_MS)

        after = self._change(app, webhook, changed, request=request, answer=_stored_answer)
        if isinstance(after, Prior):
            return CommandResult(_as_answered(app, after), replayed=True)
        return CommandResult(after, replayed=False)

    def ping(self, app: str, webhook: str, kind: str = PING, key: IdempotencyKey | None = None) -> CommandResult[str]:
        """Request a ping, or a sample of another type. Return the id of the message.

        Raises ``LimitReached`` if too many requested messages wait.
        """
        request = self._repeatable(key, app, ASK_PING, webhook)
        ping = RequestedMessage(message_id(webhook, self.random_bytes(16).hex()), kind, self.clock())
        return self._request(app, webhook, lambda _: ping, request)

    def send_again(
        self, app: str, webhook: str, message: str, check_game: CheckGame, *, key: IdempotencyKey | None = None
    ) -> CommandResult[str]:
        """Request that a message is sent again, if an attempt to deliver it is stored. Return its id.

        Raises ``NotFound`` without such an attempt, ``Forbidden`` for a challenge, ``LimitReached`` as ``ping`` does,
        and what ``check_game`` raises for its game.
        """

        def find(endpoint: Webhook) -> RequestedMessage:
            attempt = next((attempt for attempt in self.store.attempts(endpoint) if attempt.message == message), None)
            if attempt is None:
                raise NotFound("no_such_message")
            if attempt.type == CHALLENGE:
                raise Forbidden("challenge_not_repeated")
            if attempt.game is not None and attempt.type != DELETED:
                check_game(attempt.game)
            return RequestedMessage(message, attempt.type, attempt.happened_at, attempt.game, attempt.version)

        return self._request(app, webhook, find, self._repeatable(key, app, SEND_AGAIN, webhook, message))

    def _request(
        self, app: str, webhook: str, find: Callable[[Webhook], RequestedMessage], request: RepeatableRequest
    ) -> CommandResult[str]:
        """Request the message that ``find`` returns for the endpoint; if it waits already, it is still sent once."""

        def add(before: Webhook) -> Webhook:
            message = find(before)
            others = tuple([other for other in before.requested if other != message])
            if len(others) >= MAX_REQUESTED:
                raise LimitReached("too_many_asked", max=MAX_REQUESTED)
            return before._replace(requested=(*others, message))

        after = self._change(app, webhook, add, request=request, answer=lambda changed: changed.requested[-1].id)
        if isinstance(after, Prior):
            return CommandResult(after.answer, replayed=True)
        return CommandResult(after.requested[-1].id, replayed=False)

    def attempts(self, app: str, webhook: str) -> list[DeliveryAttempt]:
        """Return the last delivery attempts of an endpoint, the newest first."""
        return self.store.attempts(self.get(app, webhook))

    def _repeatable(self, key: IdempotencyKey | None, app: str, *purpose: str) -> RepeatableRequest:
        return RepeatableRequest(self.store.repeated, self.idempotency, self.random_bytes, key, *purpose, app=app)

    def _change(
        self,
        app: str,
        webhook: str,
        change: Callable[[Webhook], Webhook],
        *,
        request: RepeatableRequest,
        answer: Callable[[Webhook], Any] = lambda _: None,
        resumes: bool = False,
    ) -> Webhook | Prior:
        """Change an endpoint. Return the changed endpoint, or the earlier request with the same idempotency key.

        ``answer`` returns what to store of the answer in the idempotency record.
        """
        for _ in range(_MAX_ATTEMPTS):
            now = self.clock()
            prior = request.prior(now)
            if prior is not None:
                return prior
            before = self.get(app, webhook)
            after = change(before)
            try:
                if self.store.replace(before, after, at=now, resume=resumes, repeat=request.repeat(now, answer(after))):
                    return after
            except RepeatKnown:
                continue
        raise StorageUnavailable("contention")


def _stored_answer(webhook: Webhook) -> dict[str, Any]:
    """Return what to store of an answer with this endpoint. The secret is not stored, as it can be derived again."""
    return {name: getattr(webhook, name) for name in _STORED_FIELDS}


def _as_answered(app: str, prior: Prior) -> Webhook:
    """Return the endpoint that an earlier request was answered with."""
    return Webhook(app=app, secret=new_secret(prior.random_bytes), **prior.answer)


def _changed(before: Webhook, change: WebhookChange) -> Webhook:
    after = before
    if change.events is not None:
        after = after._replace(events=tuple(dict.fromkeys(change.events)))
    if change.url is not None and change.url != before.url:
        after = endpoint_states.resumed(after._replace(url=change.url, is_verified=False))
    if change.active is False:
        return after._replace(status="disabled")
    if change.active:
        after = endpoint_states.resumed(after)
    return after
