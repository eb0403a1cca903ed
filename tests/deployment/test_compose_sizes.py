"""The files that examples/compose lays over compose.yaml, as Docker Compose itself reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from service.config import SETTINGS, Settings
from tests.deployment.tools import EXAMPLES, checked, compose, larger, tool

pytestmark = pytest.mark.gate

OVERLAYS = ("secrets.yaml", "replica.yaml", "cluster.yaml")
PROCESSES = ("service", "bots", "scheduler", "messenger")
each_overlay = pytest.mark.parametrize("name", OVERLAYS)
each_size = pytest.mark.parametrize("name", ["replica.yaml", "cluster.yaml"])


def test_a_misspelt_field_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("services: { service: { image: a, comand: [b] } }\n", "utf-8")
    done = checked(tool("docker-compose"), "-f", file, "config", "--quiet")
    assert done.returncode != 0
    assert "comand" in done.stderr


def test_every_file_is_tested() -> None:
    assert {file.name for file in EXAMPLES.glob("*.yaml")} == set(OVERLAYS)


@each_overlay
def test_the_command_at_the_top_of_a_file_names_it(name: str) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    assert f"docker compose -f compose.yaml -f examples/compose/{name} up --build" in text


@each_overlay
def test_a_process_differs_from_compose_yaml_only_in_its_store_and_its_secrets(name: str) -> None:
    base, over = compose()["services"], larger(name)["services"]
    for process in PROCESSES:
        changed = {"environment", "depends_on", "networks", "secrets"}
        for field in base[process].keys() | over[process].keys() - changed:
            if field not in changed:
                assert over[process].get(field) == base[process].get(field), (process, field)
        given, known = over[process]["environment"], base[process]["environment"]
        differing = {each for each in given.keys() | known.keys() if given.get(each) != known.get(each)}
        assert differing <= {"REDIS_URL", "DURABILITY", "REDIS_URL_FILE", "SECRET_KEY_FILE"}
        assert given.get("DURABILITY") == over["service"]["environment"]["DURABILITY"]


@each_overlay
def test_every_service_has_limits_no_privileges_and_an_image_that_is_fixed(name: str) -> None:
    base, over = compose()["services"], larger(name)["services"]
    for each in over.values():
        assert each["cap_drop"] == ["ALL"]
        assert "cap_add" not in each
        assert each["security_opt"] == ["no-new-privileges:true"]
        assert each["read_only"] is True
        assert int(each["mem_limit"]) > 0
        assert float(each["cpus"]) > 0
        assert each["pids_limit"] > 0
        assert "build" in each or each["image"] == base["store"]["image"]
        assert "build" in each or each["user"] == base["store"]["user"]
        assert each["restart"] in ("unless-stopped", "on-failure")
    assert [each for each in over if over[each].get("ports")] == ["service"]


@each_overlay
def test_every_server_keeps_its_files_in_a_volume_of_its_own(name: str) -> None:
    over = larger(name)
    volumes = [
        mount["source"]
        for each in over["services"].values()
        if "build" not in each
        for mount in each.get("volumes", ())
        if mount["target"] == "/data"
    ]
    servers = [each for each in over["services"].values() if "build" not in each and each["restart"] != "on-failure"]
    assert len(volumes) == len(set(volumes)) == len(servers)
    assert set(volumes) | {"own"} == set(over["volumes"])


@each_overlay
def test_the_settings_of_every_process_are_valid(name: str, tmp_path: Path) -> None:
    (tmp_path / "redis_url").write_text("redis://:password@store\n", "utf-8")
    (tmp_path / "secret_key").write_text("x" * 32 + "\n", "utf-8")
    names = {setting.name for setting in SETTINGS} | {f"{it.name}_FILE" for it in SETTINGS if it.kind.secret}
    for process in PROCESSES:
        given: dict[str, str] = larger(name)["services"][process]["environment"]
        assert given.keys() <= names
        settings = Settings.from_environ(
            {each: text.replace("/run/secrets", str(tmp_path)) for each, text in given.items()}
        )
        assert settings.redis_url


# ── Sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def addresses(services: dict[str, Any]) -> dict[str, str]:
    """The fixed address of each service that has one."""
    networks = {name: (it.get("networks") or {}).get("stores") for name, it in services.items()}
    return {name: own["ipv4_address"] for name, own in networks.items() if own}


@each_size
def test_the_processes_ask_servers_that_there_are_and_reach_them(name: str) -> None:
    services = larger(name, STORES="10.1.2")["services"]
    known = addresses(services)
    assert len(set(known.values())) == len(known)
    for process in PROCESSES:
        asked = re.findall(r"[0-9]+(?:\.[0-9]+){3}", services[process]["environment"]["REDIS_URL"])
        assert len(asked) == 3
        assert set(asked) <= set(known.values())
        assert services[process]["networks"].keys() == {"default", "stores"}


@each_size
def test_the_servers_are_on_a_network_that_nothing_else_reaches(name: str) -> None:
    over = larger(name, STORES="10.1.2")
    assert over["networks"]["stores"]["internal"] is True
    assert over["networks"]["stores"]["ipam"]["config"] == [{"subnet": "10.1.2.0/24"}]
    for each in over["services"].values():
        assert "build" in each or each["networks"].keys() == {"stores"}


@each_size
def test_moves_are_acknowledged_by_a_replica_unless_that_is_set_otherwise(name: str) -> None:
    for expected, environ in (("replicated", {}), ("local", {"DURABILITY": "local"})):
        for process in PROCESSES:
            assert larger(name, **environ)["services"][process]["environment"]["DURABILITY"] == expected


# ── Secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_secrets_come_from_files_and_are_given_only_to_who_needs_them(tmp_path: Path) -> None:
    over = larger("secrets.yaml", SECRETS=str(tmp_path))
    assert {name: it["file"] for name, it in over["secrets"].items()} == {
        name: str(tmp_path / name) for name in ("redis_url", "secret_key", "store_password")
    }
    given = {name: {it["source"] for it in each.get("secrets", ())} for name, each in over["services"].items()}
    workers = {name: {"redis_url"} for name in ("bots", "scheduler", "messenger")}
    assert given == {**workers, "service": {"redis_url", "secret_key"}, "store": {"store_password"}}


# ── TLS ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_caddy_runs_with_its_profile_alone() -> None:
    assert "tls" not in compose()["services"]
    assert compose("--profile", "tls")["services"].keys() == compose()["services"].keys() | {"tls"}


@pytest.mark.parametrize("name", [None, *OVERLAYS])
def test_the_file_for_tls_chooses_the_profile_and_trusts_caddy(name: str | None) -> None:
    files = () if name is None else ("-f", "compose.yaml", "-f", EXAMPLES / name)
    services = compose("--env-file", EXAMPLES / "tls.env", *files)["services"]
    assert services["tls"]["environment"] == {"TLS_HOST": "domino.example"}
    given = services["service"]["environment"]
    assert (given["TRUSTED_PROXIES"], given["PUBLIC_URL"]) == ("1", "https://domino.example")
