"""The examples give every process settings that the service has, with values that it takes, and none is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver.supervisor import STOP_SECONDS
from tests.deployment.processes import DEPLOYMENTS, OBJECTS, OVERLAYS, Process, Processes, of_systemd
from tests.deployment.tools import EXAMPLES
from tests.support.serving import ROOT

COMMANDS = ("serve", "bots", "scheduler", "messenger")
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
SECRETS = {setting.name for setting in SETTINGS if setting.kind.secret}
EMBEDDED = {"DATA_DIR", "MAX_MEMORY_MB", "BOT_WORKERS", "SCHEDULERS", "MESSENGERS"}
"""The settings of a run that starts its own store and workers."""

each_example = pytest.mark.parametrize("name", DEPLOYMENTS)


def read(name: str) -> Processes:
    """The processes of an example, which are those of the program."""
    found = DEPLOYMENTS[name].read()
    assert sorted(found) == sorted(COMMANDS)
    return found


def secrets_of(process: Process) -> dict[str, str]:
    """The secrets that a process is given, by the names of their settings: values, or paths of files."""
    given = {name.removesuffix("_FILE"): value for name, value in process.environ.items() if value}
    return {name: value for name, value in given.items() if name in SECRETS}


@each_example
def test_every_setting_is_known_and_valid(name: str, tmp_path: Path) -> None:
    known = DEFAULTS.keys() | {f"{each}_FILE" for each in SECRETS}
    for command, process in read(name).items():
        assert process.environ.keys() <= known, command
        # Secrets are where the settings say, and no process has one that it does not read.
        files = {value for each, value in process.environ.items() if each.endswith("_FILE")}
        assert files == process.files, command
        for number, path in enumerate(files):
            secret = "redis://store" if "redis_url" in path.lower() else "x" * 32
            (tmp_path / str(number)).write_text(f"{secret}\n", "utf-8")
        here = {path: str(tmp_path / str(number)) for number, path in enumerate(files)}
        settings = Settings.from_environ({each: here.get(text, text) for each, text in process.environ.items()})
        assert settings.redis_url, command
        assert process.health_ports <= {settings.port, settings.metrics_port}, command
        assert process.seconds_to_stop > (settings.graceful_timeout if command == "serve" else STOP_SECONDS), command


@each_example
def test_the_web_server_is_given_every_setting_with_its_default_unless_it_has_to_differ(name: str) -> None:
    given = {each.removesuffix("_FILE"): value for each, value in read(name)["serve"].environ.items()}
    assert given.keys() | EMBEDDED == DEFAULTS.keys()
    common = given.keys() - SECRETS - EMBEDDED - {"HOST", "PORT"}
    assert {each: given[each] for each in common if given[each] != DEFAULTS[each]} == DEPLOYMENTS[name].different


@each_example
def test_a_worker_has_the_settings_of_the_web_server_and_one_secret(name: str) -> None:
    web, *workers = (read(name)[command] for command in COMMANDS)
    for worker in workers:
        assert worker.environ.items() - {("METRICS_PORT", worker.environ["METRICS_PORT"])} <= web.environ.items()
        assert "GAME_TTL_DAYS" in worker.environ
        assert secrets_of(worker).keys() == {"REDIS_URL"}


def test_every_example_for_compose_is_read() -> None:
    assert {file.name for file in EXAMPLES.glob("*.yaml")} == set(OVERLAYS) <= DEPLOYMENTS.keys()


def test_every_variable_of_compose_is_a_setting_or_documented() -> None:
    files = [ROOT / "compose.yaml", *[EXAMPLES / name for name in OVERLAYS]]
    used = {each for file in files for each in re.findall(r"(?<!\$)\$\{([A-Z_]+)", file.read_text("utf-8"))}
    page = (ROOT / "docs" / "operations" / "deploy.md").read_text("utf-8")
    assert used - DEFAULTS.keys() == set(re.findall(r"`([A-Z_]+)` \(`[^`]+`\)", page))


def test_the_placeholders_of_secrets_are_refused() -> None:
    (secret,) = (each for each in OBJECTS if each["kind"] == "Secret")
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ(secret["stringData"])
    assert {error.name for error in caught.value.errors} == SECRETS


def test_every_process_of_a_machine_has_a_port_of_its_own_for_metrics() -> None:
    ports = {process.environ["METRICS_PORT"] for number in range(1, 10) for process in of_systemd(number).values()}
    assert len(ports) == 1 + 3 * 9
