"""The trace of a request is that of the computer player's move and of the messages that follow from it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.backends.endpoints import Listener
from tests.support.serving import Service
from tests.whole.table import PATIENCE, Table, connect

pytestmark = pytest.mark.full

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def traced(service: Service) -> dict[str, list[dict[str, Any]]]:
    """The lines of the trace, by their message."""
    lines = [json.loads(line) for line in list(service.lines) if line.startswith("{")]
    found: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if line.get("trace_id") == TRACE:
            found.setdefault(line["message"], []).append(line)
    return found


def move_until_the_other(table: Table, **headers: str) -> None:
    """Draw as long as there is nothing to lay, then lay a tile or pass."""
    moves = table.moves(0)
    while moves:
        assert table.move(0, moves[0], **headers).status_code == 201
        moves = table.moves(0) if moves[0]["action"] == "draw" else []


def test_what_follows_from_a_request_has_its_trace(tmp_path: Path) -> None:
    listener = Listener()
    with Service(tmp_path, APPS="open", WEBHOOK_NETWORKS="127.0.0.0/8") as service, connect(service.url) as http:
        key = http.post("/v1/apps", json={"name": "Club"}).raise_for_status().json()["key"]
        owner = {"Authorization": f"Bearer {key}"}
        wanted = {"url": listener.url, "events": ["game.turn", "game.round_over", "game.finished"]}
        http.post("/v1/webhooks", json=wanted, headers=owner).raise_for_status()
        until(lambda: http.get("/v1/webhooks", headers=owner).json()["webhooks"][0]["status"] == "active")
        game = {"variant": "domino", "players": [{"name": "Ada"}, {"bot": "greedy"}], "pace": 0}
        table = Table(http, http.post("/v1/games", json=game, headers=owner).raise_for_status().json())
        until(lambda: table.to_move() == 0)
        before = len(listener.received)
        assert not any("traceparent" in each.headers for each in listener.received)
        move_until_the_other(table, traceparent=f"00-{TRACE}-00f067aa0ba902b7-01")
        until(lambda: "move of a computer player" in traced(service))
        until(lambda: "message to an endpoint" in traced(service))
        sent = [each.headers["traceparent"] for each in listener.received[before:] if "traceparent" in each.headers]
        assert sent
        for each in sent:
            version, trace, span, flags = each.split("-")
            assert (version, trace, flags) == ("00", TRACE, "01")
            assert span not in ("00f067aa0ba902b7", "0" * 16)
        assert {each["status"] for each in traced(service)["request"]} == {201}
        until(lambda: table.to_move() == 0)
        time.sleep(1)
        before, lines = len(listener.received), {name: len(found) for name, found in traced(service).items()}
        move_until_the_other(table)
        until(lambda: len(listener.received) > before)
        until(lambda: table.to_move() == 0)
        assert not any("traceparent" in each.headers for each in listener.received[before:])
        assert {name: len(found) for name, found in traced(service).items()} == lines
    listener.close()
    assert not any(TRACE in line and key in line for line in service.lines)
