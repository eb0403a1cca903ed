"""Idempotency: a request sent again under its key is recognised, and answered as the first time.

Owns the record that is stored with a write, how a repeated request is compared with it, and the secret from which
tokens are derived again. Nothing else in the service knows how a key becomes a record. Does not depend on what the
requests ask for, nor on how a key comes in.
"""

from __future__ import annotations

from hmac import digest
from typing import NamedTuple

from service.games.errors import KeyReused
from service.games.ports import IdempotencyRecord, PriorWrite
from service.games.tokens import DerivedBytes, short_digest


class IdempotencyKey(NamedTuple):
    """The client's key of a request, and a digest of its body."""

    key: str
    fingerprint: bytes


class Idempotency:
    """Makes the records of keys. ``secret`` is the same for every process that serves the same store."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._secret_id = digest(secret, b"mark", "sha256").hex()[:8].encode()

    def derive_bytes(self, *purpose: str) -> DerivedBytes:
        """Random bytes for this purpose: the same whenever they are derived again, known only with the secret."""
        return DerivedBytes(self._secret, *purpose)

    def record(self, key: IdempotencyKey, *scope: str, derives_tokens: bool = False) -> IdempotencyRecord:
        """The record of a key within its scope: the operation, and whom the key belongs to.

        Where tokens are derived for the request, the record also identifies the secret, as another one would derive
        other tokens.
        """
        fingerprint = b"%b.%b" % (key.fingerprint, self._secret_id) if derives_tokens else key.fingerprint
        return IdempotencyRecord(short_digest(*scope, key.key), fingerprint)


def check_same_request(prior: PriorWrite, record: IdempotencyRecord | None) -> None:
    """Raises ``KeyReused`` unless ``prior`` was written for the request of this record."""
    if record is not None and prior.fingerprint == record.fingerprint:
        return
    if record is not None and prior.fingerprint.partition(b".")[0] == record.fingerprint.partition(b".")[0]:
        raise RuntimeError("SECRET_KEY is not the one that these tokens were derived from")
    raise KeyReused("This idempotency key stood for another request before.")
