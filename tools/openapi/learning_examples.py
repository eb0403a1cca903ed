"""Examples of hints and reviews: of a turn against a computer player, and of a match that was played.

Owns what is asked for. Nobody computes anything until the clock is advanced, so that there is an example of that, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from service.web.http.responses import JSON
from tools.openapi.session import Session

_MAX_TABLES: Final = 20
_MAX_SHOWN: Final = 2


def learn(session: Session, advance_clock: Callable[[int], None], game: str, token: str) -> None:
    """Get a hint on the first turn against a computer player, and the review of this game, which is finished."""
    send = session.send
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"bot": "greedy"}]}
    refused = False
    for _ in range(_MAX_TABLES):
        created = send("POST", "/v1/games", body)
        hint, own = f"/v1/games/{created['game']['id']}/hint", created["seats"][0]["token"]
        is_on_turn = created["game"]["turn"]["seat"] == 0
        if refused or not is_on_turn:
            send("GET", hint, token=own)
        if refused and is_on_turn:
            break
        refused = refused or not is_on_turn
    send("GET", f"{game}/hint", token=token)
    for method in ("GET", "POST", "GET"):
        send(method, f"{game}/review", token=token)
    advance_clock(1)
    send("GET", hint, token=own)
    send("GET", f"{game}/review", token=token)
    _shorten(session.examples["getHint", 200, JSON].response["moves"])
    _shorten(session.examples["getReview", 200, JSON].response["decisions"])


def _shorten(items: list[Any]) -> None:
    del items[_MAX_SHOWN:]
