"""Games that a released version has stored are read by this one, and played on to the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
import redis

from service.engine.variants import variants
from service.games.model.errors import Gone
from service.games.store.codec import FORMAT, READABLE
from tests.api.client import Table, status_and_code
from tests.api.released_games import DELETED, FILES, FOLDER, ReleasedGame, games_in
from tests.api.saved_games import restore
from tests.api.timed import TimedApi
from tests.support.lanes import in_lane
from tests.support.table import match_finished

pytestmark = pytest.mark.gate

MAX_MOVES = 2000
SECOND_ROUND = "second round"
OF_EVERY_VARIANT = ("waiting", "dealt", "playing", "round over", SECOND_ROUND, "finished")
"""The stages of which there is a game of every variant; of the others there is one game each."""


def games_of(file: str) -> dict[str, list[ReleasedGame]]:
    """The games of a file by their variants."""
    games = defaultdict(list)
    for game in games_in(FOLDER / file):
        games[game.variant].append(game)
    return games


RELEASED = {(file.name, variant): games for file in FILES for variant, games in games_of(file.name).items()}


def test_there_are_games_of_every_format_that_is_read() -> None:
    assert FORMAT in READABLE
    assert [file.name for file in FILES] == [f"format-{number}.jsonl" for number in sorted(READABLE)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_has_games_of_every_variant_in_its_format(file: Any) -> None:
    games = list(games_in(file))
    assert {game.variant for game in games} == variants().keys()
    number = file.stem.removeprefix("format-").encode()
    for game in [game for game in games if game.stage != DELETED]:
        _, _, state = game.snapshot.state.partition(b" ")
        assert state.split(b",", 2)[1] == number


def play_on(api: TimedApi, table: Table) -> None:
    """Play to the end of the match, also for computer players and who has left."""
    random = Random(1)
    for _ in range(MAX_MOVES):
        api.let_bots_play(table)
        if match_finished(api.view(table)):
            return
        api.make_legal_move(table, random)
    raise AssertionError(f"no end after {MAX_MOVES} moves")


def stages_in_lane(stages: Sequence[str]) -> Sequence[str]:
    """Return which games of a variant are played on: in the gate those in their second round, and the single ones."""
    return in_lane(stages, gate=[each for each in stages if each == SECOND_ROUND or each not in OF_EVERY_VARIANT])


@pytest.mark.parametrize(("file", "variant"), RELEASED)
def test_a_released_game_is_read_and_played_on_to_the_end(
    timed_api: TimedApi, server: redis.Redis, subtests: pytest.Subtests, file: str, variant: str
) -> None:
    games = {game.stage: game for game in RELEASED[file, variant] if game.stage != DELETED}
    for stage in stages_in_lane(list(games)):
        with subtests.test(stage):
            released = games[stage]
            restore(server, released.created["game"]["id"], released.snapshot)
            table = Table(timed_api, released.created)
            for seat in (None, *table.tokens):
                assert timed_api.view(table, seat)["version"] == released.snapshot.version
            timed_api.clock.now = timed_api.stored(table).updated_at
            if stage == "waiting":
                timed_api.take_seat(table)
            play_on(timed_api, table)
            assert_whole(timed_api, table)


def of_stage(file: Any, stage: str) -> ReleasedGame:
    (game,) = [game for game in games_in(file) if game.stage == stage]
    return game


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_released_game_has_its_owner_and_its_refs(timed_api: TimedApi, server: redis.Redis, file: Any) -> None:
    released = of_stage(file, "of an application")
    restore(server, released.created["game"]["id"], released.snapshot)
    game = timed_api.stored(Table(timed_api, released.created))
    assert game.ownership is not None
    assert (game.ownership.ref, game.seats[0].ref, game.seats[0].name) == ("match-17", "user-1", "Ada")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_released_game_that_was_deleted_is_gone(timed_api: TimedApi, server: redis.Redis, file: Any) -> None:
    released = of_stage(file, DELETED)
    restore(server, released.created["game"]["id"], released.snapshot)
    table = Table(timed_api, released.created)
    for seat in (None, *table.tokens):
        token = None if seat is None else table.tokens[seat]
        assert status_and_code(timed_api.get(table.path, token=token)) == (410, "gone")
    refused = timed_api.post(f"{table.path}/moves", {"action": "pass"}, token=table.tokens[0])
    assert status_and_code(refused) == (410, "gone")
    with pytest.raises(Gone) as gone:
        timed_api.stored(table)
    assert gone.value.app


def assert_whole(api: TimedApi, table: Table) -> None:
    """All events are there, and the record of the match can be verified."""
    assert [event["version"] for event in api.events(table)] == list(range(1, api.view(table)["version"] + 1))
    record = table.record()
    verification: Any = api.post("/v1/verifications", record).get_json()
    assert verification["finished"] is True
    # Computer players make their first legal move here (tests.api.timed).
    assert {finding["code"] for finding in verification["findings"]} <= {"wrong_bot_move"}
