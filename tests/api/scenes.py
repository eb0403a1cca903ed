"""Scenes of matches: games of every variant, kept at telling moments, to be put back into the store at will."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import redis

from service.engine.variants import variants
from service.games.codec import decode_game
from service.games.game import Game
from service.storage import keys
from service.storage.event_frames import events_of
from tests.api.client import Api, Table
from tests.api.playing import View, finished, play_on

SEED = "a rainy evening"
STAGES = ("waiting", "dealt", "early", "late", "round_over", "second_round", "somebody_gone", "finished")


class Kept(NamedTuple):
    """What the store keeps of a game."""

    state: bytes
    events: list[bytes]

    @property
    def version(self) -> int:
        return int(self.state.partition(b" ")[0])

    @property
    def spread(self) -> list[bytes]:
        """An entry for each event, also of those that are packed."""
        first, *rest = self.events
        return [*[b" " + event for event in events_of([first])], *rest] if first.startswith(b"*") else self.events


class Scene(NamedTuple):
    """A game at a moment."""

    table: Table
    kept: Kept


def keep(server: redis.Redis, game: str) -> Kept:
    """What the store holds of this game now."""
    state: Any = server.get(keys.state(game))
    assert state is not None
    events: Any = server.lrange(keys.events(game), 0, -1)
    return Kept(state, list(events))


def put(server: redis.Redis, game: str, kept: Kept) -> None:
    """Make the store hold this of the game."""
    with server.pipeline() as both:
        both.set(keys.state(game), kept.state, ex=3600)
        both.delete(keys.events(game))
        both.rpush(keys.events(game), *kept.events)
        both.execute()


def decoded(game: str, kept: Kept) -> Game:
    """The game that is kept."""
    version, _, data = kept.state.partition(b" ")
    return decode_game(game, int(version), data)


def shortest(variant: str) -> dict[str, int]:
    """House rules that make the shortest match there is."""
    return {option.key: option.low for option in variants()[variant].options if option.key in ("limit", "rounds")}


def some_rounds(variant: str) -> dict[str, int]:
    """House rules that make a short match, but usually one of several rounds."""
    return {"rounds": 2} if "rounds" in shortest(variant) else {"limit": 60}


def some_seats(variant: str) -> int:
    """One more than the fewest, where so many can play."""
    players = variants()[variant].players
    return min(players.low + 1, players.high)


def one_to_come(variant: str) -> list[dict[str, Any]]:
    """Some players, and an open seat."""
    return [*({"name": f"P{seat}"} for seat in range(some_seats(variant) - 1)), {"open": True}]


class Scenes:
    """Plays each scene once; every later asker finds the game as it was then."""

    def __init__(self, api: Api, server: redis.Redis) -> None:
        self._api = api
        self._server = server
        self._made: dict[str, dict[str, Scene]] = {}

    def at(self, variant: str, stage: str) -> Scene | None:
        """The game at that stage, back in the store; ``None`` if this variant never comes there."""
        if variant not in self._made:
            self._made[variant] = self._make(variant)
        scene = self._made[variant].get(stage)
        if scene is not None:
            put(self._server, scene.table.id, scene.kept)
        return scene

    def need(self, variant: str, stage: str) -> Scene:
        """The game at a stage that every variant comes to."""
        scene = self.at(variant, stage)
        assert scene is not None
        return scene

    def _make(self, variant: str) -> dict[str, Scene]:
        players = variants()[variant].players
        seats = min(players.low + 1, players.high)
        scenes = {}

        def take(stage: str, table: Table) -> None:
            scenes[stage] = Scene(table, keep(self._server, table.id))

        people = [{"name": f"P{seat}"} for seat in range(seats - 1)]
        take("waiting", self._api.create(variant, [*people, {"open": True}], seed=SEED))

        more = {"rules": {"rounds": 3}} if "rounds" in shortest(variant) else {}
        table = self._api.create(variant, seats, seed=SEED, **more)
        take("dealt", table)
        luck = Random(SEED)
        play_on(self._api, table, lambda view: len(view["board"]["tiles"]) == 3, luck)
        take("early", table)
        most = sum(player["tiles"] for player in self._api.view(table)["players"])
        play_on(self._api, table, lambda view: 3 * _held(view) < 2 * most or view["status"] != "playing", luck)
        take("late", table)
        play_on(self._api, table, lambda view: view["status"] == "round_over", luck)
        take("round_over", table)
        play_on(self._api, table, lambda view: view["round"] == 2 and len(view["board"]["tiles"]) > 4, luck)
        take("second_round", table)

        table = self._api.create(variant, seats, seed=SEED, rules=shortest(variant))
        play_on(self._api, table, finished, luck)
        take("finished", table)

        gone = self._play_until_gone(variant) if "limit" in shortest(variant) else None
        if gone is not None:
            take("somebody_gone", gone)
        return scenes

    def _play_until_gone(self, variant: str) -> Table | None:
        """A game that somebody is out of while others play on, if one of a few comes to that."""
        for attempt in range(4):
            table = self._api.create(variant, variants()[variant].players.low + 2, seed=SEED, rules={"limit": 30})
            view = play_on(self._api, table, lambda view: _gone(view) or view["status"] == "finished", Random(attempt))
            if view["status"] != "finished":
                return table
            if not _gone(view):
                break  # nobody ever goes out of this game
        return None


def _held(view: View) -> int:
    return sum(player["tiles"] for player in view["players"])


def _gone(view: View) -> bool:
    return not all(player["in"] for player in view["players"])
