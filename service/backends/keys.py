"""Applications and their keys: creation, authentication, rotation and revocation.

Owns the form of a key, authentication by key, and the replay of requests that applications repeat. A key is
``app_<id of the application>_<secret>``: the secret has about 256 bits, and only the SHA-256 of the whole key is
stored. Does not depend on where applications are stored, nor on how a client sends a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hmac import compare_digest
from time import monotonic
from typing import Any, Final, NamedTuple

import orjson

from service.backends.store import RedisBackends
from service.backends.values import Backend, KeyRecord, Repeat, RepeatKnown
from service.bounded_cache import BoundedCache
from service.games.model.errors import LimitReached, NotFound, Unauthorized
from service.games.model.tokens import base64_text, hash_secret, new_game_id
from service.games.model.views import CommandResult
from service.games.ports import RandomBytes, TimeSource
from service.games.store.idempotency import Idempotency, IdempotencyKey, check_same_request, record_name
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of

# Requests of applications with an idempotency key, which are recognised when they are repeated.


_SALT_BYTES = 16


class Prior(NamedTuple):
    """An earlier request with the same idempotency key.

    ``at``: when it was made, in milliseconds since 1970.
    ``answer``: the part of its answer that was stored, a JSON value.
    ``random_bytes``: returns the same bytes as during that request.
    """

    at: int
    answer: Any
    random_bytes: RandomBytes


class RepeatableRequest:
    """A request of an application, which takes effect only once if it has an idempotency key.

    ``purpose`` is the name of the operation and the ids of its resources. A key is recognised only for the same purpose
    and application. With a key, ``random_bytes`` derives the secrets of the answer from it, so that a repeated request
    gets the same ones. A salt makes them differ when a client uses the key again after its record has expired. ``find``
    is the ``repeated`` of a store: it returns the record of an application with this name at this time.
    """

    def __init__(
        self,
        find: Callable[[str, str, int], Repeat | None],
        idempotency: Idempotency,
        random_bytes: RandomBytes,
        key: IdempotencyKey | None,
        *purpose: str,
        app: str,
    ) -> None:
        self._find = find
        self._idempotency = idempotency
        self._app = app
        self._purpose = purpose if key is None else (*purpose, app, key.key)
        self._salt = "" if key is None else random_bytes(_SALT_BYTES).hex()
        self._record = None if key is None else idempotency.record(key, *purpose, derives_tokens=True)
        self.random_bytes = random_bytes if key is None else idempotency.derive_bytes(*self._purpose, self._salt)

    def prior(self, now: int) -> Prior | None:
        """Return the earlier request with this key, or ``None``.

        Raises ``KeyReused`` if that request was a different one, and ``SecretChanged``.
        """
        if self._record is None:
            return None
        repeat = self._find(self._app, self._record.name, now)
        if repeat is None:
            return None
        check_same_request(repeat.fingerprint, self._record)
        salt, answer = orjson.loads(repeat.answer)
        return Prior(repeat.at, answer, self._idempotency.derive_bytes(*self._purpose, salt, prior=repeat.fingerprint))

    def repeat(self, now: int, answer: Any) -> Repeat | None:
        """Return the record to store of this request; ``answer`` is a JSON value without secrets."""
        if self._record is None:
            return None
        return Repeat(self._record.name, self._record.fingerprint, now, orjson.dumps([self._salt, answer]))


KEY_PREFIX: Final = "app_"
"""The prefix of every key. No token of a seat has it."""
MAX_KEYS: Final = 10
"""Keys that an application can have at a time."""
DEFAULT_OVERLAP_SECONDS: Final = 86_400
"""Seconds for which an old key stays valid after a rotation, unless the request has another number."""
REVOKED_SECONDS: Final = 5.0
"""Seconds after which every process refuses a revoked key, and has closed the streams that were opened with it."""
CACHE_SECONDS: Final = 2.0
"""Seconds for which a process caches an application. The rest of ``REVOKED_SECONDS`` is for streams to check keys."""

_KEY: Final = re.compile(r"app_([A-Za-z0-9_-]{24})_([A-Za-z0-9_-]{43})", re.ASCII)
_SUFFIX_CHARS: Final = 6
_CACHE_SIZE: Final = 10_000
_MAX_ATTEMPTS: Final = 16
_ROTATE: Final = "create key"
"""The purpose of requests that rotate a key."""


class NewKey(NamedTuple):
    """A new key and its application. The key is not stored, so it cannot be shown later."""

    backend: Backend
    record: KeyRecord
    key: str


class Backends:
    """The applications of a store. Every method raises ``StorageUnavailable``; those that write, ``OutcomeUnknown``.

    Methods with an idempotency key derive the key of the application from it. They also raise ``KeyReused``,
    ``SecretChanged``, and ``LimitReached`` if too many idempotency records of the application are stored. The only
    state is a cache of applications, each for at most ``CACHE_SECONDS``.
    """

    def __init__(
        self, store: RedisBackends, *, clock: TimeSource, random_bytes: RandomBytes, idempotency: Idempotency
    ) -> None:
        self._store = store
        self._idempotency = idempotency
        self._clock = clock
        self._random_bytes = random_bytes
        self._cache = BoundedCache[str, tuple[Backend, float]](_CACHE_SIZE)

    def create(self, name: str) -> NewKey:
        """Create an application with its first key."""
        for _ in range(_MAX_ATTEMPTS):
            app, now = self._new_id(), self._clock()
            record, text = self._new_key(app, now, self._random_bytes)
            backend = Backend(app, name, now, (record,))
            if self._store.create(backend):
                return NewKey(backend, record, text)
        raise StorageUnavailable("contention")

    def is_rotation_repeated(self, app: str, key: IdempotencyKey | None) -> bool:
        """Return whether an earlier request with this idempotency key has rotated the key. Raises ``KeyReused``."""
        return self._repeatable(key, app).prior(self._clock()) is not None

    def all(self) -> list[Backend]:
        """Return all applications, the oldest first."""
        return self._store.all()

    def authenticate(self, key: str) -> Backend:
        """Return the application of a valid key.

        Raises ``Unauthorized`` with the reason ``app_suspended`` or, in all other cases, ``unknown_key``.
        """
        form = _KEY.fullmatch(key)
        if form is not None:
            for find in (self._cached, self._read):  # a key that the cached application lacks may be new
                backend = find(form[1])
                if backend is not None and self._accepts(backend, key):
                    if backend.suspended:
                        raise Unauthorized("app_suspended")
                    return backend
        raise unknown_key()

    def authenticate_repeat(self, key: str, idempotency_key: str) -> Backend:
        """Return the application of a key that was rotated by a request with this idempotency key.

        The key need not be valid any more: a client whose response was lost can repeat a rotation that has ended the
        key. Raises ``Unauthorized``.
        """
        form = _KEY.fullmatch(key)
        backend = None if form is None else self._read(form[1])
        if backend is not None:
            repeat = self._store.repeated(backend.id, record_name(idempotency_key, _ROTATE), self._clock())
            if repeat is not None:
                _, answer = orjson.loads(repeat.answer)
                if _is_requested_with(key, answer):
                    return backend
        raise unknown_key()

    def rotate(
        self,
        app: str,
        overlap: int = DEFAULT_OVERLAP_SECONDS,
        *,
        presented: str | None = None,
        key: IdempotencyKey | None = None,
    ) -> CommandResult[NewKey]:
        """Add a key to an application; its other keys expire in ``overlap`` seconds at the latest.

        Raises ``NotFound``, ``LimitReached``, and ``Unauthorized`` if the ``presented`` key of the request is not valid
        any more, unless the request repeats an earlier one. (Other requests with it may be accepted from a cache.)
        """
        for _ in range(_MAX_ATTEMPTS):
            now = self._clock()
            request = self._repeatable(key, app)
            # Read before the idempotency record: the same request, sent twice, may end its key right after.
            before = self._existing(app)
            prior = request.prior(now)
            if presented is not None and not (prior and _is_requested_with(presented, prior.answer)):
                self._check_accepted(before, presented)
            if prior is not None:
                return CommandResult(NewKey(before, *self._new_key(app, prior.at, prior.random_bytes)), replayed=True)
            end = now + overlap * 1000
            ending = [existing._replace(expires_at=min(existing.expires_at or end, end)) for existing in before.keys]
            remaining = [existing for existing in ending if not _has_expired(existing, now)]
            if len(remaining) >= MAX_KEYS:
                raise LimitReached("too_many_keys", max=MAX_KEYS)
            record, text = self._new_key(app, now, request.random_bytes)
            if any([existing.suffix == record.suffix for existing in remaining]):
                continue
            after = before._replace(keys=(*remaining, record))
            requested_with = None if presented is None else hash_secret(presented).hex()
            try:
                if self._replace(before, after, request.repeat(now, requested_with)):
                    return CommandResult(NewKey(after, record, text), replayed=False)
            except RepeatKnown:
                continue
        raise StorageUnavailable("contention")

    def revoke(self, app: str, suffix: str | None = None, *, presented: str | None = None) -> Backend:
        """Revoke the key with this suffix, or all keys of the application.

        Raises ``NotFound``, and ``Unauthorized`` as ``rotate`` does.
        """

        def without(before: Backend) -> Backend:
            if presented is not None:
                self._check_accepted(before, presented)
            remaining = tuple([key for key in before.keys if suffix is not None and key.suffix != suffix])
            if suffix is not None and len(remaining) == len(before.keys):
                raise NotFound("no_such_key")
            return before._replace(keys=remaining)

        return self.change(app, without)

    def change(self, app: str, change: Callable[[Backend], Backend]) -> Backend:
        """Store an application as ``change`` returns it. Raises ``NotFound``, and what ``change`` raises."""
        for _ in range(_MAX_ATTEMPTS):
            before = self._existing(app)
            after = change(before)
            if self._replace(before, after):  # also an equal value, so that replicas confirm it
                return after
        raise StorageUnavailable("contention")

    def delete(self, app: str) -> None:
        """Delete an application. Its games go on without an owner. Raises ``NotFound``."""
        for _ in range(_MAX_ATTEMPTS):
            if self._replace(self._existing(app), None):
                return
        raise StorageUnavailable("contention")

    def valid_keys(self, backend: Backend) -> tuple[KeyRecord, ...]:
        """Return the keys of an application that are valid now, the oldest first."""
        now = self._clock()
        return tuple([key for key in backend.keys if not _has_expired(key, now)])

    def _new_id(self) -> str:
        while True:
            app = new_game_id(self._random_bytes)
            if app[0].isalnum():  # a command line would read an id with a hyphen first as an option
                return app

    def _repeatable(self, key: IdempotencyKey | None, app: str) -> RepeatableRequest:
        return RepeatableRequest(self._store.repeated, self._idempotency, self._random_bytes, key, _ROTATE, app=app)

    def _new_key(self, app: str, now: int, random_bytes: RandomBytes) -> tuple[KeyRecord, str]:
        while True:
            secret = base64_text(random_bytes(32))
            if secret[-_SUFFIX_CHARS].isalnum():  # as above: the suffix is an argument of a command, too
                key = f"{KEY_PREFIX}{app}_{secret}"
                return KeyRecord(secret[-_SUFFIX_CHARS:], hash_secret(key), now), key

    def _existing(self, app: str) -> Backend:
        backend = None if shard_of(app) is None else self._store.read(app)
        if backend is None:
            raise NotFound("no_such_application")
        return backend

    def _check_accepted(self, backend: Backend, key: str) -> None:
        if not self._accepts(backend, key):
            raise unknown_key()

    def _replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace the application in the store, and drop it from the cache of this process."""
        try:
            return self._store.replace(before, after, repeat)
        finally:
            self._cache.pop(before.id)

    def _cached(self, app: str) -> Backend | None:
        backend, until = self._cache.get(app) or (None, 0.0)
        return backend if monotonic() < until else None

    def _read(self, app: str) -> Backend | None:
        until = monotonic() + CACHE_SECONDS
        backend = self._store.read(app)
        if backend is None:
            self._cache.pop(app)
        else:
            self._cache.put(app, (backend, until))
        return backend

    def _accepts(self, backend: Backend, key: str) -> bool:
        """Return whether a key is valid: compare it with all valid keys, each in constant time."""
        presented, accepted = hash_secret(key), False
        for valid in self.valid_keys(backend):
            accepted |= compare_digest(presented, valid.digest)
        return accepted


def unknown_key() -> Unauthorized:
    """Return the error for every key that is not accepted. It is the same for all causes, so it reveals none."""
    return Unauthorized("unknown_key")


def no_key() -> Unauthorized:
    """Return the error for a request without a key, where one is needed."""
    return Unauthorized("no_key")


def _is_requested_with(key: str, answer: str | None) -> bool:
    """Return whether an earlier rotation was requested with ``key``; ``answer`` is the hash stored with it."""
    return compare_digest(hash_secret(key).hex(), answer or "")


def _has_expired(key: KeyRecord, now: int) -> bool:
    return key.expires_at is not None and key.expires_at <= now
