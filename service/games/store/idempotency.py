"""Idempotency: a request that is sent again under the same key gets the same response.

Owns how a key becomes the record that is stored with a write, how a repeated request is compared with that record, and
the secrets from which tokens are derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from hmac import digest
from typing import NamedTuple, Protocol

from service.games.model.errors import KeyReused, SecretChanged
from service.games.model.tokens import DerivedBytes, short_digest
from service.games.ports import IdempotencyRecord


class IdempotencyKey(NamedTuple):
    """The idempotency key that a client sent with a request, and a digest of the body."""

    key: str
    fingerprint: bytes


class Fingerprinted(Protocol):
    """The fingerprint that was stored with an earlier request."""

    @property
    def fingerprint(self) -> bytes:
        """A digest of the request, and what identifies the secret if tokens were derived."""


class Idempotency:
    """Makes the records of keys, and derives tokens from ``secrets``: from the first one, or as an earlier write did.

    The secrets must be the same for every process that serves the same store.
    """

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._secrets = {digest(secret, b"secret id", "sha256").hex()[:8].encode(): secret for secret in secrets}
        self._first_id = next(iter(self._secrets))

    @property
    def secret_ids(self) -> tuple[bytes, ...]:
        """What identifies each of the secrets, the first one first."""
        return tuple(self._secrets)

    def derive_bytes(
        self, *purpose: str, prior: Fingerprinted | None = None, secret_id: bytes | None = None
    ) -> DerivedBytes:
        """Return a source of bytes for this purpose: always the same ones, unpredictable without the secret.

        With ``prior``, the bytes are those that were derived for that write; with ``secret_id``, from that secret.
        Raises ``SecretChanged`` if the secret is not among these secrets.
        """
        if secret_id is None:
            secret_id = self._first_id if prior is None else prior.fingerprint.partition(b".")[2]
        secret = self._secrets.get(secret_id)
        if secret is None:
            raise SecretChanged
        return DerivedBytes(secret, *purpose)

    def record(self, key: IdempotencyKey, *scope: str, derives_tokens: bool = False) -> IdempotencyRecord:
        """Return the record of a key within its scope: the operation, and the owner of the key.

        If tokens are derived for the request, the record also identifies the secret, so that they can be derived again.
        """
        fingerprint = b"%b.%b" % (key.fingerprint, self._first_id) if derives_tokens else key.fingerprint
        return IdempotencyRecord(short_digest(*scope, key.key), fingerprint)


def check_same_request(prior: Fingerprinted, record: IdempotencyRecord | None) -> None:
    """Raise ``KeyReused`` unless ``prior`` was stored for the request of this record, whatever its secret."""
    if record is None or prior.fingerprint.partition(b".")[0] != record.fingerprint.partition(b".")[0]:
        raise KeyReused("key_reused")
