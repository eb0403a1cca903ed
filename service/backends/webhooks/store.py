"""Stores endpoints, their due games and their last attempts in Redis or Valkey.

Owns the commands and the encoding of values. All keys of an endpoint are in the slot of its application, as its
reminder is, so that one script can write them. Does not depend on the content of messages.

Every method returns within three seconds or raises ``StorageUnavailable``. A method that writes can also raise
``OutcomeUnknown``; it is safe to call it again.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Final

import orjson

from service.backends.store import check_replaced, find_repeat, repeat_args
from service.backends.values import ATTEMPTS_KEPT, DeliveryAttempt, DueGame, Repeat, RequestedMessage, Webhook
from service.limits.memory import MemoryReserve
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import Command
from service.redis.shards import shard_of

ATTEMPTS_TTL: Final = 30 * 86_400
"""Seconds after the last attempt until the stored attempts expire."""


class RedisWebhooks:
    """The endpoints of the applications, the games due to each of them, and their last attempts.

    An endpoint has the reminder ``<application>.<endpoint>`` of the kind ``webhooks``. Every write that makes the
    endpoint due also sets the reminder. While the reminder is leased (``ReminderQueue.take``), only ``renew`` and
    ``release`` change it, so one process at a time delivers to an endpoint. The index makes a game due to every
    endpoint that was ever active, even if it is disabled now, and that is sent messages about the new events. If a game
    is not due, the endpoint was notified up to the version in the index.

    With ``replicated``, writes of endpoints wait until a replica has confirmed them. Writes of due games do not: if one
    is lost, a message is delivered again. New endpoints are refused while their server has no memory left but the
    ``memory_reserve``.
    """

    def __init__(self, endpoints: RedisCalls, deliveries: RedisCalls, memory_reserve: MemoryReserve) -> None:
        self._endpoints = endpoints
        self._calls = deliveries
        self._memory_reserve = memory_reserve

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """Return an idempotency record as ``find_repeat`` does."""
        return find_repeat(self._endpoints, app, name, now)

    def create(self, webhook: Webhook, max_count: int, repeat: Repeat | None = None) -> bool:
        """Store a new endpoint, due at once. Return ``False`` if the application has ``max_count`` already.

        Stores ``repeat`` in the same write, or raises what ``check_replaced`` does and changes nothing.
        """
        self._memory_reserve.require_space(keys.part(b"webhooks", webhook.app))
        created = webhook.created_at
        return self._replace(webhook, b"", _encode(webhook), at=created, max_count=max_count, repeat=repeat)

    def read(self, app: str, webhook: str) -> Webhook | None:
        """Return the endpoint of this application with this id."""
        key = keys.part(b"webhooks", app)
        (value,) = self._calls.read_all("webhook_read", key, (b"HGET", key, webhook.encode("utf-8", "surrogatepass")))
        return None if value is None else _decode(app, webhook, value)

    def all(self, app: str) -> list[Webhook]:
        """Return the endpoints of an application, the oldest first."""
        key = keys.part(b"webhooks", app)
        (flat,) = self._calls.read_all("webhook_read", key, (b"HGETALL", key))
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
        """Replace an endpoint, or delete it with its due games if ``after`` is ``None``. Return whether that was done.

        Does nothing if the stored endpoint differs from ``before``. With ``at``, the endpoint is due at that time. With
        ``resume``, its deferred games are due at once, and their failures are reset. An endpoint that becomes active
        for the first time is notified of later versions of all games of its application. ``repeat`` as in ``create``.
        """
        value = b"" if after is None else _encode(after)
        return self._replace(after or before, _encode(before), value, at=at, resume=resume, repeat=repeat)

    def due(self, webhook: Webhook, now: int, limit: int) -> list[DueGame]:
        """Return the games of which an endpoint has to be notified now, the earliest first."""
        command = _due_command(webhook.app, webhook.id, now, limit)
        return _parse_due(*self._calls.read_all("webhook_due", keys.part(b"webhooks", webhook.app), command))

    def read_with_due(self, app: str, webhook: str, now: int, limit: int) -> tuple[Webhook | None, list[DueGame]]:
        """Return an endpoint as ``read`` does, with its due games as ``due`` does, in one round trip."""
        key = keys.part(b"webhooks", app)
        read = b"HGET", key, webhook.encode("utf-8", "surrogatepass")
        value, due = self._calls.read_all("webhook_due", key, read, _due_command(app, webhook, now, limit))
        return None if value is None else _decode(app, webhook, value), _parse_due(due)

    def mark_notified(
        self, webhook: Webhook, game: DueGame, version: int, *, done: bool, attempt: DeliveryAttempt | None = None
    ) -> None:
        """Store the version up to which the endpoint was notified of the game, and the attempt.

        A lower version than the stored one is ignored. With ``done`` no message is left: the game is due again only
        after another write to it.
        """
        names = _names(webhook, "due", "attempts", "failures", "notified")
        arguments = game.game.encode(), game.at, version, int(done), *_attempt_args(attempt)
        self._calls.write("webhook_mark_notified", names, *arguments)

    def mark_failed(
        self, webhook: Webhook, game: DueGame, at: int, *, count: bool, attempt: DeliveryAttempt | None
    ) -> None:
        """Store a failed attempt, and defer the game to ``at``. Without ``count``, its failures stay as they are."""
        names = _names(webhook, "due", "attempts", "failures")
        arguments = game.game.encode(), at, int(count), *_attempt_args(attempt)
        self._calls.write("webhook_mark_failed", names, *arguments)

    def log(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        """Store an attempt. Only the last ``ATTEMPTS_KEPT`` of an endpoint remain."""
        self._calls.write("webhook_log", _names(webhook, "attempts"), *_attempt_args(attempt))

    def attempts(self, webhook: Webhook) -> list[DeliveryAttempt]:
        """Return the last attempts, the newest first."""
        (key,) = _names(webhook, "attempts")
        (values,) = self._calls.read_all("webhook_read", key, (b"LRANGE", key, 0, -1))
        return [DeliveryAttempt(*orjson.loads(value)) for value in values]

    def forget(self, webhook: Webhook, before: int) -> None:
        """Remove the games that were due before this time: they have expired."""
        self._calls.write("webhook_forget", _names(webhook, "due", "notified", "failures"), before)

    def renew(self, webhook: Webhook, leased: float, lease: int) -> float | None:
        """Extend the lease ``leased`` by ``lease`` milliseconds. Return the new lease, ``None`` if it was lost."""
        shard = shard_of(webhook.app)
        assert shard is not None, "the id of an application has a shard"
        key = keys.reminder_sets("webhooks")[shard]
        heartbeat = keys.heartbeat(shard, is_one=self._calls.topology.scripts_span_slots)
        answer = self._calls.write("renew", (key, heartbeat), _reminder(webhook), repr(leased).encode(), lease)
        return None if answer is None else float(answer)

    def release(self, webhook: Webhook, leased: float, at: int | None, *, games: bool) -> None:
        """End the lease ``leased``, and set when the endpoint is due again. Do nothing if the lease was lost.

        Without ``games``, it is due at ``at``, or not at all. With ``games``, it is due when the next game is, and not
        before ``at``. If the stored endpoint differs from ``webhook``, it is due at once.
        """
        app = webhook.app
        names = keys.part(b"webhooks", app), keys.reminders_of_application("webhooks", app), *_names(webhook, "due")
        lease = webhook.id.encode(), _encode(webhook), _reminder(webhook), repr(leased).encode()
        self._calls.write("webhook_release", names, *lease, b"" if at is None else b"%d" % at, int(games))

    def _replace(
        self,
        webhook: Webhook,
        before: bytes,
        after: bytes,
        *,
        at: int | None,
        resume: bool = False,
        max_count: int = 0,
        repeat: Repeat | None,
    ) -> bool:
        app = webhook.app
        names = (
            keys.part(b"webhooks", app),
            keys.part(b"endpoints", app),
            keys.reminders_of_application("webhooks", app),
            keys.part(b"repeats", app),
            *_names(webhook, "due", "failures", "notified", "attempts"),
        )
        endpoint = webhook.id.encode(), before, after, max_count, int(webhook.status == "active"), _reminder(webhook)
        due = b"" if at is None else b"%d" % at
        reply = self._endpoints.write("webhook_replace", names, *endpoint, due, int(resume), *repeat_args(repeat))
        return check_replaced(reply) == 1


def _due_command(app: str, webhook: str, now: int, limit: int) -> Command:
    names = keys.webhook(app, webhook, "due", "notified", "failures")
    return evalsha("webhook_due", (*names, keys.part(b"index", app)), now, limit)


def _parse_due(flat: list[bytes]) -> list[DueGame]:
    return [
        DueGame(game.decode(), int(float(at)), int(notified), int(version), int(failures))
        for game, at, notified, version, failures in zip(*(flat[place::5] for place in range(5)), strict=True)
    ]


def _names(webhook: Webhook, *names: str) -> tuple[bytes, ...]:
    return keys.webhook(webhook.app, webhook.id, *names)


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
