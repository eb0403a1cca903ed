"""Writes games of every variant as they are stored now: ``python -m tools.stored_games``.

The file is ``tests/api/released/format-N.jsonl``, of the present format N; tests of every later version read its games
and play them on. Before the release of a format, it is written again when the format changes; after it never. The games
follow from fixed random bytes and a fixed clock, so that the same file is written again as long as nothing changes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

import redis

from service.devserver.embedded import EmbeddedServer
from service.engine.variants import variants
from service.games.store.codec import FORMAT
from service.games.store.notifications import RedisEventFeed
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from tests.api.client import Table
from tests.api.released_games import DELETED, FOLDER, ReleasedGame, line_of, released_game
from tests.api.saved_games import GAME_SECONDS, one_open_seat, some_rounds, some_seats, take_snapshot
from tests.api.timed import TimedApi
from tests.support.application import build_backends
from tests.support.stores.redis_stores import redis_store
from tests.support.table import Json, match_finished, round_over

Condition = Callable[[Json], bool]

_SECRET: Final = b"the secret of the stored games"
_ATTEMPTS: Final = 20
_PEOPLE: Final[list[Json]] = [{"name": "Ada"}, {"name": "Bo"}, {"name": "Cleo"}]
_BOTS: Final[list[Json]] = [{"name": "Ada"}, {"bot": "greedy"}, {"bot": "random"}]
_USERS: Final[list[Json]] = [
    {"name": "Ada", "ref": "user-1"},
    {"name": "Bo", "ref": "user-2"},
    {"bot": "greedy"},
]
_CLOCK: Final[Json] = {"clock": {"bank": 600, "increment": 5}, "absence": {"then": "bot"}, "pace": 0}

_STAGES: Final[dict[str, Condition]] = {
    "dealt": lambda view: view["round"] == 1,
    "playing": lambda view: len(view["board"]["tiles"]) == 5,
    "round over": round_over,
    "second round": lambda view: view["round"] == 2 and len(view["board"]["tiles"]) > 3,
    "finished": match_finished,
}
"""The stages of a match of people, in the order in which it comes to them."""


class Writer:
    """Plays games on a server of its own, and takes what is stored of them; ``key`` is that of an application."""

    def __init__(self, api: TimedApi, server: redis.Redis, key: str) -> None:
        self._api = api
        self._server = server
        self._key = key

    def games(self) -> Iterator[ReleasedGame]:
        """Those of all variants, and a few with what most games have not."""
        for variant in variants():
            waiting = self._api.create(variant, one_open_seat(variant))
            yield self._taken(variant, "waiting", waiting)
            yield from self._played(variant)
        yield from self._special()

    def _taken(self, variant: str, stage: str, table: Table) -> ReleasedGame:
        return released_game(variant, stage, table, take_snapshot(self._server, table.id))

    def _played(self, variant: str) -> list[ReleasedGame]:
        """Return a match of people at every stage; one that ends before it has come to all of them is not taken."""

        def comes_to(table: Table, condition: Condition) -> bool:
            def until(view: Json) -> bool:
                return condition(view) or match_finished(view)

            return condition(self._api.play_until(table, until))

        for _ in range(_ATTEMPTS):
            table = self._api.create(variant, some_seats(variant), options=some_rounds(variant))
            taken: list[ReleasedGame] = []
            for stage, condition in _STAGES.items():
                if not comes_to(table, condition):
                    break
                taken.append(self._taken(variant, stage, table))
            else:
                return taken
        raise AssertionError(f"every match of {variant} is over early")

    def _special(self) -> Iterator[ReleasedGame]:
        """Games with computer players, a clock, a player who has left, and turns that play themselves."""
        yield self._with("domino", "against computer players", _BOTS, **_CLOCK)
        yield self._with("fido", "with a clock", _PEOPLE, **_CLOCK)
        left = self._api.create("menschenwolf", _PEOPLE, **_CLOCK)
        self._some_moves(left)
        self._api.set_presence(left, 1, away=True)
        yield self._taken("menschenwolf", "a player has left", left)
        yield self._with("draw", "with automatic turns", _PEOPLE[:2], auto=True)
        owned = self._owned()
        self._some_moves(owned)
        yield self._taken("domino", "of an application", owned)
        deleted = self._owned()
        assert self._api.delete(deleted.path, token=self._key).status_code == 204
        yield self._taken("domino", DELETED, deleted)

    def _owned(self) -> Table:
        """Return a game of the application, in which two people play with a computer player."""
        body = {"variant": "domino", "players": _USERS, "ref": "match-17", **_CLOCK}
        return Table(self._api, self._api.post("/v1/games", body, token=self._key).get_json())

    def _with(self, variant: str, stage: str, players: list[Json], **more: Any) -> ReleasedGame:
        table = self._api.create(variant, players, **more)
        self._some_moves(table)
        return self._taken(variant, stage, table)

    def _some_moves(self, table: Table) -> None:
        for _ in range(5):
            self._api.let_bots_play(table)
            self._api.make_legal_move(table)


def main() -> int:
    """Write the file; returns the exit status."""
    file = FOLDER / f"format-{FORMAT}.jsonl"
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder)) as server:
        nodes = SingleNodeTopology(connect(server.url))
        with closing(RedisEventFeed(nodes)) as feed:
            store = redis_store(nodes, GAME_SECONDS)
            random_bytes = Random("stored games").randbytes  # noqa: S311 # nobody plays these games
            apps = build_backends(
                nodes,
                [_SECRET],
                clock=lambda: 0,
                random_bytes=Random("applications").randbytes,  # noqa: S311
            )
            api = TimedApi(store, feed, _SECRET, GAME_SECONDS, random_bytes, apps)
            writer = Writer(api, connect(server.url), apps.keys.create("Club").key)
            lines = [line_of(game) for game in writer.games()]
    FOLDER.mkdir(exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), "ascii", newline="\n")
    sys.stdout.write(f"{file}: {len(lines)} games\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
