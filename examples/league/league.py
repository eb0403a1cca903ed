"""A league: Swiss pairings, games on the service, ratings by openskill. See README.md beside this file.

The service knows nothing of leagues: it plays games, and tells by signed webhooks when one is over. All that a league
knows is in one file, which is replaced as a whole, so that it can be stopped at any moment.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import httpx
from flask import Flask, request
from openskill.models import PlackettLuce
from standardwebhooks import Webhook, WebhookVerificationError

Json = dict[str, Any]
MODEL = PlackettLuce()
BYE_POINTS = 1.0
"""Points of a player who sits out a round, as for a win; nobody does so twice while others have not."""


class League:
    """The players, the rounds and their tables, kept in a file. Entered, it is read, and nobody else changes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Json = {}

    def __enter__(self) -> League:
        self._lock = self.path.with_suffix(".lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.data = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def save(self) -> None:
        """Replace the file."""
        new = self.path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(self.data, indent=1, ensure_ascii=False), "utf-8")
        new.replace(self.path)

    def begin(self, game: str, seats: int, players: Sequence[str]) -> None:
        """Begin a league of this game, with so many players at a table."""
        if len(set(players)) < max(seats, 2):
            raise SystemExit(f"{game} is played by {seats}: too few players.")
        fresh = MODEL.rating()
        self.data = {"game": game, "seats": seats, "rounds": [], "players": {}}
        for name in dict.fromkeys(players):
            self.data["players"][name] = {"points": 0.0, "byes": 0, "mu": fresh.mu, "sigma": fresh.sigma, "met": []}
        self.save()

    @property
    def open_tables(self) -> list[Json]:
        """The tables of the last round whose match goes on."""
        last = self.data["rounds"][-1] if self.data["rounds"] else []
        return [table for table in last if "ranks" not in table]

    def pair(self) -> list[list[str]]:
        """Return the tables of the next round: the Swiss system, best with best.

        Players of two tables swap as long as fewer of them have met before then. Who is left over sits out, the weakest
        of those that have done so least often.
        """
        seats, players = self.data["seats"], self.data["players"]
        waiting = sorted(players, key=lambda name: (-players[name]["points"], -players[name]["mu"], name))
        for _ in range(len(waiting) % seats):
            resting = max(waiting, key=lambda name: (-players[name]["byes"], waiting.index(name)))
            waiting.remove(resting)
            players[resting]["byes"] += 1
            players[resting]["points"] += BYE_POINTS
        tables = [waiting[first : first + seats] for first in range(0, len(waiting), seats)]
        while any([self._swapped(*two) for two in combinations(tables, 2)]):
            pass
        return tables

    def _swapped(self, one: list[str], other: list[str]) -> bool:
        """Swap players of two tables wherever fewer of them have met before then; whether any were."""
        swapped = False
        for here, there in product(range(len(one)), range(len(other))):
            met = self._met(one) + self._met(other)
            one[here], other[there] = other[there], one[here]
            if self._met(one) + self._met(other) < met:
                swapped = True
            else:
                one[here], other[there] = other[there], one[here]
        return swapped

    def _met(self, table: Sequence[str]) -> int:
        """Return how often these players have met before."""
        return sum([self.data["players"][name]["met"].count(other) for name, other in combinations(table, 2)])

    def finished(self, game: str, ranks: dict[int, int], teams: dict[int, int]) -> bool:
        """Note the end of a match; whether it was news.

        ``ranks`` by seat, 1 is the best; equal ranks are a draw. Partners are rated as a team.
        """
        table = next((each for each in self.open_tables if each["game"] == game), None)
        if table is None:
            return False  # told before, as a message may come twice, or not of this league
        players, names = self.data["players"], table["players"]
        sides = list(_sides(len(names), teams))
        rated = MODEL.rate(
            [[_rating(players[names[seat]]) for seat in side] for side in sides],
            ranks=[float(ranks[side[0]]) for side in sides],
        )
        best = min(ranks.values())
        winners = [seat for seat, rank in ranks.items() if rank == best]
        for side, ratings in zip(sides, rated, strict=True):
            for seat, rating in zip(side, ratings, strict=True):
                player = players[names[seat]]
                player["mu"], player["sigma"] = rating.mu, rating.sigma
                player["met"] += [name for name in names if name != names[seat]]
                if seat in winners:
                    player["points"] += 1.0 if len(winners) == len(side) else 0.5
        table["ranks"] = [ranks[seat] for seat in range(len(names))]
        self.save()
        return True

    def standings(self) -> Iterator[str]:
        """Yield the table of the league: points, then the rating of which one can be nearly sure."""
        players = self.data["players"]
        order = sorted(players, key=lambda name: (-players[name]["points"], -_rating(players[name]).ordinal(), name))
        for place, name in enumerate(order, 1):
            player = players[name]
            yield f"{place:2} {name:20} {player['points']:4.1f} points  rating {_rating(player).ordinal():6.2f}"


def _rating(player: Json) -> Any:
    return MODEL.rating(mu=player["mu"], sigma=player["sigma"])


def _sides(seats: int, teams: dict[int, int]) -> Iterator[list[int]]:
    """Yield the seats of each team, or each seat alone."""
    yield from [
        [seat for seat in range(seats) if teams.get(seat, seat) == side]
        for side in dict.fromkeys(teams.get(seat, seat) for seat in range(seats))
    ]


def start_round(league: League, service: httpx.Client) -> None:
    """Create the games of the next round. A round that was cut short is created again under the same keys."""
    if league.open_tables:
        raise SystemExit(f"{len(league.open_tables)} matches of this round are not over yet.")
    number = len(league.data["rounds"]) + 1
    pending = league.data.setdefault("pending", None) or league.pair()
    league.data["pending"] = pending
    league.save()
    numbers = list(league.data["players"])  # as a ref has no spaces, which a name may have
    tables = []
    for at, names in enumerate(pending):
        wanted = {
            "variant": league.data["game"],
            "players": [{"name": name, "ref": f"player-{numbers.index(name)}"} for name in names],
            "ref": f"round-{number}-table-{at + 1}",
        }
        key = {"Idempotency-Key": f"league-{league.path.stem}-round-{number}-table-{at}"}
        made = service.post("/v1/games", json=wanted, headers=key).raise_for_status().json()
        tokens = {names[each["seat"]]: each["token"] for each in made["seats"]}
        tables.append({"game": made["game"]["id"], "players": names, "tokens": tokens})
    league.data["rounds"].append(tables)
    league.data["pending"] = None
    league.save()


def catch_up(league: League, service: httpx.Client) -> None:
    """Look for matches whose message was missed while the league was not running."""
    for table in league.open_tables:
        score = service.get(f"/v1/games/{table['game']}/score").raise_for_status().json()
        if score["status"] == "finished":
            note(league, table["game"], score["standings"])


def note(league: League, game: str, standings: Sequence[Json]) -> bool:
    """Note the standings of a match."""
    ranks = {each["seat"]: each["rank"] for each in standings}
    return league.finished(game, ranks, {each["seat"]: each["team"] for each in standings if "team" in each})


def links(league: League, server: str) -> Iterator[str]:
    """Yield the link to the seat of each player, which is for this player alone."""
    for table in league.open_tables:
        for name, token in table["tokens"].items():
            yield f"{name}: {server}/#/seat/{table['game']}/{token}"


def create_app(league: League, service: httpx.Client, secret: str) -> Flask:
    """Return the endpoint for the messages of the service."""
    app = Flask(__name__)
    webhook = Webhook(secret)

    @app.post("/")
    def receive() -> tuple[Json, int]:
        try:
            message = webhook.verify(request.get_data(), dict(request.headers))
        except WebhookVerificationError:
            return {"error": "not signed by the service"}, 401
        if message["type"] == "webhook.challenge":
            return {"challenge": message["data"]["challenge"]}, 200
        if message["type"] == "game.finished":
            game = message["data"]["game_id"]
            score = service.get(f"/v1/games/{game}/score").raise_for_status().json()
            with league:
                note(league, game, score["standings"])
        return {}, 200

    return app


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description="A league on the domino service.")
    parser.add_argument("--file", type=Path, default=Path("league.json"), help="what the league knows")
    parser.add_argument("--server", default="http://127.0.0.1:8000")
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("begin", help="begin a league")
    begin.add_argument("game")
    begin.add_argument("seats", type=int)
    begin.add_argument("players", nargs="+")
    for name, text in (
        ("round", "pair the next round and create its games"),
        ("links", "print the seats of the players, each for its player alone"),
        ("listen", "take the messages of the service"),
        ("standings", "print the standings, after a look for finished matches"),
    ):
        commands.add_parser(name, help=text)
    options = parser.parse_args()
    league = League(options.file)
    if options.command == "begin":
        with league:
            league.begin(options.game, options.seats, options.players)
        return 0
    key = os.environ["DOMINO_KEY"]
    with httpx.Client(base_url=options.server, headers={"Authorization": f"Bearer {key}"}, timeout=30) as service:
        if options.command == "listen":
            app = create_app(league, service, os.environ["LEAGUE_SECRET"])
            app.run("127.0.0.1", int(os.environ.get("PORT", "9100")), threaded=False)
            return 0
        with league:
            catch_up(league, service)
            if options.command == "round":
                start_round(league, service)
            elif options.command == "links":
                print(*links(league, options.server), sep="\n")
            else:
                print(*league.standings(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
