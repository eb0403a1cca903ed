"""The ports of this package: applications, their repeatable requests, and people to be erased.

Owns the interfaces only; those of the index and of webhooks are in their packages. What belongs to one application lies
together (on a Cluster in one slot, that of the shard of its id). Does not depend on Redis or Flask.

Every method answers within three seconds or raises ``StorageUnavailable``; one that writes may raise
``OutcomeUnknown``, and can be called again.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

MOST_REPEATS: Final = 500
"""The most requests of an application under idempotency keys that are kept at a time."""


class Repeat(NamedTuple):
    """What is kept of a request under an idempotency key for ``IDEMPOTENCY_TTL``, so that it can be repeated.

    The ``name`` is unique among those of the application; ``fingerprint`` is a digest of the request, without a space;
    ``at`` is when it was made, in milliseconds since 1970; ``answer`` is what is needed to answer it again.
    """

    name: str
    fingerprint: bytes
    at: int
    answer: bytes


class RepeatKnown(Exception):
    """A request under the same idempotency key was kept first, so that this one was not written."""


class KeyRecord(NamedTuple):
    """A key of an application: the first characters by which people distinguish it from others, and its SHA-256.

    Times in milliseconds since 1970; a key without ``expires_at`` is valid until it is revoked.
    """

    suffix: str
    digest: bytes
    created_at: int
    expires_at: int | None = None


class OwnLimits(NamedTuple):
    """The limits that the operator has given one application: 0 is no limit, ``None`` that of all applications.

    ``requests`` and ``games`` (created or joined) per minute, MiB ``stored`` per day.
    """

    requests: int | None = None
    games: int | None = None
    stored: int | None = None


NO_OWN_LIMITS: Final = OwnLimits()


class Backend(NamedTuple):
    """An application; its id has a shard, like that of a game. The operator may have ``suspended`` it with its keys."""

    id: str
    name: str
    created_at: int
    keys: tuple[KeyRecord, ...]
    suspended: bool = False
    limits: OwnLimits = NO_OWN_LIMITS


class RepeatStore(Protocol):
    """The requests of applications under idempotency keys: at most ``MOST_REPEATS`` of each at a time.

    What writes with a ``Repeat`` keeps it in the same atomic write. It then also raises ``RepeatKnown``, and
    ``LimitReached`` if too many are kept; both change nothing.
    """

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        """Return what is kept under this name, as confirmed as a write; ``now`` in milliseconds since 1970."""


class BackendStore(RepeatStore, Protocol):
    """The applications, which do not expire; what is kept of their requests outlives them."""

    def create(self, backend: Backend) -> bool:
        """Store a new application; ``False`` if there is another one with this id."""

    def read(self, app: str) -> Backend | None:
        """Return the application with this id."""

    def replace(self, before: Backend, after: Backend | None, repeat: Repeat | None = None) -> bool:
        """Replace the application if it is still as ``before``, or delete it; returns whether that was done."""

    def all(self) -> list[Backend]:
        """Return every application, the oldest first."""


MOST_ERASURES: Final = 1000
"""The most people of an application who are to be erased at a time."""


class Erasure(NamedTuple):
    """A person who is to be erased, by the ref; ``at`` identifies the last request for it."""

    ref: str
    at: int


class ErasureStore(Protocol):
    """The people of applications who are to be erased: at most ``MOST_ERASURES`` of each at a time.

    The reminder ``erasures`` of an application (``ReminderQueue``) is due at once after each request.
    """

    def request(self, app: str, ref: str) -> bool:
        """Note that a person is to be erased, also one who is already; ``False`` if there are too many others."""

    def pending(self, app: str) -> list[Erasure]:
        """Return who is to be erased."""

    def is_pending(self, app: str, ref: str) -> bool:
        """Return whether this person is to be erased."""

    def done(self, app: str, erasure: Erasure) -> None:
        """Note that a person has been erased; does nothing if there was another request meanwhile."""
