"""Run as a process of its own: makes moves in many games at a steady pace, and tells when each was sent.

Arguments: the URL of the service, the moves a second, for how many seconds. On standard input a line of JSON a game:
its path and its tokens by seat. Prints ``game version sent`` for each move, the version before it and the time of
``time.monotonic``.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from typing import Any


class Game:
    """A game, and the connection on which its seats play."""

    def __init__(self, line: http.client.HTTPConnection, path: str, tokens: list[str]) -> None:
        self.path = path
        self._line = line
        self._tokens = tokens

    def move(self) -> tuple[int, float]:
        """Make the first legal move there is; the version before it, and when it was sent."""
        for token in self._tokens:
            legal = self._ask("GET", token)
            if legal["moves"]:
                sent = time.monotonic()
                self._ask("POST", token, json.dumps(legal["moves"][0]))
                return legal["version"], sent
        raise AssertionError("nobody can move")

    def _ask(self, method: str, token: str, body: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._line.request(method, f"{self.path}/moves", body, headers)
        answer = self._line.getresponse()
        content = answer.read()
        assert answer.status in (200, 201), content
        return json.loads(content)


def main(host: str, pace: float, seconds: float) -> None:
    """Move on one game after the other."""
    lines = [http.client.HTTPConnection(host, timeout=30) for _ in range(4)]
    games = [Game(lines[place % 4], *json.loads(each)) for place, each in enumerate(sys.stdin)]
    began = time.monotonic()
    for number in range(int(pace * seconds)):
        time.sleep(max(began + number / pace - time.monotonic(), 0))
        place = number % len(games)
        version, sent = games[place].move()
        print(place, version, sent)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
