"""The processes of the service in each example of a deployment, as the program that reads the example starts them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import yaml

from tests.deployment.dockerfile import final
from tests.deployment.tools import EXAMPLES, compose
from tests.support.serving import ROOT

UNITS: Final = ROOT / "examples" / "systemd"
OBJECTS: Final[list[dict[str, Any]]] = [
    each
    for file in sorted((ROOT / "examples" / "kubernetes").glob("*.yaml"))
    for each in yaml.safe_load_all(file.read_text("utf-8"))
]


class Process(NamedTuple):
    """What a process is started with.

    ``files``: the paths of the secrets that it is given as files. ``health_ports``: where it is asked whether it lives.
    ``seconds_to_stop``: between the signal and the end by force.
    """

    environ: dict[str, str]
    files: set[str]
    health_ports: set[int]
    seconds_to_stop: int


Processes = dict[str, Process]
"""The processes of an example by the words of their commands after ``domino-service``."""


def _of_image() -> dict[str, str]:
    """The environment of the image."""
    text = " ".join(final("ENV"))
    return {name: value for name, value in re.findall(r"(\S+?)=(\S+)", text) if name in ("HOST", "PORT", "DATA_DIR")}


def _arguments(command: list[str] | None) -> str:
    """The words after the name of the program; without a command those of the image."""
    program, *words = command or json.loads(final("CMD")[0])
    assert program.rpartition("/")[2] == "domino-service"
    return " ".join(words)


def of_compose(*arguments: Any) -> Processes:
    """The processes of Docker Compose, with these arguments before its command."""
    found = {}
    for each in compose(*arguments)["services"].values():
        if "build" in each:
            found[_arguments(each.get("command"))] = Process(
                _of_image() | each["environment"],
                {f"/run/secrets/{it['source']}" for it in each.get("secrets", ())},
                {int(port) for port in re.findall(r":(\d+)/healthz", each["healthcheck"]["test"][-1])},
                int(each["stop_grace_period"].removesuffix("s")),
            )
    return found


def of_kubernetes() -> Processes:
    """The processes of the Deployments."""
    (settings,) = (each for each in OBJECTS if each["kind"] == "ConfigMap")
    found = {}
    for each in OBJECTS:
        if each["kind"] == "Deployment":
            pod = each["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            assert container["envFrom"] == [{"configMapRef": {"name": settings["metadata"]["name"]}}]
            ports = {it["name"]: it["containerPort"] for it in container["ports"]}
            probes = [container[name]["httpGet"] for name in container if name.endswith("Probe")]
            assert {it["path"] for it in probes} <= {"/healthz", "/readyz"}
            pause = container["lifecycle"]["preStop"]["exec"]["command"][-1] if "lifecycle" in container else 0
            found[_arguments(container.get("command"))] = Process(
                _of_image() | settings["data"] | {it["name"]: it["value"] for it in container["env"]},
                _mounted(pod, container),
                {ports[it["port"]] for it in probes},
                pod["terminationGracePeriodSeconds"] - int(pause),
            )
    return found


def _mounted(pod: dict[str, Any], container: dict[str, Any]) -> set[str]:
    """The paths of the secrets in a container."""
    (secret,) = (each for each in OBJECTS if each["kind"] == "Secret")
    (volume,) = (it for it in pod["volumes"] if "secret" in it)
    assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    (folder,) = (it["mountPath"] for it in container["volumeMounts"] if it["name"] == volume["name"])
    items = volume["secret"].get("items", [{"key": key, "path": key} for key in secret["stringData"]])
    assert {it["key"] for it in items} <= secret["stringData"].keys()
    return {f"{folder}/{it['path']}" for it in items}


def of_systemd(instance: int = 1) -> Processes:
    """The processes of the units, with all that domino.env says when the # before every setting is taken away."""
    found = {}
    for unit in UNITS.glob("*.service"):
        values: dict[str, list[str]] = defaultdict(list)
        for key, value in re.findall(r"^(\w+)=(.*)$", unit.read_text("utf-8"), re.MULTILINE):
            values[key].append(value.replace("%i", str(instance)))
        (file,) = values["EnvironmentFile"]
        text = (UNITS / file.rpartition("/")[2]).read_text("utf-8")
        environ = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))
        (command,) = values["ExecStart"]
        found[_arguments(command.split())] = Process(
            environ | dict(each.split("=", 1) for each in values["Environment"]),
            {f"%d/{each.partition(':')[0]}" for each in values["LoadCredential"]},
            set(),
            int(values["TimeoutStopSec"][0]),
        )
    return found


_IN_CONTAINERS: Final = {"METRICS_HOST": "0.0.0.0", "METRICS_PORT": "9100"}
_BEHIND_CADDY: Final = {"TRUSTED_PROXIES": "1", "PUBLIC_URL": "https://domino.example"}
OVERLAYS: Final = ("secrets.yaml", "replica.yaml", "cluster.yaml")


class Example(NamedTuple):
    """An example: what reads it, and the settings of the web server that differ from their defaults."""

    read: Callable[[], Processes]
    different: dict[str, str]


def _overlaid(name: str, **different: str) -> Example:
    return Example(lambda: of_compose("-f", "compose.yaml", "-f", EXAMPLES / name), _IN_CONTAINERS | different)


DEPLOYMENTS: Final = {
    "compose": Example(of_compose, _IN_CONTAINERS),
    "secrets.yaml": _overlaid("secrets.yaml"),
    "replica.yaml": _overlaid("replica.yaml", DURABILITY="replicated"),
    "cluster.yaml": _overlaid("cluster.yaml", DURABILITY="replicated"),
    "tls.env": Example(lambda: of_compose("--env-file", EXAMPLES / "tls.env"), _IN_CONTAINERS | _BEHIND_CADDY),
    "kubernetes": Example(of_kubernetes, _IN_CONTAINERS | {"TRUSTED_PROXIES": "1"}),
    "systemd": Example(of_systemd, {"METRICS_PORT": "9100"}),
}
