"""Run by ``test_topology`` as a process of its own: many greenlets call a Cluster of which one server freezes.

Arguments: the URL of the Cluster, the address of the server, its process id.
"""

from gevent import monkey

monkey.patch_all()

import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402

import gevent  # noqa: E402

from service.redis.connection import MaybeSent, NotSent  # noqa: E402
from service.redis.topology import Topology, open_topology  # noqa: E402
from tests.storage.clusters import until  # noqa: E402
from tests.storage.waits import counted, within  # noqa: E402

GREENLETS = 200


def call_at_once(topology: Topology, keys: list[bytes], seconds: float) -> list[bool]:
    """For each key whether its call succeeded; none may wait longer than so many seconds."""

    def one(key: bytes) -> bool:
        with within(seconds):
            try:
                served = topology.call(key, (b"SET", key, b"1")) == [b"OK"]
            except (NotSent, MaybeSent):
                served = False
        return served

    greenlets = [gevent.spawn(one, key) for key in keys]
    gevent.joinall(greenlets, raise_error=True)
    return [bool(greenlet.value) for greenlet in greenlets]


def main(url: str, address: str, server: int) -> None:
    """Fails by an assertion."""
    topology = open_topology(url)
    keys = [b"key %d" % number for number in range(GREENLETS)]
    until(lambda: all(call_at_once(topology, keys, 3)))
    frozen = [key for key in keys if topology.node(key) == address]
    healthy = [key for key in keys if topology.node(key) != address]
    assert frozen
    os.kill(server, signal.SIGSTOP)
    try:
        assert not any(call_at_once(topology, frozen, 3))
        assert all(call_at_once(topology, healthy, 0.3))
        until(lambda: all(call_at_once(topology, frozen, 3)))
    finally:
        os.kill(server, signal.SIGCONT)
    until(lambda: all(call_at_once(topology, keys, 3)))


if __name__ == "__main__":
    with counted():
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
