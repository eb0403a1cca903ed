"""A secret that a machine generates once and stores in a file.

Owns the file, its permissions, and the check of its content: tokens are derived from the secret, so a short one could
be guessed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkstemp

BYTES = 32
FILE = "secret"


class InvalidSecretFile(ValueError):
    """The file has no valid secret: it was truncated, or is another file."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is no secret, which has {BYTES} bytes; restore it; or remove it, so that a new one is generated: "
            "then repeated requests to create or join games that exist are refused"
        )


def known_secrets(keys: Sequence[str], folder: Path) -> tuple[bytes, ...]:
    """Return these keys as bytes, then the secret in this folder's file if it can be opened.

    Raises ``InvalidSecretFile``.
    """
    secrets = [key.encode() for key in keys]
    with contextlib.suppress(OSError):
        secrets.append(_read(folder / FILE))
    return tuple(secrets)


def server_secrets(keys: Sequence[str], folder: Path) -> tuple[bytes, ...]:
    """Return ``known_secrets``; without ``keys``, create the file if it is missing.

    Raises ``InvalidSecretFile``; without ``keys`` also ``OSError``.
    """
    return known_secrets(keys, folder) if keys else (load_or_create_secret(folder),)


def load_or_create_secret(folder: Path) -> bytes:
    """Return the 32 random bytes in this folder's file; create it if it is missing. Safe for concurrent processes.

    Raises ``OSError``, ``InvalidSecretFile``.
    """
    path = folder / FILE
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The name is unique even among containers, whose processes can have the same ids.
    descriptor, name = mkstemp(prefix="secret.", dir=folder)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(new, path)  # atomic, and never replaces another process's file
    finally:
        new.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        secret = file.read(BYTES + 1)
    if len(secret) != BYTES:
        raise InvalidSecretFile(path)
    return secret
