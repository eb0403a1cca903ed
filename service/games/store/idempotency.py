"""Idempotency: a request that is sent again with the same idempotency key gets the same response."""

from __future__ import annotations

from collections.abc import Sequence
from hmac import digest
from typing import NamedTuple

from service.games.model.errors import KeyReused, SecretChanged
from service.games.model.tokens import DerivedBytes, short_digest
from service.games.ports import IdempotencyRecord


class IdempotencyKey(NamedTuple):
    """The idempotency key that a client sent with a request, and a digest of the body."""

    key: str
    fingerprint: bytes


class Idempotency:
    """Makes the records of idempotency keys, and derives tokens from ``secrets``, the same in all processes.

    New tokens are derived from the first secret, repeated ones from the secret of the earlier write.
    The stored fingerprint of a write is a digest of the request and, if tokens were derived, a dot and the secret's id.
    """

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._secrets = {digest(secret, b"secret id", "sha256").hex()[:8].encode(): secret for secret in secrets}
        self.secret_ids = tuple(self._secrets)

    def derive_bytes(self, *purpose: str, prior: bytes | None = None, secret_id: bytes | None = None) -> DerivedBytes:
        """Return a source of bytes for this purpose, by the first secret or the one with this id.

        ``prior``: the stored fingerprint of an earlier write, whose secret is used.
        Raises ``SecretChanged`` if this process does not have the secret.
        """
        if secret_id is None:
            secret_id = self.secret_ids[0] if prior is None else prior.partition(b".")[2]
        secret = self._secrets.get(secret_id)
        if secret is None:
            raise SecretChanged
        return DerivedBytes(secret, *purpose)

    def record(self, key: IdempotencyKey, *scope: str, derives_tokens: bool = False) -> IdempotencyRecord:
        """Return the record of a key in this ``scope``, with the id of the secret if tokens must be derived again."""
        fingerprint = b"%b.%b" % (key.fingerprint, self.secret_ids[0]) if derives_tokens else key.fingerprint
        return IdempotencyRecord(record_name(key.key, *scope), fingerprint)


def record_name(key: str, *scope: str) -> str:
    """Return the name of the record of a key; ``scope``: the operation, and the owner of the key."""
    return short_digest(*scope, key)


def check_same_request(fingerprint: bytes, record: IdempotencyRecord | None) -> None:
    """Raise ``KeyReused`` unless an earlier write and a record are of equal requests. Their secrets can differ."""
    if record is None or fingerprint.partition(b".")[0] != record.fingerprint.partition(b".")[0]:
        raise KeyReused("key_reused")
