"""Signatures of messages by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).

Owns what is signed, and the form of a signature.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Sequence
from typing import Final

SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"


def new_secret(random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a new secret: 32 random bytes."""
    return random_bytes(SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """Return the secret as its owner gets it: ``whsec_`` and Base64."""
    return _PREFIX + base64.b64encode(secret).decode("ascii")


def signed_headers(message: str, seconds: int, body: bytes, secrets: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of an attempt to deliver a message, with a signature by each secret (two during rotation).

    ``message`` is the id, the same for all attempts, without a dot; ``seconds`` the time of this attempt since 1970.
    """
    signed = f"{message}.{seconds}.".encode("ascii") + body
    signatures = (base64.b64encode(hmac.digest(secret, signed, "sha256")).decode("ascii") for secret in secrets)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{each}" for each in signatures),
    }
