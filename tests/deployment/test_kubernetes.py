"""The example for Kubernetes is valid, and fits the image and the settings of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from service.config import SETTINGS, InvalidSettings, Settings
from service.devserver.background import STOP_SECONDS
from tests.deployment.dockerfile import final, stages
from tests.deployment.test_compose import OF_THE_CONTAINER
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
GIVEN: dict[str, str] = only("ConfigMap")["data"]
SECRETS = "/run/secrets/domino"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", range(len(OBJECTS)), ids=lambda index: OBJECTS[index]["kind"])
def test_every_object_is_valid(index: int, version: str) -> None:
    assert kubernetes_validate.validate(OBJECTS[index], version, strict=True) == version


def test_a_misspelt_field_is_found() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**only("Service"), "spce": {}}, VERSIONS[-1], strict=True)


def test_the_example_has_all_that_a_deployment_needs() -> None:
    assert sorted(it["kind"] for it in OBJECTS) == [
        "ConfigMap",
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
        assert container["envFrom"] == [{"configMapRef": {"name": only("ConfigMap")["metadata"]["name"]}}]
        assert GIVEN["METRICS_HOST"] == "0.0.0.0"
        assert {"name": "metrics", "containerPort": int(GIVEN["METRICS_PORT"])} in container["ports"]


def test_the_pod_has_no_privileges_and_a_root_that_cannot_be_written() -> None:
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert POD["automountServiceAccountToken"] is False
    assert [(it["name"], it["mountPath"]) for it in CONTAINER["volumeMounts"]] == [
        ("tmp", "/tmp"),
        ("secrets", SECRETS),
    ]
    assert final("USER") == [f"{POD['securityContext']['runAsUser']}:{POD['securityContext']['runAsGroup']}"]
    (users,) = (it.text for it in stages()[-1] if it.name == "RUN")
    assert f"--uid {POD['securityContext']['runAsUser']} " in users
    assert f"--gid {POD['securityContext']['runAsGroup']} " in users


def test_the_container_has_requests_and_limits() -> None:
    names = {"cpu", "memory", "ephemeral-storage"}
    assert set(CONTAINER["resources"]["requests"]) == set(CONTAINER["resources"]["limits"]) == names


def test_a_stop_has_the_time_that_it_needs() -> None:
    _sleep, pause = CONTAINER["lifecycle"]["preStop"]["exec"]["command"]
    timeout = Settings.from_environ(GIVEN).graceful_timeout
    assert POD["terminationGracePeriodSeconds"] > int(pause) + timeout


def test_every_setting_is_given_with_its_default_unless_the_image_or_a_secret_has_it() -> None:
    secrets = {setting.name for setting in SETTINGS if setting.kind.secret}
    known = {setting.name: setting.default for setting in SETTINGS if setting.name not in {*OF_THE_CONTAINER, *secrets}}
    cluster = {"METRICS_HOST": "0.0.0.0", "METRICS_PORT": "9100", "TRUSTED_PROXIES": "1"}
    assert known | cluster == GIVEN
    Settings.from_environ(GIVEN)


def in_files(container: dict[str, Any]) -> dict[str, str]:
    """The files of secrets that a container is told, by the name of the setting."""
    return {it["name"].removesuffix("_FILE"): it["value"] for it in container["env"]}


def mounted(pod: dict[str, Any]) -> set[str]:
    """The paths of the files of the secret that a pod has."""
    (volume,) = (it["secret"] for it in pod["volumes"] if it["name"] == "secrets")
    assert volume["secretName"] == only("Secret")["metadata"]["name"]
    assert volume["defaultMode"] == 0o440
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"]
    (container,) = pod["containers"]
    (mount,) = (it for it in container["volumeMounts"] if it["name"] == "secrets")
    assert (mount["mountPath"], mount["readOnly"]) == (SECRETS, True)
    keys = only("Secret")["stringData"].keys()
    items = volume.get("items", [{"key": key, "path": key} for key in keys])
    assert {it["key"] for it in items} <= keys
    return {f"{SECRETS}/{it['path']}" for it in items}


def test_secrets_come_from_files_whose_placeholders_are_refused(tmp_path: Path) -> None:
    expected = {setting.name for setting in SETTINGS if setting.kind.secret}
    assert in_files(CONTAINER).keys() == expected == only("Secret")["stringData"].keys()
    assert set(in_files(CONTAINER).values()) == mounted(POD)
    for name, text in only("Secret")["stringData"].items():
        (tmp_path / name).write_text(text, "utf-8")
    files = {f"{name}_FILE": path.replace(SECRETS, str(tmp_path)) for name, path in in_files(CONTAINER).items()}
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ(GIVEN | files)
    assert {error.name for error in caught.value.errors} == expected


@each_worker
def test_a_worker_has_the_url_of_the_store_and_no_other_secret(command: str) -> None:
    pod = WORKERS[command]["template"]["spec"]
    (container,) = pod["containers"]
    assert in_files(container).keys() == {"REDIS_URL"}
    assert set(in_files(container).values()) == mounted(pod)


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
    (port,) = container["ports"]
    assert Settings.from_environ(GIVEN).metrics_port == port["containerPort"]
    for name in ("startupProbe", "livenessProbe"):
        assert container[name]["httpGet"] == {"path": "/healthz", "port": port["name"]}
