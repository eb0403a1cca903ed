"""Reads the record in a file, for the commands that are about records.

Owns what is said of one that cannot be read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.records.record import Record


def read_record(name: str) -> Record | None:
    """Return the record in the file of this name (``-``: standard input); ``None`` after a line on standard error."""
    from service.records.parser import MAX_CHARS, decode_record, parse_record  # noqa: PLC0415 # as above
    from service.records.record import InvalidRecord  # noqa: PLC0415 # serving does not need it

    try:
        return parse_record(decode_record(_read(name, 4 * MAX_CHARS)))
    except OSError as error:
        print(f"{name}: {error.strerror or error}", file=sys.stderr)
    except InvalidRecord as error:
        print(f"{name}:{error.line}:{error.column}: {error.sentence}", file=sys.stderr)
    return None


def _read(name: str, max_bytes: int) -> bytes:
    """At most one byte more than ``max_bytes``, which is enough for the parser to reject the record."""
    if name == "-":
        return sys.stdin.buffer.read(max_bytes + 1)
    with Path(name).open("rb") as file:
        return file.read(max_bytes + 1)
