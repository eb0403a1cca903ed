"""Clients in banned networks are refused before anything of their requests is read or counted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from random import randbytes

import pytest
import redis

from service.config import parse_networks
from service.games.facade import GamesFacade
from service.storage.rate_limits import counters_at
from tests.api.client import Api
from tests.support.application import create_app, rate_limits

NETWORKS = parse_networks("192.0.2.7\n198.51.100.0/24\n2001:db8:1::/48\n2001:db8:2::5\n::ffff:203.0.113.0/120")
BANNED = [
    *("192.0.2.7", "198.51.100.0", "198.51.100.255", "203.0.113.9"),
    *("2001:db8:1::", "2001:db8:1:ffff::9", "2001:DB8:2::5", "::ffff:192.0.2.7", "::ffff:c633:6401"),
]
WELCOME = [
    *("192.0.2.6", "192.0.2.8", "198.51.101.0", "203.0.114.1", "::192.0.2.7"),
    *("2001:db8:2::6", "2001:db8::1", "::", "", "unknown"),
]

Applications = Callable[..., Api]


@pytest.fixture
def application(games: GamesFacade, redis_url: str) -> Applications:
    """An application with these banned networks and limits."""

    def make(proxies: int = 0, **limits: int) -> Api:
        limited = rate_limits(partial(counters_at, redis_url), time.time, **limits)
        app = create_app(games, limits=limited, proxies=proxies, banned=NETWORKS)
        return Api(app.test_client(use_cookies=False))

    return make


@pytest.mark.parametrize(("address", "status"), [*[(each, 403) for each in BANNED], *[(each, 200) for each in WELCOME]])
def test_requests_from_banned_networks_are_refused(application: Applications, address: str, status: int) -> None:
    api = application()
    api.client.environ_base["REMOTE_ADDR"] = address
    assert api.ask_unchecked("GET", "/v1/variants").status_code == status


@pytest.mark.parametrize("forwarded", ["{}", "{}:4711", "[{}]:4711", "[{}]", "192.0.2.1, {}"])
def test_behind_a_proxy_its_client_counts(application: Applications, forwarded: str) -> None:
    api = application(proxies=1)
    for addresses, status in ((BANNED, 403), (WELCOME[:-2], 200)):
        for address in addresses:
            if ":" in address and forwarded == "{}:4711":
                continue
            headers = {"X-Forwarded-For": forwarded.format(address)}
            assert api.ask_unchecked("GET", "/v1/variants", headers=headers).status_code == status
    api.client.environ_base["REMOTE_ADDR"] = BANNED[0]
    assert api.ask_unchecked("GET", "/v1/variants", headers={"X-Forwarded-For": WELCOME[0]}).status_code == 200
    direct = application()
    direct.client.environ_base["REMOTE_ADDR"] = WELCOME[0]
    assert direct.ask_unchecked("GET", "/v1/variants", headers={"X-Forwarded-For": BANNED[0]}).status_code == 200


def test_the_answer_is_the_same_problem_for_everything(application: Applications) -> None:
    api = application()
    table = api.create("domino", 2)
    api.client.environ_base["REMOTE_ADDR"] = BANNED[0]
    for method, path in (
        *(("GET", "/healthz"), ("GET", table.path), ("GET", "/v1/games/none"), ("GET", "/docs/"), ("POST", "/nowhere")),
        *(("POST", "/v1/games"), ("OPTIONS", "/v1/games"), ("HEAD", table.path), ("POST", f"{table.path}/moves")),
    ):
        answer = api.ask_unchecked(method, path, token=table.tokens[0], data=b"{" * 300_000)
        assert (answer.status, answer.mimetype) == ("403 Forbidden", "application/problem+json")
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Request-ID"] == "of-a-test"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        if method == "HEAD":
            assert answer.data == b""
            continue
        assert json.loads(answer.data) == {
            "type": "/problems#forbidden",
            "title": "Forbidden",
            "status": 403,
            "detail": "Requests from this address are not accepted.",
            "code": "forbidden",
            "reason": "banned",
        }


def test_a_refused_request_is_not_counted(application: Applications, server: redis.Redis) -> None:
    api = application(create=1, failure=1, seat=1)
    network = f"2001:db8:1:{randbytes(2).hex()}"
    api.client.environ_base["REMOTE_ADDR"] = f"{network}::1"
    for _ in range(3):
        assert api.ask_unchecked("POST", "/v1/games", json={}).status_code == 403
        assert api.ask_unchecked("GET", "/v1/games/none").status_code == 403
    assert server.keys(f"domino:limit*{network}*") == []
