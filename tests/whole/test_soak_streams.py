"""Two thousand streams at once: the delay of their events, and the memory of each."""

from __future__ import annotations

import json
import re
import selectors
import socket
import subprocess
import sys
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.serving import ROOT, Service
from tests.support.supervised import linux_only
from tests.whole.table import Table, connect

STREAMS = 2000
PACE = 50
SECONDS = 20
WARM_SECONDS = 2
OPEN_SECONDS = 30
MAX_DELAY = 0.05
MAX_BYTES = 40 * 1024

pytestmark = [pytest.mark.soak, linux_only]


class Stream(AbstractContextManager["Stream"]):
    """One open stream, and when each of its events was received."""

    def __init__(self, address: tuple[str, int], game: int, path: str, token: str | None) -> None:
        self.game = game
        self.received: dict[int, float] = {}
        self._rest = b""
        self.connection = socket.create_connection(address, timeout=30)
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        head = f"GET {path}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{bearer}\r\n"
        self.connection.sendall(head.encode())

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def read(self) -> None:
        now = time.monotonic()
        data = self.connection.recv(65536)
        assert data, "the stream has ended"
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"id: "):
                version = int(line[4:])
                assert version == max(self.received, default=0) + 1, "a gap, or one event twice"
                self.received[version] = now


def resident_bytes(service: Service) -> int:
    """The bytes of memory that the workers hold."""
    workers = service.workers()
    assert len(workers) == 2
    pages = [int(Path(f"/proc/{pid}/smaps_rollup").read_text().partition("Pss:")[2].split()[0]) for pid in workers]
    return sum(pages) * 1024


@pytest.mark.parametrize(("games", "seats"), [(500, 3), (40, 3)])
def test_two_thousand_streams_get_fifty_moves_a_second_without_delay(games: int, seats: int, tmp_path: Path) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(Service(tmp_path / "data", WORKERS="2", GRACEFUL_TIMEOUT="5"))
        where = urlsplit(service.url)
        assert where.hostname
        assert where.port
        with connect(service.url) as http:
            tables = [Table.create(http, "domino", seats, options={"limit": 1000}) for _ in range(games)]
        warm = [stack.enter_context(Stream((where.hostname, where.port), 0, tables[0].path, None)) for _ in range(20)]
        for stream in warm:
            stream.read()
        before = resident_bytes(service)
        streams, selector = [], selectors.DefaultSelector()
        for number in range(STREAMS):
            table = tables[number % games]
            token = table.tokens.get(number // games % (seats + 1))  # the last one is a spectator
            stream = stack.enter_context(Stream((where.hostname, where.port), number % games, table.path, token))
            selector.register(stream.connection, selectors.EVENT_READ, stream)
            streams.append(stream)
        began = time.monotonic()
        while not all(stream.received for stream in streams):
            assert time.monotonic() < began + OPEN_SECONDS
            read_until(selector, time.monotonic() + 0.1)
        read_until(selector, time.monotonic() + WARM_SECONDS)
        with_streams = resident_bytes(service)

        move_process = subprocess.Popen(
            [sys.executable, "-m", "tests.whole.move_client", where.netloc, str(PACE), str(SECONDS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=stack.enter_context((tmp_path / "moves").open("wb")),
        )
        assert move_process.stdin
        move_process.stdin.writelines(json.dumps(table.created).encode() + b"\n" for table in tables)
        move_process.stdin.close()
        try:
            read_until(selector, time.monotonic() + SECONDS + WARM_SECONDS)
            assert move_process.wait(10) == 0
        finally:
            move_process.kill()
            move_process.wait()
        after = resident_bytes(service)
        sent = [line.split() for line in (tmp_path / "moves").read_text().splitlines()]
        received: dict[tuple[int, int], list[float]] = {}
        for stream in streams:
            for version, when in stream.received.items():
                received.setdefault((stream.game, version), []).append(when)
    each = STREAMS // games
    delays = []
    for place, version_before, when_sent in sent:
        arrivals = received.get((int(place), int(version_before) + 1), [])
        assert len(arrivals) == each, "somebody was not told"
        delays += [arrival - float(when_sent) for arrival in arrivals]
    delays.sort()
    p50, p99 = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
    size = (max(with_streams, after) - before) / STREAMS
    print(
        f"\n{STREAMS} streams of {games} games, {len(sent)} moves, {len(delays)} deliveries: "
        f"p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, most {delays[-1] * 1000:.1f} ms; "
        f"{(with_streams - before) / STREAMS / 1024:.1f} KB a stream when open, "
        f"{(after - before) / STREAMS / 1024:.1f} later"
    )
    assert not [line for line in service.lines if re.search(r"ERROR|Traceback", line)]
    assert p99 <= MAX_DELAY
    assert size <= MAX_BYTES


def read_until(selector: selectors.BaseSelector, until: float) -> None:
    """Read all incoming events until then."""
    while (left := until - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            key.data.read()
