"""Prometheus and its ``promtool``, as Debian packages them; a test that needs them is skipped where they are missing.

Those on the ``PATH`` are taken; else the package is downloaded by ``apt-get``, and unpacked without root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import yaml

from tests.support.processes import free_ports
from tests.support.serving import ROOT
from tests.support.waiting import PATIENCE

FOLDER = ROOT / "examples" / "monitoring"
_KEPT = ROOT / ".cache" / "prometheus"


def program(name: str) -> str:
    """The path of ``prometheus`` or ``promtool``; skips the test where there is none."""
    found = shutil.which(name) or _unpacked(name)
    if found is None:
        pytest.skip(f"no {name}: it is in Debian's package prometheus")
    return found


@cache
def _unpacked(name: str) -> str | None:
    path = _KEPT / "usr" / "bin" / name
    if not path.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _KEPT.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_KEPT.parent) as folder:
            try:
                _run(["apt-get", "download", "prometheus"], folder)
                (package,) = Path(folder).glob("prometheus_*.deb")
                _run(["dpkg-deb", "-x", str(package), "unpacked"], folder)
                Path(folder, "unpacked").rename(_KEPT)
            except (subprocess.SubprocessError, ValueError, OSError):  # without a network, or another was faster
                pass
    return str(path) if path.exists() else None


def _run(command: Sequence[str], folder: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)


def rules() -> list[dict[str, Any]]:
    """The alerts of the example."""
    groups = yaml.safe_load((FOLDER / "rules.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


class Prometheus:
    """Asks these ports every two seconds; the alerts of the example fire at once, without their ``for``."""

    def __init__(self, folder: Path, ports: Mapping[str, int]) -> None:
        self._program = program("prometheus")
        self._folder = folder
        self._ports = ports
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        folder.mkdir()
        impatient = [{key: value for key, value in rule.items() if key != "for"} for rule in rules()]
        (folder / "rules.yml").write_text(json.dumps({"groups": [{"name": "domino", "rules": impatient}]}))
        targets = [{"targets": [f"127.0.0.1:{at}"], "labels": {"process": name}} for name, at in ports.items()]
        config = {
            "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "domino", "static_configs": targets}],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))

    def __enter__(self) -> Self:
        command = [
            self._program,
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address={self.url.removeprefix('http://')}",
            "--log.level=error",
        ]
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE)
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "GOMAXPROCS": "1"}
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)
        self._http.close()

    def until_scraped(self, *processes: str) -> None:
        """Wait until each of these processes was scraped twice, so that an increase is seen."""
        seen = "|".join(processes)
        self._until(
            lambda: len(self.query(f'count_over_time(up{{process=~"{seen}"}}[1m]) > 1')) == len(processes),
            lambda: f"scraped: {self.query('up')}",
        )

    def until_firing(self, *alerts: str) -> None:
        """Wait until all of these alerts have fired since the start."""
        wanted = set(alerts)
        self._until(lambda: wanted <= self.fired(), lambda: f"missing: {wanted - self.fired()}")

    def until_shown(self, expression: str) -> None:
        """Wait until an expression has a value."""
        self._until(lambda: bool(self.query(expression)), lambda: f"no value: {expression}")

    def fired(self) -> set[str]:
        """The alerts that have fired since the start."""
        found = self.query('count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))')
        return {each["metric"]["alertname"] for each in found}

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The values of an expression now; none while Prometheus is starting."""
        try:
            answer = self._http.post("/api/v1/query", data={"query": expression})
        except httpx.TransportError:
            return []
        if answer.status_code == 503:
            return []
        result: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["result"]
        return result

    def _until(self, is_so: Callable[[], bool], told: Callable[[], str]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < deadline, told()
            time.sleep(0.2)
