"""The states of an endpoint, and its changes after an attempt: pure functions of endpoint, time and a random number.

Owns when an endpoint is tried again, and when it becomes failing or disabled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.backends.values import Webhook

LONGEST_PROBE_PAUSE_MS: Final = 60_000
"""The longest time until a failing endpoint is tried again, unless its ``Retry-After`` is longer."""
PROBE_PAUSES_MS: Final = (5_000, 30_000, 50_000)
"""Pauses between the probes of a failing endpoint. The last one repeats; jitter can make it the longest pause above."""
PAUSES_MS: Final = (*PROBE_PAUSES_MS, 50_000, 600_000, *[hours * 3_600_000 for hours in (1, 3, 6, 12, 24)])
"""Pauses between the attempts to send a message, after the first failure, the second …. The last one repeats.

The first four are as short as those of probes: an endpoint that refuses everything becomes failing within three
minutes, even if only one message is due to it. The first twelve attempts take about three days.
"""
MAX_ATTEMPTS: Final = 12
"""Failed attempts after which a message is given up. Probes do not count."""
CHALLENGE_PAUSES_MS: Final = (5_000, 30_000, 120_000, 600_000)
"""Pauses between the challenges of an endpoint that has not answered one yet."""
MAX_CHALLENGES: Final = 5
"""Failed challenges after which no more are sent until the application resumes the endpoint."""
FAILURES_UNTIL_FAILING: Final = 5
DISABLED_AFTER_MS: Final = 3 * 86_400_000
"""The time from the first of consecutive failures until an endpoint is disabled."""
LONGEST_RETRY_AFTER_MS: Final = 3_600_000
_JITTER: Final = 0.2


def pause(failures: int, jitter: float, pauses: Sequence[int] = PAUSES_MS) -> int:
    """Return the milliseconds until the next attempt after this number of failures.

    ``jitter``, from 0 to 1, makes it up to a fifth shorter or longer.
    """
    base = pauses[min(failures, len(pauses)) - 1]
    return round(base * (1 + _JITTER * (2 * jitter - 1)))


def challenged(webhook: Webhook, now: int, jitter: float, *, answered: bool) -> Webhook:
    """Return the endpoint after a challenge, which was ``answered`` or has failed."""
    if answered:
        return _recovered(webhook._replace(status="active", is_verified=True))
    failures = webhook.failures + 1
    return webhook._replace(failures=failures, paused_until=now + pause(failures, jitter, CHALLENGE_PAUSES_MS))


def succeeded(webhook: Webhook) -> Webhook:
    """Return the endpoint after a message was delivered."""
    if webhook.status == "failing":
        return _recovered(webhook._replace(status="active"))
    # ``paused_until`` stays: another message may have been answered with a ``Retry-After``.
    return webhook._replace(failures=0, failing_since=None) if webhook.status == "active" else webhook


def failed(
    webhook: Webhook, now: int, jitter: float, *, probe: bool, retry_after: int | None = None, gone: bool = False
) -> Webhook:
    """Return the endpoint after a failed attempt.

    ``probe``: whether the attempt was the probe of a failing endpoint.
    ``retry_after``: milliseconds from its ``Retry-After``.
    ``gone``: whether it answered 410, so it is disabled at once.
    """
    if webhook.status not in ("active", "failing"):
        return webhook
    since = now if webhook.failing_since is None else webhook.failing_since
    if gone or (now - since >= DISABLED_AFTER_MS and webhook.status == "failing"):
        return webhook._replace(status="disabled", failing_since=since, paused_until=0)
    if webhook.status == "failing" and not probe:
        return webhook  # this attempt began before the endpoint became failing
    failures = webhook.failures + 1
    paused = webhook.paused_until
    if failures >= FAILURES_UNTIL_FAILING:
        wait = pause(failures - FAILURES_UNTIL_FAILING + 1, jitter, PROBE_PAUSES_MS)
        # The pause ends when three days are over, so that the last probe is made then.
        paused = max(now, min(now + wait, since + DISABLED_AFTER_MS))
    if retry_after is not None:
        paused = max(paused, now + min(retry_after, LONGEST_RETRY_AFTER_MS))
    status = "failing" if failures >= FAILURES_UNTIL_FAILING else webhook.status
    return webhook._replace(status=status, failures=failures, failing_since=since, paused_until=paused)


def resumed(webhook: Webhook) -> Webhook:
    """Return the endpoint after its application has resumed it: active if its URL is verified, else unverified."""
    return _recovered(webhook._replace(status="active" if webhook.is_verified else "unverified"))


def _recovered(webhook: Webhook) -> Webhook:
    return webhook._replace(failures=0, failing_since=None, paused_until=0)
