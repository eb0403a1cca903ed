"""What becomes of an endpoint that fails, and for how long it is left alone."""

from __future__ import annotations

from random import Random

import pytest

from service.apps.endpoint_states import (
    DISABLED_AFTER_MS,
    FAILURES_UNTIL_FAILING,
    MOST_ATTEMPTS,
    PAUSES_MS,
    failed,
    pause,
    resumed,
    succeeded,
)
from service.apps.ports import Webhook

NOW = 1_800_000_000_000
ACTIVE = Webhook("id", "app", "https://a.example/", (), "active", NOW, b"s", is_verified=True)


def failing(now: int = NOW) -> Webhook:
    webhook = ACTIVE
    for _ in range(FAILURES_UNTIL_FAILING):
        webhook = failed(webhook, now, 0.5, probe=False)
    assert webhook.status == "failing"
    return webhook


def test_pauses_grow_and_vary_by_a_fifth() -> None:
    assert [pause(failures, 0.5) for failures in range(1, 12)] == [*PAUSES_MS, PAUSES_MS[-1], PAUSES_MS[-1]]
    random = Random(7)
    waits = [pause(3, random.random()) for _ in range(1000)]
    assert 96_000 <= min(waits) < 97_000
    assert 143_000 < max(waits) <= 144_000


def test_the_attempts_before_a_message_is_given_up_take_about_three_days() -> None:
    days = sum(pause(failures, 0.5) for failures in range(1, MOST_ATTEMPTS)) / 86_400_000
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


@pytest.mark.parametrize("luck", [0.0, 0.5, 1.0])
def test_an_endpoint_is_probed_until_it_is_disabled_after_three_days(luck: float) -> None:
    webhook, probes = failing(), 0
    while webhook.status == "failing":
        assert webhook.paused_until > NOW
        webhook = failed(webhook, webhook.paused_until, luck, probe=True)
        probes += 1
    assert webhook.status == "disabled"
    assert 10 <= probes <= 14


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
