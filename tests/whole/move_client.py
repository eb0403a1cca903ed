"""Run as a process of its own: makes moves in many games at a steady pace, and prints when each was sent.

Arguments: the address of the service, the moves a second, for how many seconds. On standard input a line of JSON a
game: the response to its creation. Prints ``game version sent`` for each move, the version before it and the time of
``time.monotonic``.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from tests.support.http_client import KeepAliveClient
from tests.support.table import Table, seat_to_move
from tests.support.waiting import PATIENCE


def make_first_move(table: Table[Any]) -> tuple[int, float]:
    """Make the first legal move there is; the version before it, and when it was sent."""
    seat = seat_to_move(table.view())
    listed = table.client.listed_moves(table, seat)
    sent = time.monotonic()
    table.client.make_move(table, seat, listed["legal_moves"][0])
    return listed["version"], sent


def main(address: str, pace: float, seconds: float) -> None:
    """Move in one game after the other."""
    clients = [KeepAliveClient(address, timeout=PATIENCE) for _ in range(4)]
    tables = [Table(clients[place % 4], json.loads(created)) for place, created in enumerate(sys.stdin)]
    began = time.monotonic()
    for number in range(int(pace * seconds)):
        time.sleep(max(began + number / pace - time.monotonic(), 0))
        place = number % len(tables)
        version, sent = make_first_move(tables[place])
        print(place, version, sent)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
