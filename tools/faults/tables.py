"""The games that clients play: who sits at them, their clocks, and whose they are.

Owns the kinds of games. Which one a game is follows from the name of its first player, and whose it is from the key of
the request, as a key of an application is another one than the same of nobody: so a request that is repeated is the
same. Does not depend on what fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

import orjson

from tests.histories.clients import Response
from tests.histories.history import Outcome
from tests.whole.http_connection import HttpDoor, Log, NoAnswer

_BOT: Final = {"bot": "greedy"}
_KINDS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"bot": _BOT, "pace": 0},
    {"bot": {"bot": "expert"}, "pace": 0},
    {"clock": {"turn": 5}, "absence": {"then": "bot"}},
    {"clock": {"bank": 10}, "absence": {"then": "forfeit"}},
    {"clock": {"turn": 5}, "absence": {"then": "move"}, "bot": _BOT, "pace": 0},
)
"""In turn: people alone, or with a computer player in the last seat (``bot``), with and without a clock."""


class TableDoor(HttpDoor):
    """As a door, whose games are of all kinds; every other one is of the application with this key."""

    def __init__(self, url: str, log: Log, key: str) -> None:
        super().__init__(url, log)
        self._key = key

    def ask(self, method: str, path: str, body: object = None, *, key: str = "", token: str | None = None) -> Any:
        """Return the answer of status 2xx to any request, or ``None``."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key} if key else {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            status, _, answer = self._send(method, path, None if body is None else orjson.dumps(body), headers)
        except NoAnswer:
            return None
        return orjson.loads(answer) if status < 300 else None

    def _get(self, game: str, token: str | None) -> Any:
        """Return the view, or ``None`` if there is none now, or the service deals next, as it does with a clock."""
        view = super()._get(game, token)
        return None if view is not None and view["status"] == "round_over" and "clock" in view else view

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Response:
        """Create a game; a seat without a name is open."""
        number = int(re.findall("[0-9]+", str(names[0]))[-1])
        kind = dict(_KINDS[number % len(_KINDS)])
        players: list[dict[str, Any]] = [{"open": True} if name is None else {"name": name} for name in names]
        bot = kind.pop("bot", None)
        if bot is not None:
            players[-1] = bot
        owner = self._key if crc32((key or "").encode()) % 2 else None
        result, body = self._post("/v1/games", {"variant": variant, "players": players, **kind}, owner, key)
        if result.outcome is not Outcome.MADE:
            return Response(result)
        result = result._replace(game=body["game"]["id"], version=body["game"]["version"])
        tokens = {each["seat"]: each["token"] for each in body["seats"] if "token" in each}
        return Response(result, tokens, body.get("join_code"))
