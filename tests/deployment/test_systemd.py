"""The units of examples/systemd are valid, and fit the settings and the commands of the service."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from service.config import SETTINGS, Settings
from service.devserver.background import STOP_SECONDS
from tests.deployment.test_compose import OF_THE_CONTAINER
from tests.deployment.tools import checked, tool
from tests.support.serving import ROOT

FOLDER = ROOT / "examples" / "systemd"
PROGRAM = "/opt/domino/bin/domino-service"
PROCESSES = {
    "domino.service": "serve",
    "domino-bots@.service": "bots",
    "domino-scheduler@.service": "scheduler",
    "domino-messenger@.service": "messenger",
}
WORKERS = [name for name in PROCESSES if "@" in name]
HARDENING = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "UMask": "0077",
}
MOST_EXPOSURE = "40"
"""In tenths; systemd calls up to 5.0 OK, and 10.0 is the most."""

each_process = pytest.mark.parametrize("name", PROCESSES)


def lines(name: str) -> dict[str, list[str]]:
    """The values of each key of a unit, of whatever section."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        key, separator, value = line.partition("=")
        if separator and not line.startswith("#"):
            found[key].append(value)
    return found


def one(name: str, key: str) -> str:
    (value,) = lines(name)[key]
    return value


def of_the_file() -> dict[str, str]:
    """What domino.env says when the # before every setting is taken away."""
    text = (FOLDER / "domino.env").read_text("utf-8")
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))


def environment(name: str, credentials: Path, instance: int = 1) -> dict[str, str]:
    """What a process of this unit is started with, its credentials in a folder."""
    own = dict(line.split("=", 1) for line in lines(name)["Environment"])
    own = {key: value.replace("%d", str(credentials)).replace("%i", str(instance)) for key, value in own.items()}
    return own | of_the_file()


def test_the_units_are_those_of_the_processes_and_a_target_that_starts_each() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {*PROCESSES, "domino.target", "domino.env", "README.md"}
    started = {re.sub(r"@1\.", "@.", unit) for unit in one("domino.target", "Wants").split()}
    assert started == set(PROCESSES)
    for name in PROCESSES:
        assert one(name, "PartOf") == one(name, "WantedBy") == "domino.target"


def test_the_file_has_every_setting_with_its_default() -> None:
    known = {setting.name: setting.default for setting in SETTINGS}
    secrets = {setting.name for setting in SETTINGS if setting.kind.secret}
    without = {*OF_THE_CONTAINER, *secrets, "METRICS_PORT"} - {"HOST", "PORT"}
    assert {name: text for name, text in known.items() if name not in without} == of_the_file()


def test_the_file_changes_no_setting_by_itself() -> None:
    given = re.findall(r"^[^#\n].*$", (FOLDER / "domino.env").read_text("utf-8"), re.MULTILINE)
    assert given == []


@each_process
def test_a_unit_runs_its_command_with_the_file_and_restarts_it(name: str) -> None:
    assert one(name, "ExecStart") == f"{PROGRAM} {PROCESSES[name]}"
    assert one(name, "EnvironmentFile") == "/etc/domino/domino.env"
    assert one(name, "Restart") == "always"
    assert one(name, "User") == one(name, "Group") == "domino"
    assert {key: one(name, key) for key in HARDENING} == HARDENING
    assert int(one(name, "TasksMax")) > 0
    assert one(name, "MemoryMax")


@each_process
def test_a_unit_has_the_secrets_that_it_needs_as_credentials(name: str, tmp_path: Path) -> None:
    expected = {"redis_url", "secret_key"} if name == "domino.service" else {"redis_url"}
    loaded = dict(line.split(":") for line in lines(name)["LoadCredential"])
    assert loaded == {each: f"/etc/domino/{each}" for each in expected}
    (tmp_path / "redis_url").write_text("redis://10.0.0.5\n", "utf-8")
    (tmp_path / "secret_key").write_text("x" * 32 + "\n", "utf-8")
    settings = Settings.from_environ(environment(name, tmp_path))
    assert settings.redis_url == "redis://10.0.0.5"
    assert settings.secret_key == (("x" * 32,) if name == "domino.service" else ())


def test_every_process_of_a_machine_shows_its_metrics_at_a_port_of_its_own(tmp_path: Path) -> None:
    ports = [environment("domino.service", tmp_path)["METRICS_PORT"]]
    ports += [environment(name, tmp_path, instance)["METRICS_PORT"] for name in WORKERS for instance in range(1, 10)]
    assert len(set(ports)) == len(ports)
    assert of_the_file()["METRICS_HOST"] == "127.0.0.1"


def test_a_stop_has_the_time_that_it_needs() -> None:
    assert int(one("domino.service", "TimeoutStopSec")) > Settings.from_environ({}).graceful_timeout
    assert one("domino.service", "KillMode") == "mixed"
    for name in WORKERS:
        assert int(one(name, "TimeoutStopSec")) > STOP_SECONDS


# ── As systemd reads them ────────────────────────────────────────────────────────────────────────────────────────────


def installed(folder: Path, source: Path = FOLDER) -> list[Path]:
    """Copies of the units in a folder, with a program that exists, as systemd looks for it."""
    units = [file for file in source.iterdir() if file.suffix in (".service", ".target")]
    for unit in units:
        text = unit.read_text("utf-8").replace(PROGRAM, str(shutil.which("true")))
        (folder / unit.name).write_text(text, "utf-8")
    return sorted(folder / unit.name for unit in units)


def complaints(folder: Path, source: Path = FOLDER) -> list[str]:
    """What systemd says of copies of the units in a folder; of other units of the machine it may say more."""
    done = checked(tool("systemd-analyze"), "verify", *installed(folder, source))
    return [line for line in (done.stdout + done.stderr).splitlines() if "domino" in line]


@pytest.mark.gate
def test_systemd_has_nothing_to_say_of_the_units(tmp_path: Path) -> None:
    assert complaints(tmp_path) == []


@pytest.mark.gate
@pytest.mark.parametrize("name", PROCESSES)
def test_a_misspelt_key_is_found(name: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    shutil.copytree(FOLDER, wrong)
    text = (wrong / name).read_text("utf-8").replace("ProtectHome=", "ProtectHomes=")
    (wrong / name).write_text(text, "utf-8")
    (tmp_path / "units").mkdir()
    assert any("ProtectHomes" in line for line in complaints(tmp_path / "units", wrong))


@pytest.mark.gate
def test_systemd_rates_the_rights_of_each_process_as_few(tmp_path: Path) -> None:
    program = tool("systemd-analyze")
    version = re.search(r"systemd (\d+)", checked(program, "--version").stdout)
    if version is None or int(version[1]) < 250:
        pytest.skip("systemd-analyze is older than 250, which cannot rate files")
    services = [unit for unit in installed(tmp_path) if unit.suffix == ".service"]
    assert services
    for unit in services:
        done = checked(program, "security", "--offline=true", f"--threshold={MOST_EXPOSURE}", unit)
        assert done.returncode == 0, done.stdout + done.stderr
