"""What a release consists of, built by the command, and installed into an empty environment as the lock file says.

Needs what the command needs: git, and the index of packages.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.programs import run
from tests.support.released import COMPILED, VERSION, Release
from tests.support.serving import ROOT, Service
from tests.support.table import match_finished
from tests.whole.table import Table, connect
from tools.release import LOCK, SUMS, compare
from tools.wheel_compiled import missing

pytestmark = pytest.mark.nightly

PYTHON = (sys.executable, "-m")
LOCKED = ("install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / LOCK))
WHEEL = f"domino_service-{VERSION}-py3-none-any.whl"
SDIST = f"domino_service-{VERSION}.tar.gz"
BILL = f"domino-service-{VERSION}.cdx.json"
CLIENTS = (f"domino-client-{VERSION}.tgz", f"domino_client-{VERSION}-py3-none-any.whl")


@pytest.fixture(scope="module")
def dist(release: Release) -> Path:
    written = [Path(line) for line in release.said if line.startswith("/")]
    assert sorted(written) == sorted(release.folder.iterdir())
    assert any("no wheel with a compiled engine" in line for line in release.said) == bool(missing())
    return release.folder


def test_a_release_has_these_files_and_their_sums(dist: Path) -> None:
    sums = dict(line.split("  ")[::-1] for line in (dist / SUMS).read_text("ascii").splitlines())
    assert sums.keys() == {WHEEL, SDIST, BILL, *CLIENTS, *([] if missing() else [COMPILED])}
    assert sums == {name: sha256((dist / name).read_bytes()).hexdigest() for name in sums}


def test_the_time_of_every_packed_file_is_that_of_the_last_commit(dist: Path) -> None:
    epoch = int(run(ROOT, "git", "log", "-1", "--format=%ct"))
    with tarfile.open(dist / SDIST) as packed:
        assert {member.mtime for member in packed} == {epoch}
        assert {(member.uid, member.gid, member.uname, member.gname) for member in packed} == {(0, 0, "", "")}
    with gzip.open(dist / SDIST) as packed_file:
        packed_file.read(1)
        assert packed_file.mtime == epoch
    for name in (WHEEL, CLIENTS[1]):
        with ZipFile(dist / name) as archive:
            assert len({each.date_time for each in archive.infolist()}) == 1


def test_the_source_distribution_has_the_package_and_no_tests(dist: Path) -> None:
    with tarfile.open(dist / SDIST) as packed, ZipFile(dist / WHEEL) as archive:
        names = {name.partition("/")[2] for name in packed.getnames()}
        assert {name for name in archive.namelist() if name.startswith("service/")} <= names
    assert {"pyproject.toml", "README.md", "LICENSE"} <= names
    assert not [name for name in names if name.startswith("tests")]


def test_files_that_differ_are_no_release(tmp_path: Path) -> None:
    for name, text in (("first", "one"), ("second", "another")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same").write_text("same", "utf-8")
        (tmp_path / name / "a.whl").write_text(text, "utf-8")
        (tmp_path / name / f"only-in-{name}").touch()
    with pytest.raises(SystemExit, match="these are not the same: a.whl, only-in-first, only-in-second"):
        compare(tmp_path / "first", tmp_path / "second")


def test_the_bill_of_materials_lists_what_is_locked_with_licences(dist: Path) -> None:
    bill: dict[str, Any] = json.loads((dist / BILL).read_bytes())
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", VERSION)
    listed = {canonicalize_name(each["name"]): each["version"] for each in bill["components"]}
    lines = re.findall(r"^[a-z].*?(?= \\)", (ROOT / LOCK).read_text("utf-8"), re.MULTILINE)
    locked = [it for it in map(Requirement, lines) if it.marker is None or it.marker.evaluate()]
    assert listed == {canonicalize_name(it.name): str(it.specifier).removeprefix("==") for it in locked}
    assert [each["name"] for each in bill["components"] if not each.get("licenses")] == []
    needs = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    assert any("flask" in reference.lower() for reference in needs["root-component"])


def test_the_wheel_serves_from_an_empty_environment(dist: Path, tmp_path: Path) -> None:
    python = str(tmp_path / "venv" / "bin" / "python")
    run(tmp_path, *PYTHON, "venv", "--without-pip", "venv")
    run(tmp_path, *PYTHON, "pip", "--python", python, *LOCKED)
    run(tmp_path, *PYTHON, "pip", "--python", python, "install", "--no-deps", "--no-index", str(dist / WHEEL))
    missing = subprocess.run([python, "-c", "import pytest"], capture_output=True, text=True, check=False)
    assert "No module named 'pytest'" in missing.stderr
    command = [str(tmp_path / "venv" / "bin" / "domino-service"), "serve"]
    with Service(tmp_path / "data", command=command, cwd=tmp_path) as service, connect(service.url) as http:
        assert http.get("/version").json()["version"] == VERSION
        table = Table.create(http, "domino", 2, options={"limit": 1})
        table.client.play_until(table, match_finished)
