"""The middleware: request ids, security headers, the access log and the metrics."""

from __future__ import annotations

import io
import json
import logging
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.games.store.notifications import RedisEventFeed
from service.json_logging import JsonFormatter
from service.metrics import Metrics
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.web.app import Application, create_metrics_app
from service.web.http.streams import StreamLimits
from tests.api.client import Api, Table
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.support.application import build_streams, create_app
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_store
from tests.support.table import round_over

pytestmark = pytest.mark.gate

FRESH_ID = re.compile(r"[A-Za-z0-9_-]{16}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TILE = re.compile(r"\b\d{1,2}-\d{1,2}\b")
STRICT = "default-src 'none'; frame-ancestors 'none'"

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def watched(redis_url: str) -> Application:
    """An application with metrics of its own, over the shared server."""
    metrics = Metrics()
    nodes = SingleNodeTopology(connect(redis_url))
    store = redis_store(nodes, TTL_SECONDS, observe=metrics.redis)
    games = build_games(store, RedisEventFeed(nodes), [SECRET], TTL_SECONDS, observe=metrics.write_committed)
    return create_app(games, build_streams(StreamLimits(10), metrics.streams), metrics=metrics)


@pytest.fixture
def seen(watched: Application) -> Api:
    return Api(watched.test_client(use_cookies=False))


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The lines that the service logs during a test, as JSON."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(JsonFormatter())
    log = logging.getLogger("service")
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    yield lambda: [json.loads(line) for line in text.getvalue().splitlines()]
    log.removeHandler(handler)
    log.setLevel(before[0])
    log.propagate = before[1]


def metrics_text(api: Api) -> str:
    """What the application of the metrics' port shows, of the same service."""
    answer = create_metrics_app(api.client.application.extensions["domino"]).test_client().get("/metrics")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert "no-" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Security-Policy"] == STRICT
    return answer.get_data(as_text=True)


def samples(api: Api) -> dict[tuple[str, ...], float]:
    """The metrics: values by name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics_text(api))
        for sample in family.samples
    }


# ── The id ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("given", ["a", "A.b_c-9", "x" * 64, "seatless"])
def test_the_request_id_of_a_client_is_returned(given: str, api: Api) -> None:
    assert api.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\u00e4", "a/b", "seat_abc", "x-seat_abc", '"a"'])
def test_an_invalid_request_id_is_replaced_by_a_new_one(given: str, api: Api) -> None:
    ids = {api.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3
    assert all(FRESH_ID.fullmatch(each) for each in ids)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/variants"),
        ("HEAD", "/healthz"),
        ("OPTIONS", "/v1/games"),
        ("GET", "/none"),
        ("DELETE", "/v1/games"),
        ("POST", "/v1/games"),
        ("GET", "/v1/games/none/score"),
        ("GET", "/docs"),
        ("GET", "/docs/none.js"),
    ],
)
def test_every_answer_has_an_id_and_the_security_headers(method: str, path: str, api: Api) -> None:
    headers = api.ask(method, path).headers
    assert headers.getlist("X-Request-ID") == ["of-a-test"]
    assert headers.getlist("X-Content-Type-Options") == ["nosniff"]
    assert headers.getlist("Referrer-Policy") == ["no-referrer"]
    assert headers.getlist("X-Frame-Options") == ["DENY"]
    assert headers.getlist("Cross-Origin-Resource-Policy") == ["cross-origin"]
    assert headers.getlist("Content-Security-Policy") == [STRICT]


def test_the_docs_page_may_run_only_its_own_scripts(api: Api) -> None:
    page = api.get("/docs/")
    (policy,) = page.headers.getlist("Content-Security-Policy")
    (script,) = re.findall(rb"<script>(.*?)</script>", page.data, re.DOTALL)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == "'none'"
    assert rules["script-src"] == f"'self' 'sha256-{b64encode(sha256(script).digest()).decode()}'"
    assert rules["connect-src"] == "'self'"


def test_no_answer_names_the_server_or_its_version(api: Api) -> None:
    for path in ("/healthz", "/none"):
        assert not {"Server", "X-Powered-By", "Via"} & set(api.get(path).headers.keys())


# ── The log ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_request_is_one_line_that_names_the_template_of_its_route(seen: Api, lines: Lines) -> None:
    table = seen.create("domino", 2)
    seen.view(table, 0)
    created, read = lines()
    assert TIME.fullmatch(created.pop("time"))
    assert created.pop("duration_ms") > 0
    assert created == {
        "level": "info",
        "logger": "service.web.http.middleware",
        "message": "request",
        "request_id": "of-a-test",
        "method": "POST",
        "route": "/v1/games",
        "status": 201,
    }
    assert (read["method"], read["route"], read["status"]) == ("GET", "/v1/games/<game>", 200)


@pytest.mark.parametrize(
    ("method", "path", "logged"),
    [
        ("GET", "/v1/games/none", ("GET", "/v1/games/<game>", 404, "not_found")),
        ("GET", "/secret/path?and=query", ("GET", "-", 404, "not_found")),
        ("PROPFIND", "/v1/games", ("other", "-", 405, "method_not_allowed")),
        ("PUT", "/v1/games", ("PUT", "-", 405, "method_not_allowed")),
        ("POST", "/v1/games", ("POST", "/v1/games", 415, "unsupported_media_type")),
    ],
)
def test_a_refusal_is_logged(
    method: str, path: str, logged: tuple[str, str, int, str], seen: Api, lines: Lines
) -> None:
    seen.ask(method, path)
    (line,) = lines()
    assert (line["method"], line["route"], line["status"], line["code"]) == logged


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_the_trace_of_a_request_is_in_its_line(seen: Api, lines: Lines) -> None:
    for flags in ("00", "01", "ff"):
        seen.get("/healthz", headers={"Traceparent": f"00-{TRACE}-00f067aa0ba902b7-{flags}"})
        assert lines()[-1]["trace_id"] == TRACE


@pytest.mark.parametrize(
    "sent",
    [
        *("", TRACE, f"00-{TRACE}-00f067aa0ba902b7", f"00-{TRACE}-00f067aa0ba902b7-01-x"),
        *(f"00-{TRACE}-00f067aa0ba902b7-01\n", f" 00-{TRACE}-00f067aa0ba902b7-01, 00-{TRACE}-00f067aa0ba902b7-01"),
        *(f"00-{TRACE.upper()}-00f067aa0ba902b7-01", f"00-{'0' * 32}-00f067aa0ba902b7-01"),
        *(f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-00f067aa0ba902b7-01", f"00-{'४' * 32}-00f067aa0ba902b7-01"),
        *("00-" + "a" * 100_000 + "-00f067aa0ba902b7-01", "seat_" + "A" * 43),
    ],
)
def test_an_invalid_trace_is_not_logged(sent: str, seen: Api, lines: Lines) -> None:
    tracing = {"Tracestate": "seat_of=nobody", "Baggage": "seat_of=nobody", "Sentry-Trace": "seat_of-nobody-1"}
    answer = seen.ask_unchecked("GET", "/healthz", headers=tracing, environ_overrides={"HTTP_TRACEPARENT": sent})
    assert answer.status_code == 200
    (line,) = lines()
    assert line.keys() == {
        *("time", "level", "logger", "message", "request_id", "method", "route", "status", "duration_ms")
    }
    assert "nobody" not in str(line)


def test_a_stream_is_logged_and_counted_when_it_has_ended(watched: Application, seen: Api, lines: Lines) -> None:
    table = seen.create("domino", 2)
    answer = watched.test_client().get(f"{table.path}/events", headers={"Accept": "text/event-stream"})
    body = iter(answer.response)
    next(body)
    assert [line["route"] for line in lines()] == ["/v1/games"]
    assert samples(seen)["domino_open_streams",] == 1
    answer.close()
    assert lines()[-1]["route"] == "/v1/games/<game>/events"
    assert samples(seen)["domino_open_streams",] == 0


def test_a_failure_is_logged_with_its_stack_but_no_message(watched: Application, seen: Api, lines: Lines) -> None:
    @watched.get("/broken")
    def broken() -> str:
        try:
            hands: dict[str, str] = {}
            return hands["5-12"]
        except KeyError as error:
            raise RuntimeError("the token seat_abc") from error

    assert seen.get("/broken").status_code == 500
    failure, request = lines()
    assert (failure["level"], failure["message"], failure["request_id"]) == ("error", "internal error", "of-a-test")
    assert [line for line in failure["stack"] if ":" not in line] == ["builtins.KeyError", "builtins.RuntimeError"]
    assert any(line.endswith(" broken") for line in failure["stack"])
    assert (request["status"], request["code"]) == (500, "internal")
    assert "5-12" not in json.dumps(failure)
    assert "seat_abc" not in json.dumps(failure)


# ── The metrics ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_counted_by_method_route_and_status(seen: Api) -> None:
    for _ in range(3):
        seen.get(f"/v1/games/{'A' * 24}")
    for path in ("/a", "/b", "/c"):
        seen.get(path)
    seen.ask("BREW", "/v1/games")
    counted = samples(seen)
    assert counted["domino_http_requests_total", "GET", "/v1/games/<game>", "404"] == 3
    assert counted["domino_http_requests_total", "GET", "-", "404"] == 3
    assert counted["domino_http_requests_total", "other", "-", "405"] == 1
    assert counted["domino_http_request_duration_seconds_count", "GET", "/v1/games/<game>"] == 3
    assert counted["domino_redis_command_duration_seconds_count", "read"] == 3


def test_moves_are_counted_by_variant_and_games_by_the_status_they_came_to(seen: Api) -> None:
    table = seen.create("domino", [{"name": "Ada"}, {"open": True}], options={"limit": 1})
    assert samples(seen)["domino_game_status_transitions_total", "waiting"] == 1
    key = {"Idempotency-Key": "k" * 20}
    join = {"name": "Bo", "join_code": table.join_code}
    taken = [seen.post(f"{table.path}/players", join, headers=key) for _ in range(2)]
    assert [answer.headers.get("Idempotent-Replayed") for answer in taken] == [None, "true"]
    joined = taken[0].json
    assert joined is not None
    table.tokens[1] = joined["token"]
    assert samples(seen)["domino_game_status_transitions_total", "playing"] == 1
    played = 0
    for _ in range(500):
        view = seen.view(table)
        if view["status"] == "finished":
            break
        seat = view["turn"]["seat"] if "turn" in view else 0
        move = seen.moves(table, seat)[0]
        once = {"Idempotency-Key": f"move-{played}"}
        for _ in range(2):
            assert seen.move(table, seat, move, headers=once).status_code == 201
        played += 1
        assert seen.move(table, seat, move).status_code == 412
    counted = samples(seen)
    assert counted["domino_moves_total", "domino"] == played
    assert counted["domino_game_status_transitions_total", "finished"] == 1
    assert counted["domino_game_status_transitions_total", "waiting"] == 1


def test_a_move_that_brings_its_player_back_counts_as_a_move_and_coming_back_alone_does_not(seen: Api) -> None:
    table = seen.create("domino", 2)
    seat = seen.view(table)["turn"]["seat"]
    path = f"{table.path}/players/{seat}/presence"
    for away in (True, False, True):
        assert seen.put(path, {"away": away}, token=table.tokens[seat]).status_code == 200
    assert samples(seen)["domino_moves_total", "domino"] == 0
    assert seen.move(table, seat, seen.moves(table, seat)[0]).status_code == 201
    assert samples(seen)["domino_moves_total", "domino"] == 1


def test_two_applications_count_apart(redis_url: str, seen: Api) -> None:
    seen.get("/healthz")
    assert b"/healthz" not in Metrics().text()
    assert samples(seen)["domino_http_requests_total", "GET", "/healthz", "200"] == 1


# ── No secrets in either ─────────────────────────────────────────────────────────────────────────────────────────────


def test_no_token_path_game_query_or_tile_is_in_a_line_or_in_the_metrics(seen: Api, lines: Lines) -> None:
    table = seen.create("domino", [{"name": "Secret Ada"}, {"open": True}])
    taken = seen.join(table, "Secret Bo").json
    assert taken is not None
    table.tokens[1] = taken["token"]
    ask_everything(seen, table)
    logged = json.dumps(lines())
    counted = metrics_text(seen)
    secrets = {table.id, table.join_code, *table.tokens.values(), "Secret", "wanted", "seat_wrong", "no-route", "spy"}
    for text in (logged, counted):
        assert [secret for secret in secrets if secret is None or secret in text] == []
        assert not TILE.search(re.sub(r"\d{4}-\d\d-\d\dT", "", text))


def ask_everything(api: Api, table: Table) -> None:
    for path in (table.path, f"{table.path}/moves", f"{table.path}/score", f"{table.path}/no-route", "/no-route"):
        for token in (None, table.tokens[0], "seat_wrong"):
            api.ask_unchecked("GET", f"{path}?wanted=1", token=token, headers={"User-Agent": "spy"})
    for body in ({"action": "play", "tile": "5-12"}, {"action": "fly"}, {"action": "pass", "tile": "0-6"}, [1], None):
        for seat in (0, 1):
            api.move(table, seat, body)
    api.ask("SPY", table.path)
    api.ask("SPY", table.path, headers={"X-Request-ID": table.tokens[0]})
    api.play_until(table, lambda view: view["version"] > 20 or round_over(view))
