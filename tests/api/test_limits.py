"""Rate limits by address and by seat, shared by all workers, with a local fallback without Redis."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from random import randbytes
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.client_address import client_network
from service.engine.events import Played
from service.games.facade import GamesFacade
from service.limits.windows import FALLBACK_SECONDS, LocalCounts, SharedCounts
from service.redis.topology import open_topology
from service.web.docs.routes import READS_PER_FILE
from service.web.http.body import BODY_UNIT_BYTES, MAX_BODY_BYTES
from service.web.quotas import PLACES_PER_READ
from service.web.rate_limits import PRESENCE_CHANGES, RateLimited, RateLimits
from tests.api.client import Api, Table
from tests.api.every_operation import as_stream
from tests.games.test_recorded import events_in, file_of, record_in, recorded
from tests.storage.servers import FakeServer, RealServer
from tests.storage.waits import counted, within
from tests.support.application import create_app, rate_limits

pytestmark = pytest.mark.gate

MINUTE = 29_000_000 * 60
"""A time at the start of a minute."""


class Clock:
    """A clock that is set by the test."""

    def __init__(self) -> None:
        self.now = MINUTE + 18.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def address() -> str:
    """An address that no other test uses."""
    return "2001:db8:" + ":".join(randbytes(2).hex() for _ in range(2)) + "::1"


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    # A random minute, as the server is shared: requests of other tests must not count here.
    clock.now += int.from_bytes(randbytes(3)) * 60
    return clock


def counts_at(url: str) -> SharedCounts:
    return SharedCounts(open_topology(url))


Workers = Callable[..., list[Api]]


@pytest.fixture
def workers(games: GamesFacade, backends: BackendsFacade, redis_url: str, clock: Clock, address: str) -> Workers:
    """Applications on the same server, each with these limits."""

    def make(count: int = 1, proxies: int = 0, **limits: int) -> list[Api]:
        apis = []
        for _ in range(count):
            limited = rate_limits(counts_at(redis_url), clock, **limits)
            app = create_app(games, backends=backends, limits=limited, proxies=proxies)
            client = app.test_client(use_cookies=False)
            client.environ_base["REMOTE_ADDR"] = address
            apis.append(Api(client))
        return apis

    return make


def create(api: Api, key: str | None = None, **headers: str) -> TestResponse:
    return api.try_create("domino", [{"name": "A"}, {"open": True}], key=key, headers=headers)


def own_game(api: Api, key: str) -> Table:
    """A game of the application in which a seat is open."""
    return Table(api, create(api, key).get_json())


def statuses(count: int, ask: Callable[[], TestResponse]) -> list[int]:
    """The statuses of so many answers."""
    return [ask().status_code for _ in range(count)]


def assert_limited(answer: TestResponse, name: str, limit: int, seconds: int = 42) -> None:
    problem = answer.get_json()
    assert (answer.status_code, problem["code"], problem["retry_after"]) == (429, "rate_limited", seconds)
    assert problem["params"] == {"limit": name}
    assert f"`{name}`" in problem["detail"]
    assert answer.headers.getlist("Retry-After") == [str(seconds)]
    assert_quota(answer, name, limit, 0, seconds)


def assert_quota(answer: TestResponse, name: str, limit: int, left: int, seconds: int = 42) -> None:
    assert answer.headers.getlist("RateLimit-Policy") == [f'"{name}";q={limit};w=60']
    assert answer.headers.getlist("RateLimit") == [f'"{name}";r={left};t={seconds}']


# ── Creating ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_creating_is_limited_by_address_across_workers(workers: Workers, clock: Clock) -> None:
    one, other = workers(2, create=3)
    for left, api in ((2, one), (1, other), (0, one)):
        answer = create(api)
        assert answer.status_code == 201
        assert_quota(answer, "create", 3, left)
    for api in (one, other):
        assert_limited(create(api), "create", 3)
    clock.now += 42
    assert_quota(create(other), "create", 3, 2, 60)


def test_a_rejected_request_to_create_counts_too(workers: Workers) -> None:
    (api,) = workers(create=2)
    assert_quota(api.post("/v1/games", {"variant": "none"}), "create", 2, 1)
    assert create(api).status_code == 201
    assert create(api).status_code == 429
    shown = api.client.application.extensions["domino"].metrics.text().decode()
    assert 'domino_rate_limited_total{limit="create"} 1.0' in shown
    assert 'domino_rate_limited_total{limit="read"} 0.0' in shown


def test_a_replay_counts_the_tiles_that_it_lays_as_reads(workers: Workers) -> None:
    path = file_of(next(recorded("domino")))
    reads = sum([isinstance(event, Played) for event in events_in(record_in(path))]) // PLACES_PER_READ
    (api,) = workers(read=reads)
    record = path.read_text("utf-8")
    assert api.post("/v1/replays", record).status_code == 200
    assert_limited(api.post("/v1/replays", record), "read", reads)
    assert api.post("/v1/verifications", record).status_code == 200


def test_a_replay_is_counted_before_it_is_parsed(workers: Workers) -> None:
    """A refused one costs next to nothing: here a text that is no record, from its first line on."""
    (api,) = workers(read=10)
    line = "\n1. 0: 6-6" * PLACES_PER_READ
    assert api.post("/v1/replays", "no record" + line * 10).status_code == 422
    assert_limited(api.post("/v1/replays", "no record" + line), "read", 10)


def test_a_large_body_counts_as_several_requests(workers: Workers) -> None:
    (api,) = workers(create=40)
    for left, length in ((39, BODY_UNIT_BYTES - 100), (37, BODY_UNIT_BYTES), (31, 5 * BODY_UNIT_BYTES)):
        answer = api.post("/v1/verifications", "x" * length)
        assert answer.status_code == 422
        assert_quota(answer, "create", 40, left)
    players = [{"name": "Ada"}, {"name": "Bo"}]
    answer = api.post("/v1/games", {"continues": {"record": "x" * BODY_UNIT_BYTES * 5}, "players": players})
    assert_quota(answer, "create", 40, 25)
    answer = api.ask("POST", "/v1/games", content_type="application/json", **as_stream(b" " * BODY_UNIT_BYTES))
    assert_quota(answer, "create", 40, 23)
    too_large = api.post("/v1/games", {"x": "x" * MAX_BODY_BYTES})
    assert_limited(too_large, "create", 40)


def test_the_files_of_the_documentation_count_as_reads(workers: Workers) -> None:
    (api,) = workers(read=2 * READS_PER_FILE)
    assert statuses(3, lambda: api.client.get("/docs/swagger-ui.css", buffered=True)) == [200, 200, 429]


def test_joining_counts_whatever_the_body(workers: Workers) -> None:
    (api,) = workers(create=4)
    table = api.create("domino", [{"name": "Ada"}, {"open": True}])
    rejected = api.post(f"{table.path}/players", {"k": "x" * BODY_UNIT_BYTES})
    assert rejected.status_code == 422
    assert_quota(rejected, "create", 4, 1)
    assert_quota(api.join(table), "create", 4, 0)
    assert_limited(api.join(table), "create", 4)


def test_another_address_has_its_own_limit(workers: Workers, address: str) -> None:
    (api,) = workers(create=1)
    assert create(api).status_code == 201
    api.client.environ_base["REMOTE_ADDR"] = address.replace("::1", ":0:ffff::9")
    assert create(api).status_code == 429, "the same network of 64 bits"
    api.client.environ_base["REMOTE_ADDR"] = address.replace("2001:", "2002:")
    assert create(api).status_code == 201


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("192.0.2.7:61234", "192.0.2.7"),
        ("[2001:db8:1:2:3:4:5:6]:61234", "2001:db8:1:2::"),
        ("[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::"),
        ("[::ffff:192.0.2.7]:61234", "192.0.2.7"),
        ("2001:db8::1:8080", "2001:db8::"),
        ("[192.0.2.7]:1", "192.0.2.7"),
        ("192.0.2.7:", "unknown"),
        ("192.0.2.7:x", "unknown"),
        ("[2001:db8::1]8080", "unknown"),
        ("[]:80", "unknown"),
        ("", "unknown"),
        ("x" * 1000, "unknown"),
    ],
)
def test_an_ipv6_address_is_reduced_to_its_network(address: str, network: str) -> None:
    assert client_network(address) == network


def test_forwarded_addresses_count_only_with_a_trusted_proxy(workers: Workers) -> None:
    forwarded = ("spoofed, 192.0.2.1", "spoofed, 192.0.2.2", "other, 192.0.2.2")
    for proxies, expected in ((0, [201, 429, 429]), (1, [201, 201, 429])):
        (api,) = workers(create=1, proxies=proxies)
        answers = [create(api, **{"X-Forwarded-For": each}) for each in forwarded]
        assert [answer.status_code for answer in answers] == expected


def test_the_port_of_a_forwarded_address_does_not_count(workers: Workers) -> None:
    (api,) = workers(create=1, proxies=1)
    for forwarded in (
        ("192.0.2.1:1000", "192.0.2.1:2000", "192.0.2.2:1000"),
        ("[2001:db8:1::1]:1000", "[2001:db8:1::2]:2000", "[2001:db8:2::1]:1000"),
    ):
        answers = [create(api, **{"X-Forwarded-For": each}) for each in forwarded]
        assert [answer.status_code for answer in answers] == [201, 429, 201]


# ── Applications ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_application_creates_and_joins_by_a_quota_of_its_own(
    workers: Workers, address: str, app_key: str, other_key: str
) -> None:
    (api,) = workers(create=1, app_games=3)
    assert_quota(create(api, app_key), "app_games", 3, 2)
    table = own_game(api, app_key)
    api.client.environ_base["REMOTE_ADDR"] = address.replace("2001:", "2002:")
    body = {"name": "Bo", "join_code": table.join_code}
    assert_quota(api.post(f"{table.path}/players", body, token=app_key), "app_games", 3, 0)
    assert_limited(create(api, app_key), "app_games", 3)
    assert [create(api, key).status_code for key in (other_key, None, None)] == [201, 201, 429]


def test_all_keys_of_an_application_count_together(workers: Workers, backends: BackendsFacade, app_key: str) -> None:
    one, another = workers(2, app_games=2, app=2)
    new = backends.keys.rotate(app_key[4:28]).answer.key
    asked = ((one, app_key), (another, new), (one, new))
    assert [create(api, key).status_code for api, key in asked] == [201, 201, 429]


def test_every_request_of_an_application_counts(workers: Workers, app_key: str, other_key: str) -> None:
    (api,) = workers(app=5)
    table = own_game(api, app_key)
    assert_quota(api.get("/v1/app", token=app_key), "app", 5, 3)
    assert statuses(4, lambda: api.get(table.path, token=app_key)) == [200, 200, 200, 429]
    assert_limited(api.get("/v1/app", token=app_key), "app", 5)
    assert (api.get("/v1/app", token=other_key).status_code, api.get(table.path).status_code) == (200, 200)


def give(backends: BackendsFacade, key: str, **limits: int | None) -> None:
    """Give the application of a key limits of its own, as the operator does."""
    backends.keys.change(key[4:28], lambda before: before._replace(limits=before.limits._replace(**limits)))


def test_applications_have_own_limits(workers: Workers, backends: BackendsFacade, app_key: str, other_key: str) -> None:
    one, another = workers(2, app=2, app_games=1)
    give(backends, app_key, requests=4, games=3)
    for left, api in ((2, one), (1, another), (0, one)):
        assert_quota(create(api, app_key), "app_games", 3, left)
    assert_limited(create(another, app_key), "app_games", 3)
    assert_limited(another.get("/v1/app", token=app_key), "app", 4)
    assert_quota(create(one, other_key), "app_games", 1, 0)
    assert_limited(create(one, other_key), "app_games", 1)


def test_an_application_without_own_limits_has_the_usual_ones_again(
    workers: Workers, backends: BackendsFacade, app_key: str, clock: Clock
) -> None:
    (api,) = workers(app=50, app_games=40)
    give(backends, app_key, requests=0, games=0)
    limits = api.get("/v1/app", token=app_key).get_json()["limits"]
    assert not {"requests_per_minute", "games_per_minute"} & limits.keys()
    assert "RateLimit" not in create(api, app_key).headers
    give(backends, app_key, requests=None, games=30)
    clock.now += 60
    told = api.get("/v1/app", token=app_key)
    assert_quota(told, "app", 50, 49)
    limits = told.get_json()["limits"]
    assert (limits["requests_per_minute"], limits["games_per_minute"]) == (50, 30)


def test_requests_for_a_game_count_by_its_owner(workers: Workers, backends: BackendsFacade, app_key: str) -> None:
    (api,) = workers(app=100)
    table = own_game(api, app_key)
    give(backends, app_key, requests=3)
    assert statuses(3, lambda: api.get(table.path, token=app_key)) == [200, 200, 429]


@pytest.mark.parametrize(
    ("limits", "expected"), [({"app": 10, "read": 1}, [200, 200, 429, 429]), ({"app": 0, "read": 4}, [200, 429])]
)
def test_the_history_that_an_application_reads_counts_as_its_requests_or_without_a_limit_as_reads(
    workers: Workers, app_key: str, limits: dict[str, int], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.web.events.routes.EVENTS_PER_READ", 1)
    (api,) = workers(**limits)
    table = own_game(api, app_key)
    api.take_seat(table)
    assert statuses(len(expected), lambda: api.get(f"{table.path}/events", token=app_key)) == expected
    if not limits["app"]:
        assert statuses(20, lambda: api.get(table.path, token=app_key)) == [200] * 20


def test_after_too_many_failures_no_join_code_is_looked_up(workers: Workers) -> None:
    (api,) = workers(failure=2)
    code = api.create("domino", [{"name": "Ada"}, {"open": True}]).join_code
    for _ in range(2):
        assert api.post("/v1/seats", {"name": "Eve", "join_code": "ACDEFGHJ"}).status_code == 403
    for each in ("ACDEFGHJ", code):
        assert_limited(api.post("/v1/seats", {"name": "Eve", "join_code": each}), "failure", 2)


def test_a_wrong_key_counts_as_a_failure_wherever_it_is_shown(workers: Workers, app_key: str) -> None:
    (api,) = workers(failure=3)
    wrong = app_key[:-1]
    assert create(api, wrong).status_code == 401
    for path in ("/v1/app", f"/v1/games/{'A' * 24}"):
        assert api.get(path, token=wrong).status_code == 401
    for answer in (api.get("/v1/app", token=wrong), create(api, wrong)):
        assert_limited(answer, "failure", 3)
    assert create(api, app_key).status_code == 201


# ── Failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def fail(api: Api, table: Table, elsewhere: Table) -> list[TestResponse]:
    """All kinds of failures: a wrong and a foreign token, a missing game, a wrong code, a wrong path."""
    join = {"name": "Mallory", "join_code": "WRONG"}
    return [
        api.get(table.path, token="seat_wrong"),
        api.get(table.path, token=elsewhere.tokens[0]),
        api.get(f"/v1/games/{'A' * 24}", token=table.tokens[0]),
        api.get("/v1/games/none"),
        api.get(f"{table.path}/none"),
        api.post(f"{table.path}/players", join),
        api.post(f"{table.path}/moves", {"action": "pass"}),
        api.get(f"{table.path}/moves", headers={"Authorization": "Basic x"}),
        api.get(f"{table.path}/events", token="seat_wrong"),
    ]


def test_after_too_many_failures_all_failures_get_the_same_response(workers: Workers) -> None:
    one, other = workers(2, failure=9)
    table, elsewhere = one.create("domino", [{"name": "Ada"}, {"open": True}]), one.create("domino", 2)
    assert {answer.status_code for answer in fail(one, table, elsewhere)} == {401, 403, 404}
    answers = fail(other, table, elsewhere)
    assert {(answer.status, answer.data, str(answer.headers)) for answer in answers} == {
        (answers[0].status, answers[0].data, str(answers[0].headers))
    }
    assert_limited(answers[0], "failure", 9)


def test_a_valid_token_is_not_limited_by_failures(workers: Workers) -> None:
    (api,) = workers(failure=1)
    table = api.create("domino", 2)
    assert statuses(4, lambda: api.get(table.path, token="seat_wrong")) == [401, 429, 429, 429]
    table.make_legal_move()
    assert api.get(table.path).status_code == 200
    assert api.get("/v1/variants/none").status_code == 404, "failures on public resources are not counted"


# ── Seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_limited_by_seat(workers: Workers, clock: Clock) -> None:
    (api,) = workers(seat=8)
    table = api.create("domino", 2)
    assert statuses(8, lambda: table.get("", 0)) == [200] * 8
    for path in ("", "/moves", "/score", "/events"):
        assert_limited(table.get(path, 0), "seat", 8)
    assert_limited(table.move(0, {"action": "pass"}), "seat", 8)
    assert statuses(9, table.get) == [200] * 9, "spectators have no seat"
    assert table.get("", 1).status_code == 200
    clock.now += 60
    assert table.get("", 0).status_code == 200


@pytest.mark.parametrize("seat", [0, 100], ids=["no limit of requests", "a limit of requests"])
def test_leaving_and_coming_back_are_limited_by_seat(workers: Workers, clock: Clock, seat: int) -> None:
    (api,) = workers(seat=seat)
    table = api.create("domino", 2)

    def put_presence(seat: int, *, away: bool) -> TestResponse:
        return api.put(f"{table.path}/players/{seat}/presence", {"away": away}, token=table.tokens[seat])

    for turn in range(PRESENCE_CHANGES):
        assert put_presence(0, away=turn % 2 == 0).status_code == 200
    version = api.view(table)["version"]
    assert_limited(put_presence(0, away=True), "presence", PRESENCE_CHANGES)
    assert api.view(table)["version"] == version
    assert put_presence(1, away=True).status_code == 200
    assert api.get(table.path, token=table.tokens[0]).status_code == 200
    clock.now += 60
    assert put_presence(0, away=True).status_code == 200


def test_a_busy_seat_is_counted_across_workers(workers: Workers) -> None:
    apis = cycle(workers(2, seat=8))
    table = next(apis).create("domino", 2)
    assert statuses(10, lambda: next(apis).get(table.path, token=table.tokens[0])) == [200] * 8 + [429] * 2


def test_every_response_to_a_move_has_the_quota_and_a_large_body_counts_as_several(workers: Workers) -> None:
    (api,) = workers(seat=8)
    table = api.create("domino", 2)
    seat = table.to_move()
    for move, status, left in (
        (table.moves(seat)[0], 201, 6),
        ({"action": "pass", "version": 1}, 412, 5),
        ({"action": "x" * 3 * BODY_UNIT_BYTES}, 422, 1),
    ):
        answer = table.move(seat, move)
        assert answer.status_code == status
        assert_quota(answer, "seat", 8, left)


def test_changes_of_a_token_are_limited_by_the_hour(workers: Workers, clock: Clock) -> None:
    clock.now -= clock.now % 3600 - 600
    one, other = workers(2, token=2)
    table = one.create("domino", 2)
    path, token = f"{table.path}/players/0/token", table.tokens[0]
    for api in (one, other):
        token = api.post(path, {}, token=token).get_json()["token"]
    for api in (one, other):
        limited = api.post(path, {}, token=token)
        assert (limited.status_code, limited.get_json()["retry_after"]) == (429, 3000)
        assert limited.headers["RateLimit-Policy"] == '"token";q=2;w=3600'
    assert one.post(f"{table.path}/players/1/token", {}, token=table.tokens[1]).status_code == 201
    assert one.get(table.path, token=token).status_code == 200
    clock.now += 3000
    assert one.post(path, {}, token=token).status_code == 201


def test_changing_a_token_counts_and_so_does_repeating_it(workers: Workers) -> None:
    (api,) = workers(seat=2)
    table = api.create("domino", 2)
    path, key = f"{table.path}/players/0/token", {"Idempotency-Key": "a-key-of-one-change"}
    first, again = (api.post(path, token=table.tokens[0], headers=key) for _ in range(2))
    assert (first.status_code, again.status_code, first.data) == (201, 201, again.data)
    assert api.post(path, token=first.get_json()["token"]).status_code == 429


def test_an_ordinary_seat_is_counted_without_redis(clock: Clock) -> None:
    def no_redis(key: str, amount: int, seconds: int) -> int:
        raise AssertionError

    limits = rate_limits(no_redis, clock, seat=3000)
    for _ in range(300):
        assert limits.limit_bearer("game", 0, None) is not None


@pytest.mark.parametrize("workers", [1, 2, 3, 8, 64])
@pytest.mark.parametrize("limit", [1, 9, 100, 6000])
def test_a_seat_gets_at_most_a_tenth_more_than_its_limit(clock: Clock, workers: int, limit: int) -> None:
    shared = LocalCounts()
    each = [rate_limits(shared, clock, workers=workers, seat=limit) for _ in range(workers)]
    in_turn = [number % workers for number in range(limit * 2)]
    for order in (in_turn, [worker for worker in range(workers) for _ in range(limit)]):
        clock.now += 60
        made = 0
        for worker in order:
            with suppress(RateLimited):
                each[worker].limit_bearer("game", 0, None)
                made += 1
        assert limit <= made <= limit + limit // 10


# ── No limit, no Redis ───────────────────────────────────────────────────────────────────────────────────────────────


def test_without_limits_there_are_no_headers(workers: Workers) -> None:
    (api,) = workers()
    answer = create(api)
    assert answer.status_code == 201
    assert not {"RateLimit", "RateLimit-Policy"} & set(answer.headers.keys())


def test_redis_holds_one_counter_per_minute(workers: Workers, server: redis.Redis, address: str, clock: Clock) -> None:
    (api,) = workers(create=5)
    create(api)
    keys: Any = server.keys(f"domino:limit*{client_network(address)}*")
    (key,) = keys
    assert key.decode() == f"domino:limit:create/{client_network(address)}/{int(clock.now) // 60}"
    assert 0 < server.ttl(key) <= 60
    assert server.get(key) == b"1"


def test_when_redis_fails_workers_count_locally_until_it_is_back(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = time.monotonic()
    monkeypatch.setattr("service.limits.windows.time.monotonic", lambda: now)
    server = RealServer(tmp_path)
    try:
        limits = rate_limits(counts_at(server.url), clock, create=3)
        assert left(limits) == 2
        server.kill()
        with caplog.at_level(logging.WARNING):
            assert [left(limits), left(limits), left(limits)] == [2, 1, 0]
        assert [each.name for each in caplog.records].count("service.limits.windows") == 1
        with pytest.raises(RateLimited):
            limits.count("create", "192.0.2.1")
        server.start()
        now += FALLBACK_SECONDS
        clock.now += 60
        other = rate_limits(counts_at(server.url), clock, create=3)
        assert [left(limits), left(other), left(limits)] == [2, 1, 0]
    finally:
        server.stop()


def test_a_hanging_redis_delays_one_request_and_not_for_long(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(command: list[bytes]) -> bytes:
        return b""

    now = time.monotonic()
    monkeypatch.setattr("service.limits.windows.time", SimpleNamespace(monotonic=lambda: now))
    with FakeServer(silent) as server:
        limits = rate_limits(counts_at(server.url), clock, create=1000)
        with counted(), within(FALLBACK_SECONDS):
            assert left(limits) == 999
        received = len(server.commands)
        assert received > 0
        assert [left(limits) for _ in range(99)] == list(range(998, 899, -1))
        assert len(server.commands) == received


def left(limits: RateLimits) -> int:
    quota = limits.count("create", "192.0.2.1")
    assert quota is not None
    return quota.remaining
