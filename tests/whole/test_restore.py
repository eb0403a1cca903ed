"""Backups are restored: the sessions of ``docs/operations/backup.md``, played amid a match that then goes on."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.storage.servers import RealServer
from tests.support.serving import Service
from tests.support.table import match_finished
from tests.whole.operating import Operator
from tests.whole.table import Table, connect

pytestmark = pytest.mark.nightly

SECRET = "the same secret before and after the restore"
MOVES = 6


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path / "bin")


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Path]:
    """The folder of a restored server; a server that a failed session has left running there is ended."""
    folder = tmp_path / "restored"
    yield folder
    pid = folder / "restore.pid"
    if pid.exists():
        os.kill(int(pid.read_text()), signal.SIGKILL)


def begin(service: Service) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A match of one round after some moves: what its creator was answered, and the view of each seat."""
    with connect(service.url) as http:
        table = Table.create(http, "dominospiel", 2, options={"limit": 1}, seed="a rainy evening")
        for _ in range(MOVES):
            table.make_legal_move()
        return table.created, [table.get(seat=seat).json() for seat in table.tokens]


def go_on(service: Service, created: dict[str, Any], views: list[dict[str, Any]]) -> None:
    """The match is where it was, whole, and is played to its end with the same tokens."""
    with connect(service.url) as http:
        table = Table(http, created)
        assert [table.get(seat=seat).json() for seat in table.tokens] == views
        events = table.get("/events").json()["events"]
        assert [event["version"] for event in events] == list(range(1, views[0]["version"] + 1))
        table.client.play_until(table, match_finished)


def test_the_folder_of_the_embedded_server_is_copied_and_restored(tmp_path: Path, operator: Operator) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    with Service(data) as service:
        match = begin(service)
    operator.run("copy-stopped", DATA_DIR=str(data), BACKUP=str(backup))
    with Service(data) as service:  # what comes after the backup is lost
        begin(service)
    shutil.rmtree(data)
    operator.run("restore-copy", DATA_DIR=str(data), BACKUP=str(backup))
    with Service(data) as service:
        go_on(service, *match)


def test_a_snapshot_of_a_running_server_is_taken_and_restored(
    tmp_path: Path, operator: Operator, restored: Path
) -> None:
    own, backup = tmp_path / "redis", tmp_path / "backup"
    with RealServer(own) as server, Service(tmp_path / "data", REDIS_URL=server.url, SECRET_KEY=SECRET) as service:
        match = begin(service)
        operator.run("snapshot", REDIS_URL=server.url, REDIS_DIR=str(own), BACKUP=str(backup))
        begin(service)
    operator.run("restore-snapshot", BACKUP=str(backup), RESTORED=str(restored))
    with RealServer(restored) as server:
        keys = list(server.admin.scan_iter("domino:{*"))
        assert len(keys) == 2  # the match that was there at the time: its state and its events
        with Service(tmp_path / "data", REDIS_URL=server.url, SECRET_KEY=SECRET) as service:
            go_on(service, *match)
