"""Nobody but the user of the service can read what it stores."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.support.serving import COMMAND, Service
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

WITH_USUAL_UMASK = ("sh", "-c", 'umask 022; exec "$0" "$@"', *COMMAND)


def test_every_file_and_folder_in_data_dir_is_private_whatever_the_folder_was(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    with Service(folder, command=WITH_USUAL_UMASK, SECRET_KEY="", WORKERS="1") as service, connect(service.url) as http:
        for _ in Table.create(http, "domino", 2, options={"limit": 1}).play(1):
            pass
        found = [path for path in (folder, *folder.rglob("*")) if not path.is_socket()]
        assert {"secret", "server.log", "appendonlydir"} <= {path.name for path in found}
        for path in found:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert any(f"{folder} had permissions 755; they are 700 now" in line for line in service.lines)
