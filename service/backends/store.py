"""Stores applications, idempotency records and erasures in Redis or Valkey.

Owns the commands and the encoding of values. Does not depend on who may change an application. The record of an
application is in the slot of its id, the set of the ids of all applications is in another one. A failure between two
commands can leave an id in the set without a record; such an id is ignored. Pending erasures are in a sorted set for
each application. Every method returns within three seconds or raises ``StorageUnavailable``. A method that writes can
also raise ``OutcomeUnknown``; it is safe to call it again.
"""

from __future__ import annotations

from typing import Final

from msgspec import json

from service.backends.values import MAX_ERASURES, MAX_REPEATS, Backend, Erasure, Repeat, RepeatKnown
from service.games.model.errors import LimitReached
from service.games.ports import IDEMPOTENCY_TTL
from service.limits.memory import MemoryReserve
from service.redis import keys
from service.redis.calls import RedisCalls
from service.redis.connection import Command

TTL_MS: Final = IDEMPOTENCY_TTL * 1000
KNOWN: Final = -2
FULL: Final = -3


def find_repeat(calls: RedisCalls, app: str, name: str, now: int) -> Repeat | None:
    """Return the idempotency record with this name; ``now`` in milliseconds since 1970.

    The script writes it again, so that a replica confirms it if writes wait for replicas.
    """
    reply = calls.write("repeated", (keys.part(b"repeats", app),), name.encode())
    if reply is None:
        return None
    at, fingerprint, answer = reply[0].split(b" ", 2)
    return Repeat(name, fingerprint, int(at), answer) if int(at) > now - TTL_MS else None


def repeat_args(repeat: Repeat | None) -> tuple[bytes | int, ...]:
    """Return the last arguments of a script, those for an idempotency record; empty values without a record."""
    if repeat is None:
        return b"", b"", 0, 0, 0
    value = b"%d %b %b" % (repeat.at, repeat.fingerprint, repeat.answer)
    return repeat.name.encode(), value, repeat.at - TTL_MS, MAX_REPEATS, IDEMPOTENCY_TTL


def check_replaced(answer: int) -> int:
    """Return the result of a script with ``repeat_args``.

    Raises ``RepeatKnown`` if the name of the record is taken, and ``LimitReached`` if the application has
    ``MAX_REPEATS`` records. Then nothing was written.
    """
    if answer == KNOWN:
        raise RepeatKnown
    if answer == FULL:
        raise LimitReached("too_many_repeats", max=MAX_REPEATS)
    return answer


# Encoding of applications.


_FORMAT: Final = 1
_decoder: Final = json.Decoder(tuple[int, Backend])


def encode_backend(backend: Backend) -> bytes:
    """Return an application as bytes; equal applications have equal bytes."""
    return json.encode((_FORMAT, backend))


def decode_backend(data: bytes) -> Backend:
    """Return the application with these bytes."""
    _, backend = _decoder.decode(data)
    return backend


class RedisBackends:
    """The applications, which do not expire. Their idempotency records outlive a deletion.

    New applications are refused while their server has no memory left but the ``memory_reserve``.
    """

    def __init__(self, calls: RedisCalls, memory_reserve: MemoryReserve) -> None:
        self._calls = calls
        self._memory_reserve = memory_reserve

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """Return an idempotency record as ``find_repeat`` does."""
        return find_repeat(self._calls, app, name, now)

    def create(self, backend: Backend) -> bool:
        """Store a new application. Return ``False`` if another one has its id."""
        self._memory_reserve.require_space(keys.part(b"app", backend.id))
        self._calls.write("add_app", (keys.APPLICATIONS,), backend.id.encode(), command=b"SADD")
        return self._replace(backend.id, b"", encode_backend(backend), None)

    def read(self, app: str) -> Backend | None:
        """Return the application with this id."""
        key = keys.part(b"app", app)
        (data,) = self._calls.read_all("read_app", key, (b"GET", key))
        return None if data is None else decode_backend(data)

    def own_budget(self, app: str) -> int | None:
        """Return the MiB that this application may store in a day by its own limit; ``None`` if it has none."""
        backend = self.read(app)
        return None if backend is None else backend.limits.stored

    def replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace an application, or delete it if ``after`` is ``None``. Return whether that was done.

        Does nothing if the stored application differs from ``before``. Stores ``repeat`` in the same write, or raises
        what ``check_replaced`` does and changes nothing.
        """
        data = b"" if after is None else encode_backend(after)
        replaced = self._replace(before.id, encode_backend(before), data, repeat)
        if replaced and after is None:
            self._calls.write("remove_app", (keys.APPLICATIONS,), before.id.encode(), command=b"SREM")
        return replaced

    def all(self) -> list[Backend]:
        """Return all applications, the oldest first."""
        (members,) = self._calls.read_all("list_apps", keys.APPLICATIONS, (b"SMEMBERS", keys.APPLICATIONS))
        names = [keys.part(b"app", app.decode()) for app in members]
        calls: list[tuple[bytes, Command]] = [(key, (b"GET", key)) for key in names]
        answers = self._calls.run_each("list_apps", calls, complete=True)
        backends = [decode_backend(answer) for answer in answers if answer is not None]
        return sorted(backends, key=lambda backend: (backend.created_at, backend.id))

    def _replace(self, app: str, before: bytes, after: bytes, repeat: Repeat | None) -> bool:
        names = keys.part(b"app", app), keys.part(b"repeats", app)
        return check_replaced(self._calls.write("replace", names, before, after, *repeat_args(repeat))) == 1


class RedisErasures:
    """The pending erasures of applications: at most ``MAX_ERASURES`` of each at a time.

    A request also makes the reminder ``erasures`` of the application due at once (``ReminderQueue``).
    """

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def request(self, app: str, ref: str) -> bool:
        """Store an erasure; one that is pending is renewed. Return ``False`` if too many others are pending."""
        names = keys.part(b"erasures", app), keys.reminders_of_application("erasures", app)
        return bool(self._calls.write("erase", names, app.encode(), ref.encode(), MAX_ERASURES) == 1)

    def pending(self, app: str) -> list[Erasure]:
        """Return the pending erasures, the oldest request first."""
        key = keys.part(b"erasures", app)
        (flat,) = self._calls.read_all("erasures", key, (b"ZRANGE", key, 0, -1, b"WITHSCORES"))
        return [Erasure(ref.decode(), int(at)) for ref, at in zip(flat[::2], flat[1::2], strict=True)]

    def is_pending(self, app: str, ref: str) -> bool:
        """Return whether an erasure of this person is pending."""
        key = keys.part(b"erasures", app)
        (score,) = self._calls.read_all("erasures", key, (b"ZSCORE", key, ref.encode("utf-8", "surrogatepass")))
        return score is not None

    def done(self, app: str, erasure: Erasure) -> None:
        """Remove an erasure that was carried out, unless it was requested again since ``erasure`` was read."""
        self._calls.write("erased", (keys.part(b"erasures", app),), erasure.ref.encode(), erasure.at)
