"""The cursors of lists of games: the score and the id of the last game of a page, as a text.

Owns the form of this text.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

_CURSOR: Final = re.compile(r"([0-9]{1,15}) ([A-Za-z0-9_-]{1,64})", re.ASCII)


def encode_cursor(score: int, game: str) -> str:
    """Return the cursor after this game."""
    return urlsafe_b64encode(b"%d %b" % (score, game.encode())).rstrip(b"=").decode()


def decode_cursor(cursor: str) -> tuple[int, str]:
    """Return the score and the game. Raises ``ValueError`` for a text that is no cursor."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        text = ""
    match = _CURSOR.fullmatch(text)
    if match is None or encode_cursor(int(match[1]), match[2]) != cursor:
        raise ValueError("no cursor of a list")
    return int(match[1]), match[2]
