"""The same deals at several tables, so that luck is the same for all. See README.md beside this file.

Each board is a deal, given by a seed that nobody knows before. At every table the same board is played by other pairs;
in the second half the pairs have changed their seats. What counts is how much better a pair does than the mean of all
who held the same tiles.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]


class Event:
    """The tables and boards of an event, kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Json = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def save(self) -> None:
        """Replace the file, which has the tokens of all seats."""
        new = self.path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(self.data, indent=1, ensure_ascii=False), "utf-8")
        new.replace(self.path)

    def begin(self, service: httpx.Client, pairs: list[str], boards: int) -> None:
        """Deal the boards to all tables. ``pairs`` are ``Ada+Bo``; two of them play at a table."""
        if len(pairs) < 4 or len(pairs) % 2 or boards < 2 or boards % 2:
            raise SystemExit("An event has an even number of pairs, at least four, and an even number of boards.")
        names = [pair.split("+") for pair in pairs]
        if any(len(each) != 2 for each in names):
            raise SystemExit("A pair is two names: Ada+Bo.")
        self.data = {"pairs": pairs, "games": []}
        for board in range(boards):
            seed = secrets.token_hex(16)
            for table in range(len(pairs) // 2):
                first, second = 2 * table, 2 * table + 1
                if board >= boards // 2:
                    first, second = second, first
                seated = [names[first][0], names[second][0], names[first][1], names[second][1]]
                wanted = {
                    "variant": "latin",
                    "rules": {"target": 1},  # one round
                    "players": [{"name": name} for name in seated],
                    "seed": seed,
                }
                made = service.post("/v1/games", json=wanted).raise_for_status().json()
                tokens = {seated[each["seat"]]: each["token"] for each in made["seats"]}
                game = {"board": board + 1, "table": table + 1, "game": made["game"]["id"], "pairs": [first, second]}
                self.data["games"].append({**game, "tokens": tokens})
        self.save()

    def results(self, service: httpx.Client) -> Iterator[tuple[int, list[int], int]]:
        """Of each finished board at each table: its number, the two pairs, and by how much the first one won."""
        for each in self.data["games"]:
            score = service.get(f"/v1/games/{each['game']}/score").raise_for_status().json()
            if score["status"] == "finished":
                totals = {line["seat"]: line["total"] for line in score["standings"]}
                yield each["board"], each["pairs"], totals[0] - totals[1]

    def standings(self, service: httpx.Client) -> list[tuple[str, float, int]]:
        """Each pair with the sum of what it did better than the mean of the board, and how many boards it has played.

        The difference of a table counts for the pair on seats 0 and 2, and the other way round for its opponents.
        """
        boards: dict[int, list[tuple[list[int], int]]] = {}
        for board, pairs, difference in self.results(service):
            boards.setdefault(board, []).append((pairs, difference))
        sums = dict.fromkeys(range(len(self.data["pairs"])), 0.0)
        played = dict.fromkeys(sums, 0)
        for tables in boards.values():
            mean = sum([difference for _, difference in tables]) / len(tables)
            for (first, second), difference in tables:
                sums[first] += difference - mean
                sums[second] -= difference - mean
                played[first] += 1
                played[second] += 1
        order = sorted(sums, key=lambda pair: -sums[pair])
        return [(self.data["pairs"][pair], sums[pair], played[pair]) for pair in order]


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description="The same deals at several tables.")
    parser.add_argument("--file", type=Path, default=Path("event.json"), help="what the event knows")
    parser.add_argument("--server", default="http://127.0.0.1:8000")
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("begin", help="deal the boards to all tables")
    begin.add_argument("boards", type=int)
    begin.add_argument("pairs", nargs="+", metavar="pair")
    commands.add_parser("links", help="print the seat of each player at each board, for that player alone")
    commands.add_parser("standings", help="print how the pairs stand")
    options = parser.parse_args()
    event = Event(options.file)
    with httpx.Client(base_url=options.server, timeout=30) as service:
        if options.command == "begin":
            event.begin(service, options.pairs, options.boards)
        elif options.command == "links":
            for each in event.data["games"]:
                for name, token in each["tokens"].items():
                    print(f"board {each['board']}, {name}: {options.server}/#/seat/{each['game']}/{token}")
        else:
            for pair, points, played in event.standings(service):
                print(f"{pair:24} {points:+7.1f} points against the mean of {played} boards")
    return 0


if __name__ == "__main__":
    sys.exit(main())
