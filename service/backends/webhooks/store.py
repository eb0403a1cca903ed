"""Stores endpoints, their due games and their last attempts in Redis or Valkey.

Owns the commands and the encoding of values. All keys of an endpoint are in the slot of its application, as its
reminder is, so that one script can write them. Does not depend on the content of messages.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Final, NamedTuple

import orjson

from service.backends.ports import (
    ATTEMPTS_KEPT,
    DeliveryAttempt,
    DueGame,
    Repeat,
    RequestedMessage,
    Webhook,
    WebhookStore,
)
from service.backends.store import check_replaced, find_repeat, repeat_args
from service.limits.memory import MemoryReserve
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import Command
from service.redis.shards import shard_of

ATTEMPTS_TTL: Final = 30 * 86_400
"""Seconds after the last attempt until the stored attempts expire."""

_LOG_KEYS: Final = ("due", "failures", "notified", "attempts")


class _Due(NamedTuple):
    """A change of when an endpoint is due.

    ``at``: in milliseconds since 1970; ``None`` to leave it unchanged.
    ``resume``: whether all its games become due at once.
    """

    at: int | None
    resume: bool = False


class RedisWebhooks(WebhookStore):
    """Implements ``WebhookStore`` in Redis.

    With ``replicated``, writes of endpoints wait until a replica has confirmed them. Writes of due games do not: if one
    is lost, a message is delivered again. New endpoints are refused while their server has no memory left but the
    ``memory_reserve``.
    """

    def __init__(self, endpoints: RedisCalls, deliveries: RedisCalls, memory_reserve: MemoryReserve) -> None:
        self._endpoints = endpoints
        self._calls = deliveries
        self._memory_reserve = memory_reserve

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        return find_repeat(self._endpoints.write, app, name, now)

    def create(self, webhook: Webhook, max_count: int, repeat: Repeat | None = None) -> bool:
        self._memory_reserve.require_space(keys.webhooks(webhook.app))
        due = _Due(webhook.created_at)
        return self._replace(webhook, b"", _encode(webhook), due, max_count=max_count, repeat=repeat) == 1

    def read(self, app: str, webhook: str) -> Webhook | None:
        key = keys.webhooks(app)
        value = self._calls.read("webhook_read", key, (b"HGET", key, webhook.encode("utf-8", "surrogatepass")))
        return None if value is None else _decode(app, webhook, value)

    def all(self, app: str) -> list[Webhook]:
        key = keys.webhooks(app)
        flat = self._calls.read("webhook_read", key, (b"HGETALL", key))
        pairs = zip(flat[::2], flat[1::2], strict=True)
        webhooks = [_decode(app, name.decode(), value) for name, value in pairs]
        return sorted(webhooks, key=lambda webhook: (webhook.created_at, webhook.id))

    def replace(
        self,
        before: Webhook,
        after: Webhook | None,
        *,
        at: int | None = None,
        resume: bool = False,
        repeat: Repeat | None = None,
    ) -> bool:
        value = b"" if after is None else _encode(after)
        return self._replace(after or before, _encode(before), value, _Due(at, resume), repeat=repeat) == 1

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        command = _due_command(webhook.app, webhook.id, now, limit)
        return _parse_due(self._calls.read("webhook_due", keys.webhooks(webhook.app), command))

    def read_with_due(self, app: str, webhook: str, now: int, limit: int) -> tuple[Webhook | None, list[DueGame]]:
        """Read both in one round trip."""
        key = keys.webhooks(app)
        read = b"HGET", key, webhook.encode("utf-8", "surrogatepass")
        value, due = self._calls.read_all("webhook_due", key, read, _due_command(app, webhook, now, limit))
        return None if value is None else _decode(app, webhook, value), _parse_due(due)

    def mark_notified(
        self, webhook: Webhook, game: DueGame, version: int, *, done: bool, attempt: DeliveryAttempt | None = None
    ) -> None:
        names = _names(webhook, "due", "attempts", "failures", "notified")
        command = evalsha(
            "webhook_mark_notified", names, game.game.encode(), game.at, version, int(done), *_attempt_args(attempt)
        )
        self._calls.write("webhook_mark_notified", names[0], command)

    def mark_failed(
        self, webhook: Webhook, game: DueGame, at: int, *, count: bool, attempt: DeliveryAttempt | None
    ) -> None:
        names = _names(webhook, "due", "attempts", "failures")
        command = evalsha("webhook_mark_failed", names, game.game.encode(), at, int(count), *_attempt_args(attempt))
        self._calls.write("webhook_mark_failed", names[0], command)

    def log(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        names = _names(webhook, "attempts")
        self._calls.write("webhook_log", names[0], evalsha("webhook_log", names, *_attempt_args(attempt)))

    def attempts(self, webhook: Webhook) -> list[DeliveryAttempt]:
        (key,) = _names(webhook, "attempts")
        values = self._calls.read("webhook_read", key, (b"LRANGE", key, 0, -1))
        return [DeliveryAttempt(*orjson.loads(value)) for value in values]

    def forget(self, webhook: Webhook, before: int) -> None:
        names = _names(webhook, "due", "notified", "failures")
        self._calls.write("webhook_forget", names[0], evalsha("webhook_forget", names, before))

    def renew(self, webhook: Webhook, leased: float, lease: int) -> float | None:
        key = _reminders(webhook)
        heartbeat = keys.heartbeat(_shard(webhook), is_one=self._calls.topology.scripts_span_slots)
        command = evalsha("renew", (key, heartbeat), _reminder(webhook), repr(leased).encode(), lease)
        answer = self._calls.write("renew", key, command)
        return None if answer is None else float(answer)

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        names = (keys.webhooks(webhook.app), _reminders(webhook), *_names(webhook, "due"))
        due = b"" if at is None else b"%d" % at
        command = evalsha(
            "webhook_release",
            names,
            webhook.id.encode(),
            _encode(webhook),
            _reminder(webhook),
            repr(leased).encode(),
            due,
            int(games),
        )
        self._calls.write("webhook_release", names[0], command)

    def _replace(
        self,
        webhook: Webhook,
        before: bytes,
        after: bytes,
        due: _Due,
        *,
        max_count: int = 0,
        repeat: Repeat | None = None,
    ) -> int:
        app = webhook.app
        names = (
            keys.webhooks(app),
            keys.endpoints(app),
            _reminders(webhook),
            keys.repeats(app),
            *_names(webhook, *_LOG_KEYS),
        )
        command = evalsha(
            "webhook_replace",
            names,
            webhook.id.encode(),
            before,
            after,
            max_count,
            int(webhook.status == "active"),
            _reminder(webhook),
            b"" if due.at is None else b"%d" % due.at,
            int(due.resume),
            *repeat_args(repeat),
        )
        return check_replaced(self._endpoints.write("webhook_replace", names[0], command))


def _due_command(app: str, webhook: str, now: int, limit: int) -> Command:
    names = [keys.webhook(app, webhook, name) for name in ("due", "notified", "failures")]
    return evalsha("webhook_due", (*names, keys.index(app)), now, limit)


def _parse_due(flat: list[bytes]) -> list[DueGame]:
    return [
        DueGame(game.decode(), int(float(at)), int(notified), int(version), int(failures))
        for game, at, notified, version, failures in zip(*(flat[place::5] for place in range(5)), strict=True)
    ]


def _names(webhook: Webhook, *names: str) -> tuple[bytes, ...]:
    return tuple([keys.webhook(webhook.app, webhook.id, name) for name in names])


def _reminders(webhook: Webhook) -> bytes:
    """Return the key of the set with the reminder of the endpoint."""
    return keys.reminder_sets("webhooks")[_shard(webhook)]


def _shard(webhook: Webhook) -> int:
    shard = shard_of(webhook.app)
    assert shard is not None, "the id of an application has a shard"
    return shard


def _reminder(webhook: Webhook) -> bytes:
    return f"{webhook.app}.{webhook.id}".encode()


def _attempt_args(attempt: DeliveryAttempt | None) -> tuple[bytes | int, ...]:
    """Return the arguments for an attempt, the last ones of a script that stores it."""
    return b"" if attempt is None else orjson.dumps(list(attempt)), ATTEMPTS_KEPT, ATTEMPTS_TTL


def _encode(webhook: Webhook) -> bytes:
    """Return the endpoint as JSON; equal endpoints have equal bytes."""
    fields = webhook._asdict()
    del fields["id"], fields["app"], fields["requested"]
    fields["asked"] = [list(message) for message in webhook.requested]
    for name in ("secret", "old_secret"):
        fields[name] = None if fields[name] is None else b64encode(fields[name]).decode()
    return orjson.dumps(fields)


def _decode(app: str, webhook_id: str, value: bytes) -> Webhook:
    fields = orjson.loads(value)
    for name in ("secret", "old_secret"):
        fields[name] = None if fields[name] is None else b64decode(fields[name])
    fields["events"] = tuple(fields["events"])
    requested = tuple([RequestedMessage(*message) for message in fields.pop("asked")])
    return Webhook(id=webhook_id, app=app, requested=requested, **fields)
