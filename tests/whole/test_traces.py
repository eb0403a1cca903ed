"""The trace of a request is that of all that follows from it: moves of players of every kind, deadlines, messages."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.backends.endpoints import Listener
from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.serving import Service
from tests.support.waiting import until
from tests.whole.operating import Operator
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
OTHER = "0af7651916cd43dd8448eb211c80319c"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"
"""The header of a client."""


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


def goes_on_with_the_trace(header: str, trace: str = TRACE) -> bool:
    """Whether a header is of this trace, with a parent of its own."""
    version, given, span, flags = header.split("-")
    return (version, given, flags) == ("00", trace, "01") and span not in ("00f067aa0ba902b7", "0" * 16)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("own"), WORKERS="1", WEBHOOK_NETWORKS="127.0.0.0/8") as service:
        yield service


def test_what_follows_from_a_request_has_its_trace(own: Service) -> None:
    listener = Listener()
    with connect(own.url) as http:
        key = own.new_key()
        owner = {"Authorization": f"Bearer {key}"}
        wanted = {"url": listener.url, "events": ["game.turn", "game.round_over", "game.finished"]}
        http.post("/v1/webhooks", json=wanted, headers=owner).raise_for_status()
        until(lambda: http.get("/v1/webhooks", headers=owner).json()["webhooks"][0]["status"] == "active")
        game = {"variant": "domino", "players": [{"name": "Ada"}, {"bot": "greedy"}], "pace": 0}
        table = Table(http, http.post("/v1/games", json=game, headers=owner).raise_for_status().json())
        until(lambda: table.to_move() == 0)
        before = len(listener.received)
        assert not any("traceparent" in each.headers for each in listener.received)
        move_until_the_other(table, traceparent=SENT)
        until(lambda: "move of a computer player" in traced(own))
        until(lambda: "message to an endpoint" in traced(own))
        sent = [each.headers["traceparent"] for each in listener.received[before:] if "traceparent" in each.headers]
        assert sent
        assert all(map(goes_on_with_the_trace, sent))
        assert {each["status"] for each in traced(own)["request"]} == {201}
        until(lambda: table.to_move() == 0)
        time.sleep(1)
        before, lines = len(listener.received), {name: len(found) for name, found in traced(own).items()}
        move_until_the_other(table)
        until(lambda: len(listener.received) > before)
        until(lambda: table.to_move() == 0)
        assert not any("traceparent" in each.headers for each in listener.received[before:])
        assert {name: len(found) for name, found in traced(own).items()} == lines
    listener.close()
    assert not any(TRACE in line and key in line for line in own.lines)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the logs of all processes after a move with this trace, and a time-out after it."""
    folder = tmp_path_factory.mktemp("logs")
    with RealServer(folder / "redis") as server, ExitStack() as running:
        service = running.enter_context(Service(folder / "data", REDIS_URL=server.url, SECRET_KEY="s" * 40))
        bots, scheduler = [
            running.enter_context(Background(command, server.url, folder)) for command in ("bots", "scheduler")
        ]
        http = running.enter_context(connect(service.url))
        table = Table.create(http, "domino", [{"name": "Ada"}, {"bot": "greedy"}], pace=0, clock={"turn": 5})
        until(lambda: table.to_move() == 0)
        move_until_the_other(table, traceparent=SENT)
        until(lambda: any([line["message"] == "deadline" for line in scheduler.lines()]), bots.lines)
    (folder / "web.log").write_text("".join([f"{line}\n" for line in service.lines]))
    return folder


@pytest.mark.nightly
def test_a_deadline_has_the_trace_of_the_move_before(logs: Path) -> None:
    (log,) = logs.glob("scheduler-*.log")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (deadline, *_) = [line for line in lines if line["message"] == "deadline"]
    assert (deadline["trace_id"], deadline["then"]) == (TRACE, "bot")


@pytest.mark.nightly
def test_the_command_of_the_page_joins_the_lines_of_all_processes(logs: Path, tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("no jq on the PATH")
    lines = [json.loads(line) for line in Operator(tmp_path / "bin").run("one-trace", cwd=logs).splitlines()]
    assert {line["trace_id"] for line in lines} == {TRACE}
    assert {line["message"] for line in lines} == {"request", "move of a computer player", "deadline"}
    assert [line["time"] for line in lines] == sorted([line["time"] for line in lines])
