"""Requests of applications under idempotency keys: recognised, and answered again.

Owns what is kept of them, and the bytes of which keys and secrets are made, so that a repeated request gets the same
ones although none is stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from service.backends.ports import Repeat, RepeatStore
from service.games.ports import IdempotencyRecord, RandomBytes
from service.games.store.idempotency import Idempotency, IdempotencyKey, check_same_request

_SALT_BYTES = 16


class Prior(NamedTuple):
    """An earlier request under the same key: when it was made, what is kept of its answer, and its random bytes."""

    at: int
    answer: Any
    random_bytes: RandomBytes


class RepeatableRequest:
    """A request of an application that takes effect once, if it has an idempotency key; without one it is always new.

    ``purpose`` is the operation, and what it is about. The key belongs to both and to the application. ``random_bytes``
    are those of which the answer is made: under a key they are derived, from a salt too, as the key may be used again
    when it is no longer recognised.
    """

    def __init__(
        self,
        store: RepeatStore,
        idempotency: Idempotency,
        random_bytes: RandomBytes,
        key: IdempotencyKey | None,
        *purpose: str,
        app: str,
    ) -> None:
        self._store = store
        self._idempotency = idempotency
        self._app = app
        self._purpose = purpose if key is None else (*purpose, app, key.key)
        self._salt = "" if key is None else random_bytes(_SALT_BYTES).hex()
        self._record = None if key is None else record_of(idempotency, key, *purpose)
        self.random_bytes = random_bytes if key is None else idempotency.derive_bytes(*self._purpose, self._salt)

    def prior(self, now: int) -> Prior | None:
        """Return the earlier request, if there was one.

        Raises ``KeyReused`` if it was another one, ``SecretChanged``.
        """
        if self._record is None:
            return None
        repeat = self._store.repeated(self._app, self._record.name, now)
        if repeat is None:
            return None
        check_same_request(repeat, self._record)
        salt, answer = orjson.loads(repeat.answer)
        return Prior(repeat.at, answer, self._idempotency.derive_bytes(*self._purpose, salt, prior=repeat))

    def repeat(self, now: int, answer: Any) -> Repeat | None:
        """Return what is to be kept of it; ``answer`` is a JSON value without secrets."""
        if self._record is None:
            return None
        return Repeat(self._record.name, self._record.fingerprint, now, orjson.dumps([self._salt, answer]))


def kept_answer(repeat: Repeat) -> Any:
    """Return what is kept of the answer."""
    return orjson.loads(repeat.answer)[1]


def record_of(idempotency: Idempotency, key: IdempotencyKey, *purpose: str) -> IdempotencyRecord:
    """Return the record of a key for this operation."""
    return idempotency.record(key, *purpose, derives_tokens=True)
