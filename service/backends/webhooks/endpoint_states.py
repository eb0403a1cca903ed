"""The states of an endpoint: what an attempt that succeeded or failed makes of it, and the pause that follows.

Owns when an endpoint is tried again, and when it counts as failing or disabled: pure functions of an endpoint, a time
and a random number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.backends.ports import Webhook

LONGEST_PROBE_PAUSE_MS: Final = 60_000
"""The longest time until a failing endpoint is tried again, unless it has asked for more."""
PROBE_PAUSES_MS: Final = (5_000, 30_000, 50_000)
"""Between the probes of a failing endpoint; the last one again and again, which with all its jitter is the longest."""
PAUSES_MS: Final = (*PROBE_PAUSES_MS, 50_000, 600_000, *[hours * 3_600_000 for hours in (1, 3, 6, 12, 24)])
"""Between the attempts to send a message: after the first failure, the second …; the last one again and again.

The pauses before the fifth failure are those of probes: so an endpoint that takes nothing, for which there is only one
message, is failing within three minutes, and is never left alone for longer. The first twelve attempts take about three
days.
"""
MAX_ATTEMPTS: Final = 12
"""Failed attempts after which a message is given up, if the endpoint takes others meanwhile."""
CHALLENGE_PAUSES_MS: Final = (5_000, 30_000, 120_000, 600_000)
"""Between the challenges of an endpoint that has answered none."""
MAX_CHALLENGES: Final = 5
FAILURES_UNTIL_FAILING: Final = 5
DISABLED_AFTER_MS: Final = 3 * 86_400_000
"""The time from the first of its failures in a row until an endpoint is disabled."""
LONGEST_RETRY_AFTER_MS: Final = 3_600_000
_JITTER: Final = 0.2


def pause(failures: int, jitter: float, pauses: Sequence[int] = PAUSES_MS) -> int:
    """Return the milliseconds until the next attempt after these failures; ``jitter`` (0 to 1) varies it by a fifth."""
    base = pauses[min(failures, len(pauses)) - 1]
    return round(base * (1 + _JITTER * (2 * jitter - 1)))


def challenged(webhook: Webhook, now: int, jitter: float, *, answered: bool) -> Webhook:
    """Return the endpoint after a challenge.

    After several that were not answered, none is sent until it is asked for.
    """
    if answered:
        return _recovered(webhook._replace(status="active", is_verified=True))
    failures = webhook.failures + 1
    return webhook._replace(failures=failures, paused_until=now + pause(failures, jitter, CHALLENGE_PAUSES_MS))


def succeeded(webhook: Webhook) -> Webhook:
    """Return the endpoint after a message that it took."""
    if webhook.status == "failing":
        return _recovered(webhook._replace(status="active"))
    # Another message may have been answered with a ``Retry-After``.
    return webhook._replace(failures=0, failing_since=None) if webhook.status == "active" else webhook


def failed(
    webhook: Webhook, now: int, jitter: float, *, probe: bool, retry_after: int | None = None, gone: bool = False
) -> Webhook:
    """Return the endpoint after a failed attempt: the ``probe`` of a failing endpoint, or any to an active one.

    ``retry_after``: milliseconds for which it asked to be left alone. ``gone``: it wants no more messages.
    """
    if webhook.status not in ("active", "failing"):
        return webhook
    since = now if webhook.failing_since is None else webhook.failing_since
    if gone or (now - since >= DISABLED_AFTER_MS and webhook.status == "failing"):
        return webhook._replace(status="disabled", failing_since=since, paused_until=0)
    if webhook.status == "failing" and not probe:
        return webhook  # one of those that were under way when it began to fail
    failures = webhook.failures + 1
    paused = webhook.paused_until
    if failures >= FAILURES_UNTIL_FAILING:
        wait = pause(failures - FAILURES_UNTIL_FAILING + 1, jitter, PROBE_PAUSES_MS)
        # The last probe comes when three days are over, and not after.
        paused = max(now, min(now + wait, since + DISABLED_AFTER_MS))
    if retry_after is not None:
        paused = max(paused, now + min(retry_after, LONGEST_RETRY_AFTER_MS))
    status = "failing" if failures >= FAILURES_UNTIL_FAILING else webhook.status
    return webhook._replace(status=status, failures=failures, failing_since=since, paused_until=paused)


def resumed(webhook: Webhook) -> Webhook:
    """Return the endpoint as it begins anew: active if its URL is verified, else to be challenged."""
    return _recovered(webhook._replace(status="active" if webhook.is_verified else "unverified"))


def _recovered(webhook: Webhook) -> Webhook:
    return webhook._replace(failures=0, failing_since=None, paused_until=0)
