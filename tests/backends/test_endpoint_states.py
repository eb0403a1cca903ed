"""What becomes of an endpoint that fails, and for how long it is left alone."""

from __future__ import annotations

from random import Random

import pytest

from service.backends.values import Webhook
from service.backends.webhooks.endpoint_states import (
    DISABLED_AFTER_MS,
    FAILURES_UNTIL_FAILING,
    LONGEST_PROBE_PAUSE_MS,
    LONGEST_RETRY_AFTER_MS,
    MAX_ATTEMPTS,
    PAUSES_MS,
    failed,
    pause,
    resumed,
    succeeded,
)

NOW = 1_800_000_000_000
ACTIVE = Webhook("id", "app", "https://a.example/", (), "active", NOW, b"s", is_verified=True)


def failing(now: int = NOW) -> Webhook:
    webhook = ACTIVE
    for _ in range(FAILURES_UNTIL_FAILING):
        webhook = failed(webhook, now, 0.5, probe=False)
    assert webhook.status == "failing"
    return webhook


def test_pauses_grow_and_vary_by_a_fifth() -> None:
    assert [pause(failures, 0.5) for failures in range(1, 13)] == [*PAUSES_MS, PAUSES_MS[-1], PAUSES_MS[-1]]
    assert list(PAUSES_MS) == sorted(PAUSES_MS)
    random = Random(7)
    waits = [pause(5, random.random()) for _ in range(1000)]
    assert 480_000 <= min(waits) < 485_000
    assert 715_000 < max(waits) <= 720_000


def test_an_endpoint_that_takes_nothing_is_failing_before_a_message_is_put_off_for_longer_than_a_probe() -> None:
    waits = [pause(failures, 1.0) for failures in range(1, FAILURES_UNTIL_FAILING)]
    assert max(waits) <= LONGEST_PROBE_PAUSE_MS
    assert sum(waits) <= 180_000


def test_the_attempts_before_a_message_is_given_up_take_about_three_days() -> None:
    days = sum(pause(failures, 0.5) for failures in range(1, MAX_ATTEMPTS)) / 86_400_000
    assert 2.8 < days < 3.1


def test_an_endpoint_fails_after_five_failures_in_a_row() -> None:
    webhook = ACTIVE
    for _ in range(FAILURES_UNTIL_FAILING - 1):
        webhook = failed(webhook, NOW, 0.5, probe=False)
    assert webhook.status == "active"
    assert failed(succeeded(webhook), NOW, 0.5, probe=False).status == "active"
    assert failed(webhook, NOW, 0.5, probe=False).status == "failing"


def test_attempts_that_were_under_way_do_not_lengthen_the_pause() -> None:
    webhook = failing()
    assert failed(webhook, NOW + 1, 0.5, probe=False) == webhook
    assert failed(webhook, NOW + 5_000, 0.5, probe=True).paused_until == NOW + 5_000 + 30_000


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
def test_an_endpoint_is_probed_until_it_is_disabled_after_three_days(jitter: float) -> None:
    webhook, now, pauses = failing(), NOW, []
    while webhook.status == "failing":
        pauses.append(webhook.paused_until - now)
        now = webhook.paused_until
        webhook = failed(webhook, now, jitter, probe=True)
    assert webhook.status == "disabled"
    assert min(pauses[:-1]) > 0
    assert max(pauses) <= LONGEST_PROBE_PAUSE_MS
    assert len(pauses) < DISABLED_AFTER_MS / 40_000 + 4


def test_a_failing_endpoint_may_ask_for_a_longer_pause_up_to_an_hour() -> None:
    for asked, wait in ((1_000, 30_000), (600_000, 600_000), (9_999_000, LONGEST_RETRY_AFTER_MS)):
        assert failed(failing(), NOW, 0.5, probe=True, retry_after=asked).paused_until == NOW + wait


def test_an_endpoint_is_disabled_when_three_days_are_over() -> None:
    webhook = failing()
    now = NOW
    while webhook.status == "failing":
        now = webhook.paused_until
        webhook = failed(webhook, now, 1.0, probe=True)
    assert now == NOW + DISABLED_AFTER_MS


def test_one_success_makes_an_endpoint_active_again() -> None:
    assert succeeded(failing()) == ACTIVE


def test_a_disabled_endpoint_stays_so_whatever_was_under_way() -> None:
    webhook = failed(ACTIVE, NOW, 0.5, probe=False, gone=True)
    assert webhook.status == "disabled"
    assert succeeded(webhook) == webhook
    assert failed(webhook, NOW, 0.5, probe=True) == webhook
    assert resumed(webhook).status == "active"
    assert resumed(webhook._replace(is_verified=False)).status == "unverified"
