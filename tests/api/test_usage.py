"""What is kept for an application, and its limits: told to it alone, and what the server really uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis

from service.backends.facade import BackendsFacade
from service.backends.keys import MAX_KEYS
from service.backends.webhooks.endpoints import MAX_WEBHOOKS
from service.games.facade import GamesFacade
from service.redis import keys
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, Table
from tests.support.application import create_app, rate_limits
from tests.support.stores.redis_stores import redis_webhooks
from tests.support.table import seat_to_move

pytestmark = pytest.mark.gate

GAME = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}


def usage(api: Api, key: str) -> dict[str, Any]:
    told: dict[str, Any] = api.get("/v1/app", token=key).get_json()["usage"]
    return told


def used(server: redis.Redis, tables: list[Table]) -> int:
    """The bytes that the server uses for these games."""
    sizes: Any = [server.memory_usage(key, samples=0) for table in tables for key in keys.of_game(table.id)]
    return sum(each or 0 for each in sizes)


def test_usage_counts_the_games_of_an_application_and_the_bytes_that_the_server_uses_for_them(
    api: Api, app_key: str, other_key: str, server: redis.Redis, publish: Callable[[], None]
) -> None:
    assert usage(api, app_key) == {"games": 0, "bytes": 0, "messages": 0}
    tables = [Table(api, api.post("/v1/games", GAME, token=app_key).get_json()) for _ in range(3)]
    publish()
    first = usage(api, app_key)
    assert first == {"games": 3, "bytes": used(server, tables), "messages": 0}
    assert first["bytes"] > 1_500
    for _ in range(6):
        seat = seat_to_move(api.view(tables[0]))
        api.move(tables[0], seat, api.moves(tables[0], seat)[0])
    publish()
    later = usage(api, app_key)
    assert later == {"games": 3, "bytes": used(server, tables), "messages": 0}
    assert later["bytes"] > first["bytes"]
    assert api.ask("DELETE", tables.pop(0).path, token=app_key).status_code == 204
    publish()
    assert usage(api, app_key) == {"games": 2, "bytes": used(server, tables), "messages": 0}
    assert usage(api, other_key) == {"games": 0, "bytes": 0, "messages": 0}


def test_messages_that_wait_are_counted_for_each_endpoint(
    api: Api, app_key: str, backends: BackendsFacade, server: redis.Redis, publish: Callable[[], None]
) -> None:
    kept, app = redis_webhooks(SingleNodeTopology(server)), backends.keys.authenticate(app_key).id
    wanted = {"url": "https://club.example/hooks", "events": ["game.turn"]}
    for _ in range(2):
        made = api.post("/v1/webhooks", wanted, token=app_key).get_json()["id"]
        before = backends.webhooks.get(app, made)
        assert kept.replace(before, before._replace(status="active", is_verified=True))
    for _ in range(3):
        api.post("/v1/games", GAME, token=app_key)
    publish()
    assert usage(api, app_key)["messages"] == 6
    (due, *_) = kept.due(before, 1 << 53, 10)
    kept.mark_notified(before, due, due.version, done=True)
    assert usage(api, app_key)["messages"] == 5


def test_the_limits_are_those_that_hold(api: Api, app_key: str, games: GamesFacade, backends: BackendsFacade) -> None:
    without = api.get("/v1/app", token=app_key).get_json()["limits"]
    assert (without["keys"], without["webhooks"]) == (MAX_KEYS, MAX_WEBHOOKS)
    assert not without.keys() & {"requests_per_minute", "games_per_minute"}
    limited = create_app(games, backends=backends, limits=rate_limits(app=60_000, app_games=600))
    told = Api(limited.test_client()).get("/v1/app", token=app_key)
    assert told.get_json()["limits"] == without | {"requests_per_minute": 60_000, "games_per_minute": 600}
    assert told.headers["RateLimit-Policy"] == '"app";q=60000;w=60'
