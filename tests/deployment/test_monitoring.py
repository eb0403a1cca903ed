"""The example for Prometheus and Grafana is valid, fits the other examples, and its alerts fire in test series."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.deployment.test_compose import SERVICES
from tests.deployment.test_kubernetes import DEPLOYMENT, WORKERS
from tests.support.prometheus import FOLDER, program, rules
from tests.support.serving import ROOT
from tools.write_dashboard import DASHBOARD, dashboard

SERIES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "rules_test.yml").read_text("utf-8"))["tests"]


def promtool(*arguments: str) -> str:
    done = subprocess.run(
        [program("promtool"), *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_each_alert_fires_in_its_series_and_not_before() -> None:
    promtool("test", "rules", "rules_test.yml")


def test_each_alert_has_a_series_in_which_it_is_quiet_and_fires() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    shown = {}
    for series in SERIES:
        quiet, firing = series["alert_rule_test"]
        assert quiet["alertname"] == firing["alertname"]
        assert "exp_alerts" not in quiet
        shown[firing["alertname"]] = len(firing["exp_alerts"])
    assert shown == dict.fromkeys(names, 1)


def test_each_alert_says_what_is_wrong_and_what_to_do() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert set(rule["annotations"]) == {"summary", "description"}


def test_prometheus_asks_every_process_of_the_compose_file() -> None:
    promtool("check", "config", "prometheus.yml")
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    (job,) = config["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert job["job_name"] == "domino"
    assert set(found["names"]) == set(SERVICES) - {"store", "tls"}
    assert {SERVICES[name]["environment"]["METRICS_PORT"] for name in found["names"]} == {found["port"]}


def test_prometheus_asks_every_pod_of_the_example_for_kubernetes() -> None:
    (job,) = yaml.safe_load((FOLDER / "prometheus-kubernetes.yml").read_text("utf-8"))["scrape_configs"]
    assert job["job_name"] == "domino"
    label, port, _name = job["relabel_configs"]
    assert label["source_labels"] == ["__meta_kubernetes_pod_label_app_kubernetes_io_name"]
    for each in (DEPLOYMENT, *WORKERS.values()):
        template = each["template"]
        assert re.fullmatch(label["regex"], template["metadata"]["labels"]["app.kubernetes.io/name"])
        (container,) = template["spec"]["containers"]
        assert port["regex"] in [it["name"] for it in container["ports"]]


def test_prometheus_asks_the_units_for_systemd() -> None:
    promtool("check", "config", "prometheus-hosts.yml")
    (job,) = yaml.safe_load((FOLDER / "prometheus-hosts.yml").read_text("utf-8"))["scrape_configs"]
    (found,) = job["static_configs"]
    units = (ROOT / "examples" / "systemd").glob("*.service")
    ports = {re.search(r"^Environment=METRICS_PORT=(.+)$", unit.read_text("utf-8"), re.MULTILINE)[1] for unit in units}  # type: ignore[index]
    assert job["job_name"] == "domino"
    assert {f"127.0.0.1:{port.replace('%i', '1')}" for port in ports} == set(found["targets"])


def test_the_dashboard_is_what_its_command_writes() -> None:
    assert DASHBOARD.read_bytes() == dashboard(), "run python -m tools.write_dashboard"


@pytest.mark.parametrize("broken", ["domino_ready == 0", "domino_store_memory_bytes / (domino_store"])
def test_a_rule_that_never_fires_is_found(broken: str, tmp_path: Any) -> None:
    text = (FOLDER / "rules.yml").read_text("utf-8")
    (tmp_path / "rules.yml").write_text(text.replace(broken, broken.replace("domino_", "other_", 1)), "utf-8")
    (tmp_path / "rules_test.yml").write_bytes((FOLDER / "rules_test.yml").read_bytes())
    command = [program("promtool"), "test", "rules", "rules_test.yml"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False).returncode == 1
