"""Games of an application in every phase of a match."""

from __future__ import annotations

from random import Random

from tests.api.client import Api, Table, told
from tests.api.saved_games import shortest
from tests.support.table import Json, match_finished, round_over

PHASES = ("waiting", "public", "playing", "away", "with a clock", "with bots", "round over", "finished", "forked")


def in_phase(api: Api, key: str, phase: str, ada: Json, bob: Json) -> Table:
    """A game of the application in this phase, of these people as far as both have a seat."""
    match phase:
        case "waiting":
            return api.create("domino", [ada, {"open": True}], key=key, ref="match-1")
        case "public":
            return api.create("domino", [ada, {"open": True}], key=key, ref="match-1", lobby="all")
        case "with bots":
            return api.create("domino", [ada, {"bot": "greedy"}], key=key, ref="match-1", pace=5)
        case "with a clock" | "away":
            table = api.create("domino", [ada, bob], key=key, ref="match-1", clock={"bank": 600, "increment": 5})
            if phase == "away":
                told(api.put(f"{table.path}/players/0/presence", {"away": True}, token=table.tokens[0]))
            return table
        case "forked" | "forked and waiting":
            source = api.create("domino", 2)
            api.play_until(source, round_over, Random(1))
            players = [ada, bob if phase == "forked" else {"open": True}]
            return api.create(None, players, key=key, ref="match-1", continues={"record": source.record()})
        case "finished":
            return finished(api, key, ada, bob)
    table = api.create("domino", [ada, bob], key=key, ref="match-1")
    if phase == "round over":
        api.play_until(table, round_over, Random(1))
    return table


def finished(api: Api, key: str, *players: Json) -> Table:
    """A match of the application that is over."""
    table = api.create("domino", players, key=key, ref="match-1", options=shortest("domino"))
    api.play_until(table, match_finished, Random(1))
    return table
