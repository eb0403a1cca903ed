"""Metrics are there before what they count has happened, so that an alert sees the first time."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from service.engine.variants import variants
from service.games.ports import Backlog, StoreStats
from service.games.reminders import ReminderKind
from service.metrics import LIMITS, MOVE_ROUTE, Metrics, StoreGauges
from service.reasons import REASONS
from service.redis.calls import ERROR_PREFIXES, WRITE_FAILURES
from service.redis.errors import StorageUnavailable
from service.web.rate_limits import Limits
from service.workers.metrics import WorkerMetrics
from tests.api.client import Api

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]


def shown(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def at_start() -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.failed_writes(WRITE_FAILURES)
    WorkerMetrics(registry)
    kinds = dict.fromkeys(get_args(ReminderKind), Backlog(0, 0.0))
    stats = StoreStats(kinds, (1, 0))
    metrics.show_store(StoreGauges(lambda: stats, lambda: None))
    return shown(metrics.text().decode() or generate_latest(registry).decode())


def test_every_documented_metric_is_there_at_the_start() -> None:
    page = (ROOT / "docs" / "operations" / "observe.md").read_text("utf-8")
    rows = re.findall(r"^\| (`domino_[^|]+) \|", page, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == {re.sub(r"_(bucket|sum|count)$", "", key[0]) for key in at_start()}


@pytest.mark.parametrize(
    "metric", ["domino_time_outs_total", "domino_webhook_deliveries_total", "domino_webhook_endpoint_changes_total"]
)
def test_the_documented_labels_are_there_at_0_and_no_others(metric: str) -> None:
    page = (ROOT / "docs" / "operations" / "observe.md").read_text("utf-8")
    (meaning,) = re.findall(rf"^\| `{metric}` \| `\w+` \| (.*) \|$", page, re.MULTILINE)
    labels = {key[1]: value for key, value in at_start().items() if key[0] == metric}
    assert labels == dict.fromkeys(re.findall(r"`(\w+)`", meaning), 0)


def test_known_labels_are_there_at_0() -> None:
    found = at_start()
    for reason, code in REASONS.items():
        assert found["domino_problems_total", code, reason] == 0
    for key in variants():
        assert found["domino_moves_total", key] == 0
    for reason in (*ERROR_PREFIXES, "timeout", "no replica", "memory reserve"):
        assert found["domino_store_write_errors_total", reason] == 0
    for name, label in (
        ("domino_game_status_transitions_total", "finished"),
        ("domino_bot_fallbacks_total", "first"),
        ("domino_reminder_failures_total", "clock"),
        ("domino_rate_limited_total", "create"),
        ("domino_reminder_lag_seconds_count", "bots"),
        ("domino_bot_decision_seconds_count", "expert"),
        ("domino_redis_command_duration_seconds_count", "commit"),
    ):
        assert found[name, label] == 0
    assert found["domino_http_requests_total", "POST", MOVE_ROUTE, "201"] == 0
    assert found["domino_http_request_duration_seconds_count", "POST", MOVE_ROUTE] == 0
    assert found["domino_build_info", version("domino-service")] == 1


def test_a_refused_request_counts_by_its_reason(api: Api) -> None:
    metrics = api.client.application.extensions["domino"].metrics
    before = shown(metrics.text().decode())
    assert api.get(f"/v1/games/{'x' * 22}").status_code == 404
    assert api.post("/v1/games", {"variant": "mah-jongg"}).status_code == 422
    after = shown(metrics.text().decode())
    counted = [key for key in after if key[0] == "domino_problems_total" and after[key] != before[key]]
    changed = {key[1:]: after[key] - before[key] for key in counted}
    assert changed == {("not_found", "no_such_game"): 1, ("invalid", "not_one_of"): 1}


def test_the_limits_have_the_names_that_are_shown() -> None:
    assert {*Limits._fields, "presence"} == set(LIMITS)


def test_without_the_store_its_gauges_say_only_that() -> None:
    def away() -> StoreStats:
        raise StorageUnavailable("connection")

    metrics = Metrics(CollectorRegistry())
    metrics.show_store(StoreGauges(away, lambda: None))
    found = shown(metrics.text().decode())
    assert found["domino_ready",] == 0
    assert not any(key[0].startswith(("domino_backlog", "domino_store_memory")) for key in found)
