"""A person is erased whatever happens before any of the calls that this takes: a kill, another messenger, a move."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

import pytest
import redis

from tests.api.client import Api, Table, told
from tests.api.conftest import TTL_SECONDS
from tests.api.erasing import Eraser, Killed, end_leases
from tests.api.followers import everything
from tests.api.phases import finished
from tests.api.redis_contents import clear, keys_with
from tests.api.test_erasure import ADA, BOB, KEY, MARK, erase, first_name, is_gone, join, owned, rematch
from tests.support.table import match_finished, seat_to_move

pytestmark = pytest.mark.gate


@pytest.fixture(autouse=True)
def _alone(server: redis.Redis) -> None:
    """Without the games of other tests, all of what the server holds can be searched."""
    clear(server)


def at_each_call(redis_url: str, prepare: Callable[[], object], act: Callable[[], None]) -> int:
    """Erase once for each call that this takes, and ``act`` before that call; returns how many they are."""
    for number in count(1):
        prepare()
        acted: list[int] = []

        def before(call: int, number: int = number, acted: list[int] = acted) -> None:
            if call == number:
                acted.append(call)
                act()

        try:
            Eraser(redis_url, TTL_SECONDS, before).run()
        except Killed:
            Eraser(redis_url, TTL_SECONDS).run()
        if not acted:
            break
    return number


def check_and_clear(api: Api, key: str, server: redis.Redis) -> None:
    """Check that the person is gone, and remove all games."""
    assert is_gone(api, key)
    assert keys_with(server, MARK.encode()) == []
    clear(server)


def test_a_messenger_may_be_killed_before_any_call(api: Api, app_key: str, server: redis.Redis, redis_url: str) -> None:
    games: list[Table] = []

    def prepare() -> None:
        types = [[each["type"] for each in everything(api, table)] for table in games]
        assert types == [["created", "dealt", "left", "renamed", "token_changed"]] * len(games)
        check_and_clear(api, app_key, server)
        games[:] = [owned(api, app_key), owned(api, app_key)]
        erase(api, app_key)

    def kill() -> None:
        end_leases(server)
        raise Killed

    assert at_each_call(redis_url, prepare, kill) > 20
    prepare()


def test_two_messengers_may_erase_at_once(api: Api, app_key: str, server: redis.Redis, redis_url: str) -> None:
    games: list[Table] = []

    def prepare() -> None:
        assert all([each["type"] for each in everything(api, table)].count("renamed") == 1 for table in games)
        check_and_clear(api, app_key, server)
        games[:] = [owned(api, app_key)]
        erase(api, app_key)

    def run_another() -> None:
        end_leases(server)
        Eraser(redis_url, TTL_SECONDS).run()

    assert at_each_call(redis_url, prepare, run_another) > 10
    prepare()


@pytest.mark.parametrize(
    "act", ["move", "rename", "new token", "delete", "join", "ask again", "rematch", "rematch again"]
)
def test_whatever_others_do_meanwhile_is_done_too(
    api: Api, app_key: str, server: redis.Redis, redis_url: str, act: str
) -> None:
    games: list[Table] = []
    record = finished(api, app_key, ADA, BOB).record() if "rematch" in act else ""

    def prepare() -> None:
        if games:
            assert act == "delete" or {first_name(api, table) for table in games} == {"Player 1"}
            check_and_clear(api, app_key, server)
        if record:  # one move before its end
            games[:] = [api.create(None, [ADA, BOB], key=app_key, continues={"record": record})]
            api.play_until(games[0], match_finished, Random(1))
        else:
            games[:] = [owned(api, app_key, [ADA, {"open": True} if act == "join" else BOB])]
        if act == "rematch again":
            rematch(api, games[0], 1)
        erase(api, app_key)

    def interfere() -> None:
        (table, *_) = games
        match act:
            case "move":
                if seat_to_move(api.view(table)) == 1:
                    api.make_legal_move(table)
            case "rename":
                told(api.ask("PATCH", f"{table.path}/players/1", json={"name": "Robert"}, token=app_key))
            case "new token":
                api.post(f"{table.path}/players/0/token", token=table.tokens[0])
            case "delete":
                assert api.delete(table.path, token=app_key).status_code == 204
            case "join":
                join(api, table)
            case "ask again":
                games.append(owned(api, app_key))
                erase(api, app_key)
            case "rematch" | "rematch again":
                rematch(api, table, 1, KEY if act == "rematch again" else {})

    assert at_each_call(redis_url, prepare, interfere) > 10
    prepare()
