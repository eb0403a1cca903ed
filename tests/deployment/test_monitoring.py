"""The example for Prometheus and Grafana is valid, fits the other examples, and its alerts fire in test series."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.deployment.processes import DEPLOYMENTS, OBJECTS
from tests.deployment.tools import compose
from tests.support.prometheus import FOLDER, program, rules
from tests.support.waiting import PATIENCE
from tools.write_dashboard import DASHBOARD, dashboard

pytestmark = pytest.mark.gate


def promtool(*arguments: str) -> None:
    done = subprocess.run(
        [program("promtool"), *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def job(name: str) -> dict[str, Any]:
    """The one job of a configuration, which Prometheus accepts."""
    promtool("check", "config", name)
    (found,) = yaml.safe_load((FOLDER / name).read_text("utf-8"))["scrape_configs"]
    assert found["job_name"] == "domino"
    return found  # type: ignore[no-any-return]


def test_each_alert_is_quiet_in_its_series_and_then_fires() -> None:
    promtool("test", "rules", "rules_test.yml")
    shown = {}
    for series in yaml.safe_load((FOLDER / "rules_test.yml").read_text("utf-8"))["tests"]:
        quiet, firing = series["alert_rule_test"]
        assert quiet["alertname"] == firing["alertname"]
        assert "exp_alerts" not in quiet
        shown[firing["alertname"]] = len(firing["exp_alerts"])
    assert shown == {rule["alert"]: 1 for rule in rules()}


def test_prometheus_asks_every_process_of_each_example() -> None:
    services = [name for name, each in compose()["services"].items() if "build" in each]
    (found,) = job("prometheus.yml")["dns_sd_configs"]
    assert sorted(found["names"]) == sorted(services)
    assert {process.environ["METRICS_PORT"] for process in DEPLOYMENTS["compose"].read().values()} == {
        str(found["port"])
    }
    ports = {process.environ["METRICS_PORT"] for process in DEPLOYMENTS["systemd"].read().values()}
    (targets,) = job("prometheus-hosts.yml")["static_configs"]
    assert {f"127.0.0.1:{port}" for port in ports} == set(targets["targets"])
    (config,) = yaml.safe_load((FOLDER / "prometheus-kubernetes.yml").read_text("utf-8"))["scrape_configs"]
    label, port, _name = config["relabel_configs"]
    assert label["source_labels"] == ["__meta_kubernetes_pod_label_app_kubernetes_io_name"]
    for template in [each["spec"]["template"] for each in OBJECTS if each["kind"] == "Deployment"]:
        assert re.fullmatch(label["regex"], template["metadata"]["labels"]["app.kubernetes.io/name"])
        ports_of_metrics = {it["name"]: it["containerPort"] for it in template["spec"]["containers"][0]["ports"]}
        assert ports_of_metrics[port["regex"]] == 9100


def test_the_dashboard_is_what_its_command_writes() -> None:
    assert DASHBOARD.read_bytes() == dashboard(), "run python -m tools.write_dashboard"
