"""What follows a game in tests: pages of events, streams, and an application whose open streams are counted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from prometheus_client import CollectorRegistry, Gauge
from werkzeug.test import TestResponse

from service.games.facade import GamesFacade
from service.web.http.streams import StreamLimits
from tests.api.client import Api, Table, check_item
from tests.support.application import build_streams, create_app

Event = dict[str, Any]
Page = dict[str, Any]

SSE = {"Accept": "text/event-stream"}
LINES = {"Accept": "application/x-ndjson"}
PATIENCE = 20.0
"""Less than the wait of a poll, so that one which ignores what happens is noticed."""


def page(api: Api, table: Table, seat: int | None = None, **query: int | str) -> Page:
    """A page of events."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    answer = api.get(f"{table.path}/events?{asked}", token=None if seat is None else table.tokens[seat])
    assert answer.status_code == 200, answer.json
    shown: Page = answer.json  # type: ignore[assignment]
    return shown


def everything(api: Api, table: Table, seat: int | None = None) -> list[Event]:
    """All events."""
    shown = page(api, table, seat, limit=1000)
    assert not shown["more"]
    events: list[Event] = shown["events"]
    return events


def stream(
    api: Api,
    table: Table,
    seat: int | None = None,
    query: str = "",
    *,
    headers: Mapping[str, str] = SSE,
    last: str | None = None,
) -> TestResponse:
    """A stream of the table, after the ``last`` id; its body is read in pieces."""
    token = None if seat is None else table.tokens[seat]
    headers = headers if last is None else {**headers, "Last-Event-ID": last}
    return api.ask_unchecked("GET", f"{table.path}/events{query}", token=token, headers=headers, buffered=False)


def events_in(chunk: bytes) -> list[Event]:
    """The events in a piece of a stream of server-sent events, each with the id that it came under as ``id``."""
    events = []
    for block in chunk.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in fields:
            assert set(fields) <= {"retry", "id", "data"}, "no event has a name"
            item = json.loads(fields["data"])
            check_item(item)
            events.append({**item, **({"id": int(fields["id"])} if "id" in fields else {})})
    return events


def lines_in(sent: bytes) -> list[Event]:
    """The events in a piece of a stream of lines."""
    events = [json.loads(line) for line in sent.splitlines() if line.startswith(b"{")]
    for event in events:
        check_item(event)
    return events


def rest_of_stream(answer: TestResponse) -> bytes:
    """The rest of a stream, which must end."""
    sent = b""
    with closing(answer):
        for count, chunk in enumerate(answer.iter_encoded()):
            assert count < 200, "it does not end"
            sent += chunk
    return sent


def read_events(chunks: Iterator[bytes], count: int) -> list[Event]:
    """The next events of a stream, so many of them."""
    events: list[Event] = []
    for _ in range(1000):
        if len(events) >= count:
            return events
        events += events_in(next(chunks))
    raise AssertionError("they never came")


def make_move(api: Api, table: Table) -> int:
    """Make the first legal move; the version then."""
    return int(api.make_legal_move(table)["version"])


class Watched:
    """An application whose open streams are counted; ``keepalive`` is the time between its keep-alives in seconds."""

    def __init__(self, games: GamesFacade, limits: StreamLimits = StreamLimits(100), alive: float = 0.1) -> None:  # noqa: B008 # immutable
        self.games = games
        self._registry = CollectorRegistry()
        self.streams = build_streams(limits, Gauge("open_streams", "Open streams.", registry=self._registry), alive)
        self.app = create_app(games, self.streams)
        self.api = Api(self.app.test_client(use_cookies=False))

    def until(self, open_streams: int) -> None:
        """Wait until so many are open."""
        deadline = time.monotonic() + PATIENCE
        while self._registry.get_sample_value("open_streams") != open_streams:
            assert time.monotonic() < deadline
            time.sleep(0.01)
