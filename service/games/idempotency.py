"""Idempotency: a request that is sent again under the same key gets the same response.

Owns how a key becomes the record that is stored with a write, how a repeated request is compared with that record, and
the secret from which tokens are derived. Does not depend on what is requested, nor on how a key is sent.
"""

from __future__ import annotations

from hmac import digest
from typing import NamedTuple

from service.games.errors import KeyReused
from service.games.ports import IdempotencyRecord, PriorWrite
from service.games.tokens import DerivedBytes, short_digest


class IdempotencyKey(NamedTuple):
    """The idempotency key that a client sent with a request, and a digest of the body."""

    key: str
    fingerprint: bytes


class Idempotency:
    """Makes the records of keys, and derives tokens from ``secret``.

    The secret must be the same for every process that serves the same store.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._secret_id = digest(secret, b"secret id", "sha256").hex()[:8].encode()

    def derive_bytes(self, *purpose: str) -> DerivedBytes:
        """A source of bytes for this purpose: always the same ones, unpredictable without the secret."""
        return DerivedBytes(self._secret, *purpose)

    def record(self, key: IdempotencyKey, *scope: str, derives_tokens: bool = False) -> IdempotencyRecord:
        """The record of a key within its scope: the operation, and the owner of the key.

        If tokens are derived for the request, the record also identifies the secret, as a different one would derive
        different tokens.
        """
        fingerprint = b"%b.%b" % (key.fingerprint, self._secret_id) if derives_tokens else key.fingerprint
        return IdempotencyRecord(short_digest(*scope, key.key), fingerprint)


def check_same_request(prior: PriorWrite, record: IdempotencyRecord | None) -> None:
    """Raises ``KeyReused`` unless ``prior`` was written for the request of this record.

    Raises ``RuntimeError`` if only the secret differs: the tokens of the request cannot be derived again.
    """
    if record is not None and prior.fingerprint == record.fingerprint:
        return
    if record is not None and prior.fingerprint.partition(b".")[0] == record.fingerprint.partition(b".")[0]:
        raise RuntimeError("SECRET_KEY is not the one that these tokens were derived from")
    raise KeyReused("This idempotency key was used for another request.")
