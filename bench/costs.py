"""What a request costs: the processor time of all processes that answer it.

Those of the candidate and the Redis server count, the clients do not. Only one candidate is asked at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bench.bursts import STATUS, Kind, Scripts
from bench.driver import Burst, burst
from bench.stand import Candidate, redis_seconds


class Cost(NamedTuple):
    """A burst, and the processor seconds of candidate and Redis for each of its requests."""

    burst: Burst
    seconds: float


def cost(candidate: Candidate, redis: Any, kind: Kind, scripts: Scripts) -> Cost:
    """Send these requests, and measure what they take."""
    before = candidate.seconds() + redis_seconds(redis)
    done = burst(candidate.address, scripts, STATUS[kind])
    taken = candidate.seconds() + redis_seconds(redis) - before
    return Cost(done, taken / len(done.latencies))
