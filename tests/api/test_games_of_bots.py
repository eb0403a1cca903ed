"""Games that computer players alone go on with: how many a tenant may have, how long they are, what they count."""

from __future__ import annotations

import re
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.games.commands.validation import CREATION_MS
from service.games.model.schedule import MAX_ROUNDS_OF_BOTS
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisGamesOfBots, RedisStore
from service.limits.windows import LocalCounts
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.web.rate_limits import Limits, RateLimits
from tests.api.client import Api, causes_of, refusal
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.support.application import create_app
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_calls

pytestmark = pytest.mark.gate

MOST = 3
BOTS = [{"bot": "greedy"}, {"bot": "random"}]


def limited_api(redis_url: str, store: RedisStore, feed: RedisEventFeed, limits: RateLimits | None = None) -> Api:
    """A service that allows each tenant three games of computer players alone."""
    noted = RedisGamesOfBots(redis_calls(SingleNodeTopology(connect(redis_url))), TTL_SECONDS)
    games = build_games(store, feed, [SECRET], TTL_SECONDS, games_of_bots=(noted, MOST))
    return Api(create_app(games, limits=limits).test_client())


@pytest.fixture
def no_games_of_bots(server: redis.Redis) -> None:
    """Those of other tests count no longer."""
    for key in server.scan_iter("*:alone"):
        server.delete(key)


@pytest.fixture
def limited(no_games_of_bots: None, redis_url: str, store: RedisStore, feed: RedisEventFeed) -> Api:
    return limited_api(redis_url, store, feed)


def create(api: Api, players: list[dict[str, Any]], **more: Any) -> TestResponse:
    return api.try_create("domino", players, **more)


def test_a_tenant_has_so_many_games_of_computer_players_alone_at_a_time(
    limited: Api, redis_url: str, store: RedisStore, feed: RedisEventFeed, server: redis.Redis
) -> None:
    made = [create(limited, BOTS) for _ in range(MOST)]
    assert [each.status_code for each in made] == [201] * MOST
    refused = create(limited, BOTS)
    assert refusal(refused) == (429, "limit_reached", "too_many_games_of_bots")
    body = refused.get_json()
    assert body["params"] == {"max": MOST}
    assert int(refused.headers["Retry-After"]) == body["retry_after"] > 0
    assert create(limited, [{"name": "Ada"}, {"bot": "expert"}]).status_code == 201
    expire(server, made[0])
    other_process = limited_api(redis_url, store, feed)  # has refused nobody
    assert create(other_process, BOTS).status_code == 201
    assert create(other_process, BOTS).status_code == 429


def expire(server: redis.Redis, made: TestResponse) -> None:
    """Have a game be gone, as if it had been created long ago and had expired."""
    game_id = made.get_json()["game"]["id"]
    server.delete(f"domino:{{{game_id}}}")
    for key in server.scan_iter("*:alone"):
        server.zincrby(key, -CREATION_MS, game_id)


def test_a_game_that_is_about_to_be_stored_counts(
    limited: Api, redis_url: str, store: RedisStore, feed: RedisEventFeed, server: redis.Redis
) -> None:
    made = [create(limited, BOTS) for _ in range(MOST)]
    for each in made:  # as a request notes a game before it stores it
        server.delete(f"domino:{{{each.get_json()['game']['id']}}}")
    assert create(limited, BOTS).status_code == 429
    expire(server, made[0])
    other_process = limited_api(redis_url, store, feed)
    assert [create(other_process, BOTS).status_code for _ in range(2)] == [201, 429]


def test_nobody_resigns_from_more_games_to_leave_them_to_computer_players(limited: Api) -> None:
    made = create(limited, [{"name": "Ada"}, *BOTS]).get_json()
    assert [create(limited, BOTS).status_code for _ in range(MOST)] == [201] * MOST
    path = f"/v1/games/{made['game']['id']}/players/0/resignation"
    refused = limited.post(path, {}, token=made["seats"][0]["token"])
    assert (refused.status_code, refused.get_json()["reason"]) == (429, "too_many_games_of_bots")


FILL = {"after": 60, "bot": "expert"}
FORFEITS = {"clock": {"turn": 5}, "absence": {"then": "forfeit"}}


@pytest.mark.parametrize(
    ("players", "more", "counts"),
    [
        ([{"name": "Ada"}, {"bot": "expert"}, {"bot": "expert"}], FORFEITS, True),
        ([{"open": True}, {"bot": "expert"}, {"bot": "expert"}], FORFEITS, True),
        ([{"name": "Ada"}, {"bot": "expert"}], FORFEITS, False),
        ([{"name": "Ada"}, {"bot": "expert"}, {"bot": "expert"}], {**FORFEITS, "absence": {"then": "bot"}}, False),
        ([{"name": "Ada"}, {"bot": "expert"}, {"bot": "expert"}], {}, False),
    ],
)
def test_a_game_counts_where_all_people_may_forfeit(
    limited: Api, players: list[dict[str, Any]], more: dict[str, Any], counts: bool
) -> None:
    for _ in range(MOST):
        assert create(limited, BOTS).status_code == 201
    assert create(limited, players, **more).status_code == (429 if counts else 201)


def test_a_repeated_request_is_answered_again(limited: Api) -> None:
    keys = [{"Idempotency-Key": f"key-of-a-game-of-bots-{number:024}"} for number in range(MOST)]
    assert [create(limited, BOTS, headers=key).status_code for key in keys] == [201] * MOST
    assert create(limited, BOTS).status_code == 429
    again = create(limited, BOTS, headers=keys[0])
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")


def test_a_repeated_request_is_answered_again_when_its_game_counts_no_longer(limited: Api, server: redis.Redis) -> None:
    key = {"Idempotency-Key": "key-of-a-game-of-bots-that-has-ended"}
    first = create(limited, BOTS, headers=key)
    (noted,) = server.scan_iter("*:alone")
    server.zrem(noted, first.get_json()["game"]["id"])  # as when it has ended
    assert [create(limited, BOTS).status_code for _ in range(MOST + 1)] == [201] * MOST + [429]
    again = create(limited, BOTS, headers=key)
    assert (again.status_code, again.get_json()) == (201, first.get_json())


def test_a_refused_game_takes_nobodys_place(limited: Api, server: redis.Redis) -> None:
    for _ in range(MOST + 4):
        create(limited, BOTS)
    assert [server.zcard(key) for key in server.scan_iter("*:alone")] == [MOST]


@pytest.mark.parametrize(("players", "status"), [(BOTS, 422), ([{"name": "Ada"}, {"bot": "greedy"}], 201)])
def test_computer_players_alone_play_only_some_rounds(limited: Api, players: list[dict[str, Any]], status: int) -> None:
    wanted = {"variant": "fido", "players": [*players, {"bot": "greedy"}]}
    answer = limited.post("/v1/games", {**wanted, "options": {"rounds": MAX_ROUNDS_OF_BOTS + 1}})
    assert answer.status_code == status
    if status == 422:
        assert causes_of(answer) == [("options.rounds", "rounds_of_bots")]
        assert limited.post("/v1/games", {**wanted, "options": {"rounds": MAX_ROUNDS_OF_BOTS}}).status_code == 201


@pytest.mark.parametrize(
    ("body", "weight"),
    [
        ({"variant": "domino", "players": [{"name": "Ada"}, {"bot": "greedy"}]}, 1),
        ({"variant": "domino", "players": [{"name": "Ada"}, {"bot": "expert"}]}, 2),
        ({"variant": "domino", "players": [{"bot": "expert"}, {"bot": "greedy"}]}, 11),
        ({"variant": "domino", "players": [{"name": "Ada"}, *[{"bot": "expert"}] * 2], **FORFEITS}, 21),
        ({"variant": "fido", "options": {"set": 18, "rounds": 20}, "players": [{"bot": "expert"}] * 9}, 181),
        ({"variant": "fido", "players": [{"bot": "expert"}] * 3}, 4),  # one round, unless more are requested
        ({"variant": "domino", "players": [{"name": "Ada"}, {"open": True}], "fill": FILL}, 2),
        ({"variant": "domino", "players": [{"name": "Ada"}, *[{"open": True}] * 2], "fill": FILL, **FORFEITS}, 21),
    ],
)
def test_a_game_counts_what_it_makes_experts_calculate(
    redis_url: str, store: RedisStore, feed: RedisEventFeed, body: dict[str, Any], weight: int
) -> None:
    limits = RateLimits(LocalCounts(), Limits(create=1000), workers=1, clock=lambda: 1_800_000_000.0)
    answer = limited_api(redis_url, store, feed, limits).post("/v1/games", body)
    assert answer.status_code in (201, 429)
    assert f"r={1000 - weight};" in answer.headers["RateLimit"]


def counted(api: Api) -> int:
    """How many requests were counted before this one, of 1000."""
    answer = create(api, [{"name": "Ada"}, {"bot": "greedy"}])
    (left,) = re.findall(r"r=([0-9]+);", answer.headers["RateLimit"])
    return 999 - int(left)


@pytest.fixture
def counting(no_games_of_bots: None, redis_url: str, store: RedisStore, feed: RedisEventFeed) -> Api:
    limits = RateLimits(LocalCounts(), Limits(create=1000), workers=1, clock=lambda: 1_800_000_000.0)
    return limited_api(redis_url, store, feed, limits)


def test_a_seat_that_an_expert_fills_counts_for_each_round_if_people_may_forfeit(counting: Api) -> None:
    made = create(counting, [{"name": "Ada"}, *[{"open": True}] * 2], **FORFEITS).get_json()
    path, token = f"/v1/games/{made['game']['id']}", made["seats"][0]["token"]
    assert counting.put(f"{path}/players/1", {"bot": "expert"}, token=token).status_code == 200
    assert counted(counting) == 1 + 2
    assert counting.put(f"{path}/players/2", {"bot": "expert"}, token=token).status_code == 200
    assert counted(counting) == 1 + 2 + 1 + 11


def test_a_seat_that_an_expert_fills_counts_for_each_round_if_the_others_fill_by_themselves(counting: Api) -> None:
    made = create(counting, [{"name": "Ada"}, *[{"open": True}] * 2], fill=FILL, **FORFEITS).get_json()
    before = counted(counting)
    path, token = f"/v1/games/{made['game']['id']}", made["seats"][0]["token"]
    assert counting.put(f"{path}/players/1", {"bot": "expert"}, token=token).status_code == 200
    assert counted(counting) == before + 1 + 11


def test_a_rematch_counts_its_experts(counting: Api) -> None:
    made = create(counting, [{"name": "Ada"}, {"bot": "expert"}]).get_json()
    path, token = f"/v1/games/{made['game']['id']}", made["seats"][0]["token"]
    assert counting.post(f"{path}/players/0/resignation", {}, token=token).status_code == 201
    assert counting.post(f"{path}/rematch", {}, token=token).status_code == 201
    assert counted(counting) == 2 + 2
