"""Games of every variant, saved at different stages of a match, which can be restored into the store."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest
import redis

from service.engine.tiles import Tile
from service.engine.variants import variants
from service.games.model.game import Game
from service.games.store.checksums import with_sum
from service.games.store.codec import decode_game
from service.games.store.redis_store import events_of
from service.redis import keys
from service.redis.keys import WINDOWS
from tests.api.client import Api, Table
from tests.support.lanes import GATE_VARIANTS, QUICK_VARIANTS, in_lane
from tests.support.table import Json, match_finished

SEED = "a rainy evening"
GAME_SECONDS: Final = 86_400
"""For which the store keeps a game after its last write: much longer than a run of the tests."""
_ATTEMPTS: Final = 20
_ALWAYS = ("waiting", "dealt", "early", "late", "round_over", "second_round", "finished")
_ELIMINATING = ("menschenwolf", "domino")
"""The variants in which a player can be out of a match that goes on (stage ``player_out``)."""
_COMES_TO_ALL = _ELIMINATING[0]
"""The variant of which the shorter lanes walk all stages, as its match has every one."""


def stages_of(variant: str) -> tuple[str, ...]:
    """The stages of a match that this variant comes to."""
    return (*_ALWAYS, "player_out") if variant in _ELIMINATING else _ALWAYS


def _draws(variant: str) -> bool:
    """Whether there are tiles to draw after a deal to ``some_seats``."""
    seats = some_seats(variant)
    rules = variants()[variant].rules({}, seats)
    return len(rules.tiles) - seats * rules.hand_size(seats) > rules.reserve


def some_seats(variant: str) -> int:
    """One more than the fewest, where so many can play."""
    players = variants()[variant].players
    return min(players.low + 1, players.high)


DRAWING = [variant for variant in variants() if _draws(variant)]
"""The variants in which tiles are drawn."""


def variants_in_lane() -> Sequence[str]:
    """Return the variants of a test that plays on for long: in shorter lanes a few of them."""
    return in_lane(list(variants()), quick=QUICK_VARIANTS, gate=GATE_VARIANTS)


def walked_stages() -> dict[str, Sequence[str]]:
    """Return the stages of each variant at which its match is tested: in shorter lanes one, but all of one variant."""
    return {
        variant: in_lane(stages_of(variant), quick=stages_of(variant) if variant == _COMES_TO_ALL else ("late",))
        for variant in variants_in_lane()
    }


class Snapshot(NamedTuple):
    """What the store holds of a game."""

    state: bytes
    events: list[bytes]

    @property
    def version(self) -> int:
        return int(self.state.partition(b" ")[0])

    @property
    def unpacked_events(self) -> list[bytes]:
        """An entry for each event, also of those that are compacted into one entry."""
        first, *rest = self.events
        return (
            [*[with_sum(b" " + event) for event in events_of([first])], *rest]
            if first.startswith(b"*")
            else self.events
        )


class SavedGame(NamedTuple):
    """A game at one stage of its match."""

    variant: str
    stage: str
    table: Table
    snapshot: Snapshot


class Walk(NamedTuple):
    """Saved games, each restored when its turn comes, and what reports the fault of one and goes on.

    ``report`` is the method ``test`` of the fixture ``subtests``.
    """

    saved_games: Iterable[SavedGame]
    report: Callable[[str], AbstractContextManager[object]]

    def call(self, test: Callable[..., object]) -> None:
        """Call the test with each as ``saved_game``, and report every stage at which it fails."""
        for saved_game in self.saved_games:
            try:
                test(saved_game=saved_game)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                with self.report(saved_game.stage):  # not round every call: a subtest costs as much as a test
                    raise


def take_snapshot(server: redis.Redis, game: str) -> Snapshot:
    """What the store holds of this game now."""
    state: Any = server.get(keys.state(game))
    assert state is not None
    events: Any = server.lrange(keys.part(b"events", game), 0, -1)
    return Snapshot(state, list(events))


_COUNT_KEYS: Final = """
local count = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if (left == -1 or left > 1200000) and string.sub(key, 1, #ARGV[1]) ~= ARGV[1] then
    count = count + 1
  end
end
return count
"""


def count_keys(server: redis.Redis) -> int:
    """The number of all keys, without the counters of rate limits and all else that expires within twenty minutes.

    Keys of other tests may expire at any time: those of GET /readyz, of windows, of games that are kept for seconds,
    the lobby, and the lists of deleted games, which last for ten minutes. All others last much longer than a run.
    """
    count: Any = server.eval(_COUNT_KEYS, 0, WINDOWS)
    return int(count)


@contextmanager
def unchanged(server: redis.Redis, table: Table) -> Iterator[None]:
    """Check that this changes nothing of the game."""
    before = take_snapshot(server, table.id)
    yield
    assert take_snapshot(server, table.id) == before


class StoreContents:
    """The contents of the store, to check that a request has changed nothing."""

    def __init__(self, server: redis.Redis) -> None:
        self._server = server

    def now(self, *tables: Table) -> tuple[int, list[Snapshot]]:
        return count_keys(self._server), [take_snapshot(self._server, table.id) for table in tables]

    @contextmanager
    def unchanged(self, *tables: Table) -> Iterator[None]:
        """Check that this changes none of these games, and makes nothing else."""
        before = self.now(*tables)
        yield
        assert self.now(*tables) == before


def restore(server: redis.Redis, game: str, snapshot: Snapshot) -> None:
    """Make the store hold this of the game."""
    with server.pipeline() as both:
        both.set(keys.state(game), snapshot.state, ex=GAME_SECONDS)
        both.delete(keys.part(b"events", game))
        if snapshot.events:  # a deleted game has none
            both.rpush(keys.part(b"events", game), *snapshot.events)
        both.execute()


def decoded(game: str, snapshot: Snapshot) -> Game:
    """The game of a snapshot."""
    version, _, data = snapshot.state.partition(b" ")
    return decode_game(game, int(version), data)


def stored(server: redis.Redis, table: Table) -> Game:
    """The game of a table as it is stored now."""
    return decoded(table.id, take_snapshot(server, table.id))


def place_of(game: Game, tile: Tile) -> str:
    """Where a tile is: in the stock, a hand, on the table, or not in the set."""
    if tile in game.state.stock:
        return "the stock"
    if any(tile in hand for hand in game.state.hands):
        return "a hand"
    return "the table" if tile in game.rules.tiles else "no set"


_LENGTHS: Final = ("limit", "rounds", "target")
"""The options that decide how long a match lasts."""


def shortest(variant: str) -> dict[str, int]:
    """House rules that make the shortest match there is."""
    return {option.key: option.low for option in variants()[variant].options if option.key in _LENGTHS}


def longest(variant: str, rounds: int) -> dict[str, int]:
    """House rules that keep every player in for so many rounds."""
    return {
        option.key: rounds if option.key == "rounds" else option.high
        for option in variants()[variant].options
        if option.key in _LENGTHS
    }


def some_rounds(variant: str) -> dict[str, int]:
    """House rules that make a short match, but usually one of several rounds."""
    (length,) = shortest(variant)
    target = {"bergen": 8, "by-wins": 2, "cochon": 2}.get(variant, 80)  # rounds of these score a few points
    return {length: {"rounds": 2, "limit": 60, "target": target}[length]}


def one_open_seat(variant: str) -> list[dict[str, Any]]:
    """The players of a game in which one seat is open."""
    return [*({"name": f"P{seat}"} for seat in range(some_seats(variant) - 1)), {"open": True}]


class SavedGames:
    """Plays the match of a variant once in a test run, and restores its game at any stage.

    What one process of the run has played the others find in ``folder``. Tokens are valid in all of them, because
    their applications have the same secret.
    """

    def __init__(self, api: Api, server: redis.Redis, folder: Path) -> None:
        self._api = api
        self._server = server
        self._folder = folder
        self._saved: dict[str, dict[str, SavedGame]] = {}

    def at(self, variant: str, stage: str) -> SavedGame:
        """The game at that stage, which the store now holds again."""
        saved = self.of(variant)[stage]
        restore(self._server, saved.table.id, saved.snapshot)
        return saved

    def of(self, variant: str) -> dict[str, SavedGame]:
        """All saved games of a variant by their stage."""
        if variant not in self._saved:
            self._saved[variant] = self._loaded(variant)
        return self._saved[variant]

    def _loaded(self, variant: str) -> dict[str, SavedGame]:
        """The saved games from the file of the variant, which the first process that comes to it writes."""
        file = self._folder / f"{variant}.pickle"
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                played = self._play(variant)
                file.write_bytes(pickle.dumps({each.stage: (each.table.created, each.snapshot) for each in played}))
        stored = pickle.loads(file.read_bytes())
        return {
            stage: SavedGame(variant, stage, Table(self._api, created), snapshot)
            for stage, (created, snapshot) in stored.items()
        }

    def _play(self, variant: str) -> Collection[SavedGame]:
        seats = some_seats(variant)
        saved = {}

        def save(stage: str, table: Table) -> None:
            saved[stage] = SavedGame(variant, stage, table, take_snapshot(self._server, table.id))

        save("waiting", self._api.create(variant, one_open_seat(variant), seed=SEED))

        more = {"options": {"rounds": 3}} if "rounds" in shortest(variant) else {}
        for attempt in range(_ATTEMPTS):
            table = self._api.create(variant, seats, seed=f"{SEED} {attempt}" if attempt else SEED, **more)
            save("dealt", table)
            rng = Random(SEED)
            self._api.play_until(table, lambda view: len(view["board"]["tiles"]) == 3, rng)
            save("early", table)
            most = _tiles_held(self._api.view(table))
            late = self._api.play_until(table, partial(_is_late, most), rng)
            save("late", table)
            if late["status"] == "playing":
                break
        else:
            raise AssertionError("every round is over early")
        self._api.play_until(table, lambda view: view["status"] == "round_over", rng)
        save("round_over", table)
        self._api.play_until(table, lambda view: view["round"] == 2 and len(view["board"]["tiles"]) > 4, rng)
        save("second_round", table)

        table = self._api.create(variant, seats, seed=SEED, options=shortest(variant))
        self._api.play_until(table, match_finished, rng)
        save("finished", table)

        table_with_player_out = self._play_until_player_out(variant) if "limit" in shortest(variant) else None
        if table_with_player_out is not None:
            save("player_out", table_with_player_out)
        return saved.values()

    def _play_until_player_out(self, variant: str) -> Table | None:
        """A game that a player is out of while others play on, if one of a few comes to that."""
        for attempt in range(4):
            table = self._api.create(variant, variants()[variant].players.low + 2, seed=SEED, options={"limit": 30})
            view = self._api.play_until(table, lambda view: _player_out(view) or match_finished(view), Random(attempt))
            if not match_finished(view):
                return table
            if not _player_out(view):
                break  # nobody is ever eliminated in this variant
        return None


def _is_late(most: int, view: Json) -> bool:
    """Whether a third of these tiles has been laid, or the round is over before that."""
    return 3 * _tiles_held(view) < 2 * most or view["status"] != "playing"


def _tiles_held(view: Json) -> int:
    return sum(player["tiles"] for player in view["players"])


def _player_out(view: Json) -> bool:
    return not all(player["active"] for player in view["players"])
