"""The example for Kubernetes is valid, and fits the image and the settings of the service."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver.background import STOP_SECONDS
from tests.deployment.dockerfile import final, stages
from tests.support.serving import ROOT

FILES = sorted((ROOT / "examples" / "kubernetes").glob("*.yaml"))
OBJECTS: list[dict[str, Any]] = [it for file in FILES for it in yaml.safe_load_all(file.read_text("utf-8"))]
VERSIONS = ("1.29", "1.37")


def only(kind: str) -> dict[str, Any]:
    """The one object of this kind."""
    (found,) = (it for it in OBJECTS if it["kind"] == kind)
    return found


def deployment(name: str) -> dict[str, Any]:
    """The specification of the deployment of this name."""
    (found,) = (it for it in OBJECTS if it["kind"] == "Deployment" and it["metadata"]["name"] == name)
    spec: dict[str, Any] = found["spec"]
    return spec


DEPLOYMENT = deployment("domino")
WORKERS = {command: deployment(f"domino-{command}") for command in ("bots", "scheduler", "messenger")}
each_worker = pytest.mark.parametrize("command", WORKERS)
POD: dict[str, Any] = DEPLOYMENT["template"]["spec"]
(CONTAINER,) = POD["containers"]
LABELS = DEPLOYMENT["template"]["metadata"]["labels"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", range(len(OBJECTS)), ids=lambda index: OBJECTS[index]["kind"])
def test_every_object_is_valid(index: int, version: str) -> None:
    assert kubernetes_validate.validate(OBJECTS[index], version, strict=True) == version


def test_a_misspelt_field_is_found() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**only("Service"), "spce": {}}, VERSIONS[-1], strict=True)


def test_the_example_has_all_that_a_deployment_needs() -> None:
    assert sorted(it["kind"] for it in OBJECTS) == [
        *["Deployment"] * 4,
        "PodDisruptionBudget",
        "Secret",
        "Service",
    ]


def test_service_and_budget_select_the_pods() -> None:
    assert DEPLOYMENT["selector"]["matchLabels"] == LABELS
    assert only("Service")["spec"]["selector"] == LABELS
    assert only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == LABELS
    assert [it["labelSelector"]["matchLabels"] for it in POD["topologySpreadConstraints"]] == [LABELS]


def test_one_pod_always_serves() -> None:
    assert DEPLOYMENT["replicas"] > only("PodDisruptionBudget")["spec"]["maxUnavailable"]
    assert DEPLOYMENT["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_probes_ask_the_port_of_the_image_for_health_and_readiness() -> None:
    asked = {name: CONTAINER[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    port, _metrics = CONTAINER["ports"]
    assert {name: (it["path"], it["port"]) for name, it in asked.items()} == {
        "startupProbe": ("/healthz", port["name"]),
        "livenessProbe": ("/healthz", port["name"]),
        "readinessProbe": ("/readyz", port["name"]),
    }
    assert final("EXPOSE") == [str(port["containerPort"])]
    assert [it["targetPort"] for it in only("Service")["spec"]["ports"]] == [port["name"]]


def test_every_pod_shows_its_metrics() -> None:
    for each in (DEPLOYMENT, *WORKERS.values()):
        (container,) = each["template"]["spec"]["containers"]
        given = {it["name"]: it.get("value") for it in container["env"]}
        assert given["METRICS_HOST"] == "0.0.0.0"
        assert {"name": "metrics", "containerPort": int(given["METRICS_PORT"])} in container["ports"]


def test_the_pod_has_no_privileges_and_a_root_that_cannot_be_written() -> None:
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert POD["automountServiceAccountToken"] is False
    assert [(it["name"], it["mountPath"]) for it in CONTAINER["volumeMounts"]] == [("tmp", "/tmp")]
    (users,) = (it.text for it in stages()[-1] if it.name == "RUN")
    assert f"--uid {POD['securityContext']['runAsUser']} " in users
    assert f"--gid {POD['securityContext']['runAsGroup']} " in users


def test_the_container_has_requests_and_limits() -> None:
    names = {"cpu", "memory", "ephemeral-storage"}
    assert set(CONTAINER["resources"]["requests"]) == set(CONTAINER["resources"]["limits"]) == names


def test_a_stop_has_the_time_that_it_needs() -> None:
    _sleep, pause = CONTAINER["lifecycle"]["preStop"]["exec"]["command"]
    timeout = settings(SECRET_KEY="x" * 32, REDIS_URL="redis://redis").graceful_timeout
    assert POD["terminationGracePeriodSeconds"] > int(pause) + timeout


def settings(**secrets: str) -> Settings:
    """The settings that the container has with these secrets."""
    given = {it["name"]: it["value"] for it in CONTAINER["env"] if "value" in it}
    return Settings.from_environ(given | secrets)


def test_the_container_is_given_settings_of_the_service() -> None:
    assert {it["name"] for it in CONTAINER["env"]} <= {setting.name for setting in SETTINGS}


def test_secrets_come_from_the_secret_whose_placeholders_are_refused() -> None:
    secret = only("Secret")
    named = {it["name"]: it["valueFrom"]["secretKeyRef"] for it in CONTAINER["env"] if "valueFrom" in it}
    expected = {setting.name for setting in SETTINGS if setting.kind.secret}
    assert named == {name: {"name": secret["metadata"]["name"], "key": name} for name in expected}
    with pytest.raises(InvalidSettings) as caught:
        settings(**secret["stringData"])
    assert {error.name for error in caught.value.errors} == expected


@each_worker
def test_a_worker_is_the_same_image_with_a_command_and_no_more_rights(command: str) -> None:
    pod = WORKERS[command]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == CONTAINER["image"]
    assert container["command"] == ["domino-service", command]
    assert container["securityContext"] == CONTAINER["securityContext"]
    assert set(container["resources"]["limits"]) == set(CONTAINER["resources"]["limits"])
    for name in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
        assert pod[name] == POD[name]
    assert pod["terminationGracePeriodSeconds"] > STOP_SECONDS
    assert WORKERS[command]["selector"]["matchLabels"] == WORKERS[command]["template"]["metadata"]["labels"]
    assert WORKERS[command]["selector"]["matchLabels"] != LABELS


@each_worker
def test_the_probes_of_a_worker_ask_the_port_of_its_metrics(command: str) -> None:
    (container,) = WORKERS[command]["template"]["spec"]["containers"]
    given = {it["name"]: it["value"] for it in container["env"] if "value" in it}
    settings = Settings.from_environ(given | {"REDIS_URL": "redis://redis"})
    (port,) = container["ports"]
    assert settings.metrics_port == port["containerPort"]
    assert settings.metrics_host == "0.0.0.0"
    for name in ("startupProbe", "livenessProbe"):
        assert container[name]["httpGet"] == {"path": "/healthz", "port": port["name"]}
