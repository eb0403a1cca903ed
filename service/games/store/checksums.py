"""Checksums: what is stored of a game, an event and an idempotency record ends with the CRC-32 of the rest."""

from __future__ import annotations

import logging
from typing import Final
from zlib import crc32

from service.games.model.errors import Corrupted
from service.games.ports import Damaged

SUM_CHARS: Final = 8
"""Hexadecimal digits of a checksum."""
WITH_SUM: Final = b"%b%08x"
"""The form of data with their checksum; every write uses it without the call of ``with_sum``."""
_REPAIR_SECONDS: Final = 600
"""Seconds after which to look again whether a game was restored."""

_log = logging.getLogger(__name__)


def with_sum(data: bytes) -> bytes:
    """Return the data and their checksum, as they are stored."""
    return WITH_SUM % (data, crc32(data))


def without_sum(data: bytes) -> bytes:
    """Return the data before its checksum. Raises ``Corrupted`` if they do not belong together."""
    rest = data[:-SUM_CHARS]
    if data != WITH_SUM % (rest, crc32(rest)):
        raise Corrupted
    return rest


def damaged() -> Damaged:
    """Return what is raised for a game of which something is damaged, and log it."""
    _log.error("what is stored of a game is damaged")
    return Damaged("damaged", retry_after=_REPAIR_SECONDS)
