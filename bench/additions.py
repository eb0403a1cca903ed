"""Games with something more, each beside the same one without: a clock, a bot among the players, an application.

Owns these games. Does not depend on what of their moves is measured.
"""

from __future__ import annotations

import os
import subprocess
from itertools import count, islice, takewhile
from typing import Any, Final, NamedTuple

import orjson

from bench.builds import ROOT
from bench.bursts import Work
from bench.setups import USUAL, Match, match
from bench.stand import Stand

LEAST: Final = 0.95
"""The fraction of the moves of a game without it that one with it must still make."""
_BOTS_SEAT: Final = USUAL.seats - 1
_LEAST_MOVES: Final = 3
_GAMES: Final = 12


class Addition(NamedTuple):
    """The moves of games with something, and of the same without it."""

    name: str
    without: Work
    having: Work


def additions(stand: Stand, work: Work, games: int = _GAMES) -> list[Addition]:
    """Return all of them. Beside a bot only the moves before its first one are made, in so many games of each client.

    So nothing but the person's own move is measured: the last of these moves tells the bot that it is its turn.
    """
    opening = work._replace(matches=_openings(len(work.matches)), each=games)
    key = _application(stand)
    with_bot = [{"name": f"Player {seat}"} for seat in range(_BOTS_SEAT)] + [{"bot": "greedy"}]
    return [
        Addition("a clock", work, _asking(work, {"clock": {"turn": 3600}})),
        Addition("a bot", opening, _asking(opening, {"players": with_bot})),
        Addition("an owner", work, work._replace(matches=[each._replace(key=key) for each in work.matches])),
    ]


def _openings(many: int) -> list[Match]:
    """Return matches up to the first move of the last seat, in which the others have made some."""
    return list(islice((each for each in map(_opening, count()) if len(each.steps) >= _LEAST_MOVES), many))


def _opening(number: int) -> Match:
    played = match(USUAL, f"bench {number}", 4 * USUAL.seats)
    return played._replace(steps=tuple(takewhile(lambda step: step.seat != _BOTS_SEAT, played.steps)))


def _asking(work: Work, more: dict[str, Any]) -> Work:
    """Return the same in games that are asked for with more than that."""
    changed = [each._replace(request=orjson.dumps({**orjson.loads(each.request), **more})) for each in work.matches]
    return work._replace(matches=changed)


def _application(stand: Stand) -> str:
    """Return the key of a new application."""
    command = [stand.python, "-m", "service", "apps", "create", "bench"]
    environ = {**os.environ, "REDIS_URL": stand.redis_url, "DATA_DIR": str(stand.folder / "operator")}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True).stdout.strip()
