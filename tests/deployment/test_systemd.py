"""systemd has nothing to say of the units of examples/systemd, and rates the rights of each process as few."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.deployment.processes import UNITS
from tests.deployment.tools import checked, tool

pytestmark = pytest.mark.gate
PROGRAM = "/opt/domino/bin/domino-service"
MAX_EXPOSURE = "40"
"""In tenths; systemd calls up to 5.0 OK, and 10.0 is the most."""


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """Copies of the units, with a program that exists, as systemd looks for it."""
    found = [file for file in UNITS.iterdir() if file.suffix in (".service", ".target")]
    for unit in found:
        text = unit.read_text("utf-8").replace(PROGRAM, str(shutil.which("true")))
        (tmp_path / unit.name).write_text(text, "utf-8")
    return sorted(tmp_path / unit.name for unit in found)


def complaints(units: list[Path]) -> list[str]:
    """What systemd says of these units; of other units of the machine it may say more."""
    done = checked(tool("systemd-analyze"), "verify", *units)
    return [line for line in (done.stdout + done.stderr).splitlines() if "domino" in line]


def test_systemd_has_nothing_to_say_of_the_units(units: list[Path]) -> None:
    assert complaints(units) == []
    text = units[0].read_text("utf-8")
    units[0].write_text(text.replace("ProtectHome=", "ProtectHomes="), "utf-8")
    assert any("ProtectHomes" in line for line in complaints(units)), "what is misspelt is said"


def test_the_target_starts_every_unit_and_each_is_started_again(units: list[Path]) -> None:
    (target,) = (unit.read_text("utf-8") for unit in units if unit.suffix == ".target")
    (started,) = re.findall(r"^Wants=(.*)$", target, re.MULTILINE)
    assert sorted(re.sub(r"@1\.", "@.", unit) for unit in started.split()) == [
        unit.name for unit in units if unit.suffix == ".service"
    ]
    for unit in units:
        lines = unit.read_text("utf-8").splitlines()
        assert unit.suffix == ".target" or {"Restart=always", "PartOf=domino.target"} <= {*lines}, unit.name


def test_systemd_rates_the_rights_of_each_process_as_few(units: list[Path]) -> None:
    program = tool("systemd-analyze")
    version = re.search(r"systemd (\d+)", checked(program, "--version").stdout)
    if version is None or int(version[1]) < 250:
        pytest.skip("systemd-analyze is older than 250, which cannot rate files")
    for unit in units:
        if unit.suffix == ".service":
            done = checked(program, "security", "--offline=true", f"--threshold={MAX_EXPOSURE}", unit)
            assert done.returncode == 0, done.stdout + done.stderr
