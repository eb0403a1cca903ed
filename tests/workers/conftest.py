"""Real servers for the tests of real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.servers import RealServer
from tests.workers.tables import InProcess


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    with RealServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def table() -> InProcess:
    return InProcess()
