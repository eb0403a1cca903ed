"""What compose.yaml promises of every one of its services."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from service.config import SETTINGS, Settings
from service.devserver.background import STOP_SECONDS
from tests.support.serving import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
UNITS = {"m": 1, "g": 1024}

each_service = pytest.mark.parametrize("name", SERVICES)


def default(text: object) -> str:
    """The value of ``${NAME:-value}``, where NAME is not set."""
    found = re.fullmatch(r"\$\{[A-Z_]+:-(.*)\}", str(text))
    return found[1] if found else str(text)


def mebibytes(text: object) -> int:
    number, unit = re.fullmatch(r"([0-9]+)([mg])b?", default(text)).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def seconds(text: str) -> int:
    assert text.endswith("s")
    return int(text[:-1])


def options(command: list[str]) -> dict[str, str]:
    """The options of a command line, which all have one value."""
    return {name.removeprefix("--"): default(value) for name, value in zip(command[1::2], command[2::2], strict=True)}


WORKERS = ("bots", "scheduler", "messenger")


def test_the_services_are_the_processes_of_the_program_their_store_and_a_proxy() -> None:
    assert set(SERVICES) == {"service", *WORKERS, "store", "tls"}
    assert [name for name in SERVICES if "profiles" in SERVICES[name]] == ["tls"]


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_the_same_image_with_a_command_and_settings_as_the_service_has_them(name: str) -> None:
    worker, service = SERVICES[name], SERVICES["service"]
    assert worker["build"] == service["build"]
    assert worker["command"] == ["domino-service", name]
    assert worker["depends_on"] == service["depends_on"]
    assert seconds(worker["stop_grace_period"]) > STOP_SECONDS
    given = dict(worker["environment"])
    port = given.pop("METRICS_PORT")
    assert given == {each: service["environment"][each] for each in given}
    assert {"REDIS_URL", "GAME_TTL_DAYS"} <= set(given)
    assert f"http://127.0.0.1:{port}/healthz" in worker["healthcheck"]["test"][-1]
    compile(worker["healthcheck"]["test"][-1], "healthcheck", "exec")


@pytest.mark.parametrize("name", ["service", *WORKERS])
def test_every_process_shows_its_metrics_to_the_other_containers_alone(name: str) -> None:
    environment = SERVICES[name]["environment"]
    assert (environment["METRICS_HOST"], environment["METRICS_PORT"]) == ("0.0.0.0", 9100)
    assert not any("9100" in port for port in SERVICES[name].get("ports", ()))


@each_service
def test_every_service_has_limits(name: str) -> None:
    assert mebibytes(SERVICES[name]["mem_limit"]) > 0
    assert float(default(SERVICES[name]["cpus"])) > 0
    assert SERVICES[name]["pids_limit"] > 0


@each_service
def test_every_service_has_no_privileges_and_a_root_that_cannot_be_written(name: str) -> None:
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert SERVICES[name].get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "tls" else [])
    assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
    assert SERVICES[name]["read_only"] is True
    assert SERVICES[name]["tmpfs"] == (["/tmp", "/config"] if name == "tls" else ["/tmp"])
    assert "privileged" not in SERVICES[name]


@each_service
def test_every_service_has_a_health_check_and_is_restarted(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] == "CMD"
    assert seconds(check["timeout"]) <= seconds(check["interval"])
    assert SERVICES[name]["restart"] == "unless-stopped"


@each_service
def test_every_image_is_built_here_or_fixed_by_its_digest(name: str) -> None:
    if "build" in SERVICES[name]:
        assert SERVICES[name]["build"] == {"context": ".", "args": ["BASE"]}
    else:
        assert re.fullmatch(
            r"(valkey/valkey:9|caddy:2)\.[0-9.]+(-alpine)?@sha256:[0-9a-f]{64}", SERVICES[name]["image"]
        )


def test_only_the_service_can_be_reached_and_only_from_this_machine_but_through_the_proxy() -> None:
    assert [default_port.partition(":")[0] for default_port in SERVICES["service"]["ports"]] == ["127.0.0.1"]
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["service", "tls"]
    assert SERVICES["tls"]["ports"] == ["${HTTP_PORT:-80}:80", "${HTTPS_PORT:-443}:443"]


def test_the_proxy_has_its_file_and_keeps_its_certificates() -> None:
    (file, folder), (volume, kept) = (each.split(":")[:2] for each in SERVICES["tls"]["volumes"])
    assert (ROOT / file).is_file()
    assert (folder, kept) == ("/etc/caddy/Caddyfile", "/data")
    assert volume in COMPOSE["volumes"]
    assert SERVICES["tls"]["depends_on"] == {"service": {"condition": "service_healthy"}}


def test_the_service_waits_for_a_healthy_store_and_stops_in_time() -> None:
    service = SERVICES["service"]
    assert service["depends_on"] == {"store": {"condition": "service_healthy"}}
    assert seconds(service["stop_grace_period"]) > Settings.from_environ({}).graceful_timeout


def test_the_service_is_given_settings_with_the_defaults_of_the_program() -> None:
    known = {setting.name: setting.default for setting in SETTINGS}
    given = {name: default(text) for name, text in SERVICES["service"]["environment"].items()}
    assert given.pop("REDIS_URL") == "redis://store:6379/0"
    for each in ("METRICS_HOST", "METRICS_PORT"):
        del given[each]
    assert given == {name: known[name] for name in given}


OF_THE_CONTAINER = {
    "HOST": "of the image",
    "PORT": "of the image; the published port is chosen by it",
    "DATA_DIR": "of the image: the volume",
    "MAX_MEMORY_MB": "of an embedded server: STORE_MAXMEMORY",
    "BOT_WORKERS": "of an embedded run: --scale bots",
    "SCHEDULERS": "of an embedded run: --scale scheduler",
    "MESSENGERS": "of an embedded run: --scale messenger",
}
"""The settings that cannot be given to the service, and why."""


def test_every_setting_can_be_given_to_the_service_unless_the_container_fixes_it() -> None:
    assert set(SERVICES["service"]["environment"]) == {setting.name for setting in SETTINGS} - set(OF_THE_CONTAINER)


def test_every_variable_is_a_setting_or_documented() -> None:
    files = [ROOT / "compose.yaml", *sorted((ROOT / "examples" / "compose").glob("*.yaml"))]
    used = {each for file in files for each in re.findall(r"(?<!\$)\$\{([A-Z_]+)", file.read_text("utf-8"))}
    page = (ROOT / "docs" / "operations" / "deploy.md").read_text("utf-8")
    documented = set(re.findall(r"`([A-Z_]+)` \(`[^`]+`\)", page))
    assert used - {setting.name for setting in SETTINGS} == documented


def test_the_health_check_of_the_service_is_that_of_the_image() -> None:
    *_words, code = SERVICES["service"]["healthcheck"]["test"]
    assert "http://127.0.0.1:8000/healthz" in code
    compile(code, "healthcheck", "exec")


def test_the_store_keeps_all_games_on_disk_and_evicts_none() -> None:
    given = options(SERVICES["store"]["command"])
    assert given["maxmemory-policy"] == "noeviction"
    assert given["appendonly"] == "yes"
    assert mebibytes(SERVICES["store"]["mem_limit"]) >= 2 * mebibytes(given["maxmemory"])
    assert SERVICES["store"]["volumes"] == ["games:/data"]


def test_the_store_does_not_start_as_root() -> None:
    assert SERVICES["store"]["user"] == "valkey"
