"""Games with remote players, as an application creates them."""

from __future__ import annotations

from collections.abc import Mapping

from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import ClockSettings

APP = "A" * 24
LEVELS = {"r": "random", "g": "greedy"}


def wanted(
    variant: str,
    seats: str,
    url: str,
    *,
    seed: str | None = "seed",
    clock: ClockSettings | None = None,
    pace: int | None = 0,
    options: Mapping[str, bool | int | str] | None = None,
) -> GameRequest:
    """A game with a seat for each letter: a person (p), a remote player (x), or a bot: random (r), greedy (g)."""
    players = {
        "p": SeatRequest("human", "Ada"),
        "x": SeatRequest("remote", "Deep Six", url=url),
        **{letter: SeatRequest("bot", level=level) for letter, level in LEVELS.items()},
    }
    named = [players[letter] for letter in seats]
    return GameRequest(variant, tuple(named), options or {}, seed, clock=clock, pace=pace, app=APP)
