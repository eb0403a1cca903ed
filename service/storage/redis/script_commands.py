"""The commands that run a script on a server.

Owns the sources of the scripts and how a server is told which one to run. Does not depend on what they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import Final

from service.storage.redis.connection import Command

_SCRIPTS: Final = {path.stem: path.read_bytes() for path in (Path(__file__).parent.parent / "scripts").glob("*.lua")}
"""The source of each script by its name, which is also that of the operation it runs for."""

_HASHES: Final = {name: sha1(source, usedforsecurity=False).hexdigest().encode() for name, source in _SCRIPTS.items()}
"""The hash by which a server knows a script, by its name."""


def evalsha(script: str, names: Sequence[bytes], *arguments: bytes | int) -> Command:
    """The command that runs a script by its hash, so that its source is only sent to a server that lacks it."""
    return (b"EVALSHA", _HASHES[script], len(names), *names, *arguments)


def with_source(script: str, command: Command) -> Command:
    """The same command with the source of the script instead of its hash."""
    return (b"EVAL", _SCRIPTS[script], *command[2:])
