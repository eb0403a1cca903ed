"""A secret that a machine makes once and keeps in a file of its own. Must not know what it is for."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from tempfile import mkstemp

BYTES = 32


def load_or_create_secret(folder: Path) -> bytes:
    """The secret of this folder; the first caller of all processes makes it. Raises ``OSError``."""
    path = folder / "secret"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A name that no other has, also not the same process number in another container.
    descriptor, name = mkstemp(prefix="secret.", dir=folder)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(new, path)  # whole or not at all, and never over another's
    finally:
        new.unlink()
    return path.read_bytes()
