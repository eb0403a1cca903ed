"""Reads event streams over HTTP: server-sent events and newline-delimited JSON."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from tests.support.waiting import PATIENCE
from tests.whole.table import Table

Event = dict[str, Any]

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"


class StreamReader(AbstractContextManager["StreamReader"]):
    """One stream of a table, read as it comes; every wait for the next byte ends."""

    def __init__(
        self, table: Table, seat: int | None = None, after: int | None = None, media_type: str = SSE, **query: int
    ) -> None:
        self._sse = media_type == SSE
        self._rest = b""
        where = table.http.base_url
        self.connection = http.client.HTTPConnection(where.host, where.port, timeout=PATIENCE)
        headers = {"Accept": media_type, **table.headers(seat)}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        self.connection.request("GET", f"{table.path}/events?{asked}", headers=headers)
        self.answer = self.connection.getresponse()

    def __exit__(self, *_: object) -> None:
        self.answer.close()
        self.connection.close()

    def events(self, most_bytes: int = 1 << 30) -> Iterator[Event]:
        """Every event as it comes, to the end of the stream or of so many bytes."""
        left = most_bytes
        while left:
            data = self.answer.read1(min(left, 65536))
            if not data:
                return
            left -= len(data)
            *blocks, self._rest = (self._rest + data).split(b"\n\n" if self._sse else b"\n")
            for block in blocks:
                event = self._event(block)
                if event is not None:
                    yield event

    def take(self, count: int) -> list[Event]:
        """The next events, so many of them."""
        events_read: list[Event] = []
        for event in self.events():
            events_read.append(event)
            if len(events_read) == count:
                return events_read
        raise AssertionError(f"the stream ended after {len(events_read)} events")

    def until(self, version: int) -> list[Event]:
        """The next events up to this version."""
        events_read: list[Event] = []
        for event in self.events():
            events_read.append(event)
            if event["version"] >= version:
                return events_read
        raise AssertionError("the stream ended before")

    def _event(self, block: bytes) -> Event | None:
        event: Event
        if not self._sse:
            if not block:
                return None
            event = json.loads(block)
            return event
        fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if b": " in line)
        if b"data" not in fields:
            return None
        event = json.loads(fields[b"data"])
        assert (b"id" in fields) == (event["type"] != "closing")
        assert fields.get(b"id", b"%d" % event["version"]) == b"%d" % event["version"]
        return event
