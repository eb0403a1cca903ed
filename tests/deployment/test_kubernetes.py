"""The objects for Kubernetes are valid, select each other, and give a container no right that it does not need."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from tests.deployment.dockerfile import final
from tests.deployment.processes import OBJECTS

pytestmark = pytest.mark.gate
VERSIONS = ("1.29", "1.37")
TEMPLATES: list[dict[str, Any]] = [each["spec"]["template"] for each in OBJECTS if each["kind"] == "Deployment"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", range(len(OBJECTS)), ids=lambda index: OBJECTS[index]["kind"])
def test_every_object_is_valid(index: int, version: str) -> None:
    assert kubernetes_validate.validate(OBJECTS[index], version, strict=True) == version


def test_each_deployment_selects_its_pods_and_the_service_and_the_budget_those_of_the_web_server() -> None:
    selectors: dict[str, list[dict[str, str]]] = {}
    for each in OBJECTS:
        selector = each.get("spec", {}).get("selector", {})
        selectors.setdefault(each["kind"], []).append(selector.get("matchLabels", selector))
    labels = [template["metadata"]["labels"] for template in TEMPLATES]
    assert selectors["Deployment"] == labels
    assert labels.count(labels[0]) == 1
    assert "command" not in TEMPLATES[0]["spec"]["containers"][0]
    assert selectors["Service"] == selectors["PodDisruptionBudget"] == [labels[0]]


def test_one_pod_of_the_web_server_always_serves_and_is_asked_when_it_is_ready() -> None:
    web = next(each["spec"] for each in OBJECTS if each["kind"] == "Deployment")
    (budget,) = (each["spec"] for each in OBJECTS if each["kind"] == "PodDisruptionBudget")
    assert web["replicas"] > budget["maxUnavailable"]
    assert web["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    (container,) = web["template"]["spec"]["containers"]
    probes = {name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    assert probes == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["metadata"]["labels"].values())
def test_a_container_runs_as_the_user_of_the_image_with_limits_and_no_privileges(template: dict[str, Any]) -> None:
    pod = template["spec"]
    (container,) = pod["containers"]
    user = pod["securityContext"]
    assert final("USER") == [f"{user['runAsUser']}:{user['runAsGroup']}"]
    assert user["fsGroup"] == user["runAsGroup"], "may read the secrets"
    assert (user["runAsNonRoot"], user["seccompProfile"]["type"]) == (True, "RuntimeDefault")
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"].keys() == {"cpu", "memory", "ephemeral-storage"}
    assert pod["automountServiceAccountToken"] is False
    assert container["image"] == TEMPLATES[0]["spec"]["containers"][0]["image"]
