"""Requests of applications under idempotency keys in Redis or Valkey: a hash for each application.

Owns how they are encoded. A script that writes for such a request keeps it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from service.backends.ports import MOST_REPEATS, Repeat, RepeatKnown
from service.games.model.errors import LimitReached
from service.games.ports import IDEMPOTENCY_TTL
from service.storage import keys
from service.storage.redis.calls import evalsha
from service.storage.redis.connection import Command

TTL_MS: Final = IDEMPOTENCY_TTL * 1000
KNOWN: Final = -2
FULL: Final = -3

Write = Callable[[str, bytes, Command], Any]
"""Runs a command that writes, for the operation of this name and a key."""


def find_repeat(write: Write, app: str, name: str, now: int) -> Repeat | None:
    """Return what is kept under this name; it is written again, so that a replica confirms it, too."""
    key = keys.repeats(app)
    answer = write("repeated", key, evalsha("repeated", (key,), name.encode()))
    if answer is None:
        return None
    at, fingerprint, rest = answer[0].split(b" ", 2)
    return Repeat(name, fingerprint, int(at), rest) if int(at) > now - TTL_MS else None


def repeat_args(repeat: Repeat | None) -> tuple[bytes | int, ...]:
    """Return the last arguments of a script that keeps a request, or none."""
    if repeat is None:
        return b"", b"", 0, 0, 0
    value = b"%d %b %b" % (repeat.at, repeat.fingerprint, repeat.answer)
    return repeat.name.encode(), value, repeat.at - TTL_MS, MOST_REPEATS, IDEMPOTENCY_TTL


def check_kept(answer: int) -> int:
    """Return the answer of such a script. Raises ``RepeatKnown``, ``LimitReached``."""
    if answer == KNOWN:
        raise RepeatKnown
    if answer == FULL:
        raise LimitReached("too_many_repeats", max=MOST_REPEATS)
    return answer
