"""Run by ``test_connection`` as a process of its own: many greenlets call a server that freezes and thaws.

Arguments: the URL of the server, its process id.
"""

from gevent import monkey

monkey.patch_all()

import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402

from service.games.ports import Commit  # noqa: E402
from service.redis.connection import MAX_CONNECTIONS, POOL_TIMEOUT, connect  # noqa: E402
from service.redis.errors import OutcomeUnknown, StorageUnavailable  # noqa: E402
from service.redis.topology import SingleNodeTopology  # noqa: E402
from tests.storage.waits import counted, within  # noqa: E402
from tests.storage.write_requests import write  # noqa: E402
from tests.support.stores.redis_stores import redis_store  # noqa: E402

GREENLETS = 400
POOL_SECONDS = 60.0
"""The time-out of the pool where all must be served, however slow the machine is."""


def call_at_once(call: Callable[[int], object]) -> Counter[str]:
    """The outcomes when every greenlet calls at once; none may wait for three seconds."""

    def one(number: int) -> str:
        with within(3):
            try:
                call(number)
                outcome = "served"
            except StorageUnavailable as error:
                outcome = error.reason
            except OutcomeUnknown as error:
                outcome = f"unknown: {error.reason}"
        return outcome

    greenlets = [gevent.spawn(one, number) for number in range(GREENLETS)]
    gevent.joinall(greenlets, raise_error=True)
    return Counter(str(greenlet.value) for greenlet in greenlets)


def main(url: str, server: int) -> None:
    """Fails by an assertion."""
    with connect(url) as client:
        store = redis_store(SingleNodeTopology(client), 3600)
        pool: Any = client.connection_pool
        pool.timeout = POOL_SECONDS
        assert call_at_once(lambda number: store.create(f"game {number}", b"s", [b"e"], write())) == {
            "served": GREENLETS
        }

        pool.timeout = POOL_TIMEOUT
        os.kill(server, signal.SIGSTOP)
        try:
            outcomes = call_at_once(lambda number: store.commit(f"game {number}", Commit(1, b"t", [b"f"], write())))
        finally:
            os.kill(server, signal.SIGCONT)
        assert set(outcomes) <= {"unknown: timeout", "pool"}, outcomes
        assert outcomes["unknown: timeout"] >= MAX_CONNECTIONS
        pool.timeout = POOL_SECONDS

        assert call_at_once(lambda number: store.read(f"game {number}")) == {"served": GREENLETS}

        pool.disconnect(inuse_connections=False)
        assert call_at_once(lambda number: store.read(f"game {number}")) == {"served": GREENLETS}

        with connect(url) as other:
            other.client_kill_filter(_type="normal", skipme=True)
        assert call_at_once(
            lambda number: (
                store.commit(f"none {number}", Commit(1, b"t", [b"f"], write())) if number < 0 else store.check()
            )
        ) == {"served": GREENLETS}


if __name__ == "__main__":
    with counted():
        main(sys.argv[1], int(sys.argv[2]))
