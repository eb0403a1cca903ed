"""The same deals at several tables, so that luck is the same for all. See README.md beside this file.

Each board is a deal, given by a seed that nobody knows before. Every table plays every board. The first pair of a table
stays there, and the second one moves to the next table after each board; at every other table they exchange their
seats, and that changes every two boards, so that all pairs are compared with each other. What counts is how much better
a pair does than the mean of all who held the same tiles.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]


RULES = {"target": 1, "tie": "opener"}
"""One round: whoever scores has won; without a tie rule, a blocked round that is tied would be followed by another."""


def pairs_at(board: int, table: int, tables: int) -> tuple[int, int]:
    """Return the pair on seats 0 and 2, and the one on seats 1 and 3."""
    stays, moves = 2 * table, 2 * ((table + board) % tables) + 1
    return (moves, stays) if (table + board // 2) % 2 else (stays, moves)


def compare(results: Iterable[tuple[int, Sequence[int], int]], tables: int) -> tuple[int, dict[int, float]]:
    """Return how many boards all tables have finished, and what each pair did better there than the boards' mean.

    ``results`` are boards, each with its pairs and by how much the first one won. The difference of a table counts for
    the first pair, and the other way round for the second.
    """
    boards: dict[int, list[tuple[Sequence[int], int]]] = {}
    for board, pairs, difference in results:
        boards.setdefault(board, []).append((pairs, difference))
    sums = dict.fromkeys(range(2 * tables), 0.0)
    finished = [each for each in boards.values() if len(each) == tables]
    for each in finished:
        mean = sum([difference for _, difference in each]) / tables
        for (first, second), difference in each:
            sums[first] += difference - mean
            sums[second] -= difference - mean
    return len(finished), sums


class Event:
    """The tables and boards of an event, kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data: Json = json.loads(path.read_text("utf-8")) if path.exists() else {}
            if self.data and not self.data.keys() >= {"pairs", "games"}:
                raise ValueError
        except (ValueError, AttributeError):
            raise SystemExit(f"{path} is not the file of an event.") from None

    def save(self) -> None:
        """Replace the file, which has the tokens of all seats."""
        new = self.path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(self.data, indent=1, ensure_ascii=False), "utf-8")
        new.replace(self.path)

    def begin(self, service: httpx.Client, pairs: list[str], boards: int) -> None:
        """Deal the boards to all tables. ``pairs`` are ``Ada+Bo``; two of them play at a table."""
        if self.data:
            raise SystemExit(f"{self.path} has an event; name another file by --file, or move it away.")
        if len(pairs) < 4 or len(pairs) % 2 or boards < 2 or boards % 2:
            raise SystemExit("An event has an even number of pairs, at least four, and an even number of boards.")
        names = [[name.strip() for name in pair.split("+")] for pair in pairs]
        if any(len(each) != 2 or not all(each) for each in names):
            raise SystemExit("A pair is two names: Ada+Bo.")
        if len({name for each in names for name in each}) < 2 * len(pairs):
            raise SystemExit("Each player needs a name that nobody else has.")
        tables = len(pairs) // 2
        self.data = {"pairs": pairs, "games": []}
        for board in range(boards):
            seed = secrets.token_hex(16)
            for table in range(tables):
                first, second = pairs_at(board, table, tables)
                seated = [names[first][0], names[second][0], names[first][1], names[second][1]]
                wanted = {
                    "variant": "latin",
                    "options": RULES,
                    "players": [{"name": name} for name in seated],
                    "seed": seed,
                }
                made = service.post("/v1/games", json=wanted).raise_for_status().json()
                tokens = {seated[each["seat"]]: each["token"] for each in made["seats"]}
                game = {"board": board + 1, "table": table + 1, "game": made["game"]["id"], "pairs": [first, second]}
                self.data["games"].append({**game, "seed": seed, "tokens": tokens})
        self.save()

    def games(self) -> list[Json]:
        """Return the games of the event."""
        if not self.data:
            raise SystemExit(f"There is no event in {self.path}; begin one.")
        found: list[Json] = self.data["games"]
        return found

    def results(self, service: httpx.Client) -> Iterator[tuple[int, list[int], int]]:
        """Of each finished board at each table: its number, the two pairs, and by how much the first one won."""
        for each in self.games():
            score = service.get(f"/v1/games/{each['game']}/score").raise_for_status().json()
            if score["status"] == "finished":
                totals = {line["seat"]: line["total"] for line in score["standings"]}
                yield each["board"], each["pairs"], totals[0] - totals[1]

    def standings(self, service: httpx.Client) -> tuple[int, list[tuple[str, float]]]:
        """Return how many boards all tables have finished, and the pairs with their points, the best first."""
        tables = max([each["table"] for each in self.games()])
        finished, sums = compare(self.results(service), tables)
        order = sorted(sums, key=lambda pair: -sums[pair])
        return finished, [(self.data["pairs"][pair], sums[pair]) for pair in order]


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
        try:
            run(event, service, options)
        except httpx.HTTPStatusError as error:
            raise SystemExit(f"The service refuses: {reason(error.response)}") from None
        except httpx.TransportError as error:
            raise SystemExit(f"No answer from {options.server}: {error}") from None
    return 0


def reason(response: httpx.Response) -> str:
    """Return what the service says of a refusal, or what something between says."""
    if response.headers.get("Content-Type") == "application/problem+json":
        return str(response.json()["detail"])
    return f"{response.status_code} {response.reason_phrase}"


def run(event: Event, service: httpx.Client, options: argparse.Namespace) -> None:
    """Run the command of these options."""
    if options.command == "begin":
        event.begin(service, options.pairs, options.boards)
    elif options.command == "links":
        for each in event.games():
            for name, token in each["tokens"].items():
                print(f"board {each['board']}, {name}: {options.server}/#/seat/{each['game']}/{token}")
    else:
        finished, pairs = event.standings(service)
        print(f"Boards that all tables have finished: {finished}. Points against their mean:")
        for pair, points in pairs:
            print(f"{pair:24} {points:+7.1f}")


if __name__ == "__main__":
    sys.exit(main())
