"""Checksums: the stored data of a game, an event or an idempotency record end with a CRC-32."""

from __future__ import annotations

import logging
from typing import Final
from zlib import crc32

from service.games.ports import Damaged

SUM_CHARS: Final = 8
"""Hexadecimal digits of a checksum."""
WITH_SUM: Final = b"%b%08x"
"""The format of data with their checksum. Every write uses it directly, to save the call of ``with_sum``."""

_log = logging.getLogger(__name__)


def with_sum(data: bytes) -> bytes:
    """Return the data followed by their checksum."""
    return WITH_SUM % (data, crc32(data))


def without_sum(data: bytes) -> bytes:
    """Return the data without their checksum. If it is wrong, log that, and raise ``Damaged``."""
    rest = data[:-SUM_CHARS]
    if data != WITH_SUM % (rest, crc32(rest)):
        _log.error("what is stored of a game is damaged")
        raise Damaged
    return rest
