"""A secret that a machine creates once and keeps in a file.

Owns the file and its permissions.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from tempfile import mkstemp

BYTES = 32
FILE = "secret"


def read_secret(folder: Path) -> bytes | None:
    """Return the secret in this folder's file; ``None`` if there is none that can be read."""
    try:
        return (folder / FILE).read_bytes()
    except OSError:
        return None


def load_or_create_secret(folder: Path) -> bytes:
    """Return the 32 random bytes in this folder's file; the first caller of all processes creates it.

    Raises ``OSError``.
    """
    path = folder / FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Unique even among containers, in which several processes may have the same id.
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
    return path.read_bytes()
