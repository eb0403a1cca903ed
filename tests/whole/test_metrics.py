"""Metrics are summed over all workers; the log is one JSON object a line."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import tempfile
import time
from os import kill
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.devserver.embedded import EmbeddedServer
from tests.support.processes import free_ports
from tests.support.serving import ALONE, Service
from tests.support.waiting import PATIENCE, until
from tests.whole.table import TLS, Table, connect

pytestmark = pytest.mark.gate


def samples(url: str) -> dict[tuple[str, ...], float]:
    """The metrics, requested on a new connection, so that any worker may answer."""
    answer = httpx.get(f"{url}/metrics", timeout=PATIENCE, verify=TLS).raise_for_status()
    assert answer.headers["Content-Type"].startswith("text/plain")
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def is_compacted_soon(service: Service) -> bool:
    """Whether the events of a finished game are compacted; a few more are finished, as after a slow write none is."""
    with connect(service.url) as http:
        for _ in range(4):
            deadline = time.monotonic() + PATIENCE / 4
            while time.monotonic() < deadline:
                if samples(service.metrics_url).get(("domino_redis_command_duration_seconds_count", "compact")) == 2:
                    return True
                time.sleep(0.05)
            for _ in Table.create(http, "domino", 2).play(1):
                pass
    return False


def clock_offset(service: Service) -> float:
    """The measured offset; a measurement that took too long is repeated by a later request."""

    def offsets() -> list[float]:
        httpx.get(f"{service.url}/v1/lobby", timeout=PATIENCE, verify=TLS)
        return [
            value for name, value in samples(service.metrics_url).items() if name == ("domino_clock_offset_seconds",)
        ]

    return until(offsets)[0]


def test_two_workers_answer_for_both_also_for_one_that_died(tmp_path: Path) -> None:
    with Service(tmp_path, WORKERS="2", METRICS_PORT=str(free_ports(1)[0]), **ALONE) as service:
        for _ in range(40):
            assert httpx.get(f"{service.url}/v1/variants", timeout=PATIENCE, verify=TLS).status_code == 200
        asked = ("domino_http_requests_total", "GET", "/v1/variants", "200")
        assert {samples(service.metrics_url)[asked] for _ in range(10)} == {40}
        with connect(service.url) as http:
            table = Table.create(http, "domino", 2)
            streaming = {"Accept": "text/event-stream"}
            with http.stream("GET", f"{table.path}/events", headers=streaming) as stream:
                assert stream.status_code == 200
                assert samples(service.metrics_url)["domino_open_streams",] == 1
            for _ in table.play(1):
                pass
        counted = samples(service.metrics_url)
        assert counted["domino_game_status_transitions_total", "finished"] == 1
        assert (
            counted["domino_redis_command_duration_seconds_count", "commit"]
            == counted["domino_moves_total", "domino"]
            > 10
        )
        assert abs(clock_offset(service)) < 0.25, "it is the same machine"
        assert is_compacted_soon(service), "its events are read, and replaced"
        kill(service.workers()[0], signal.SIGKILL)
        assert samples(service.metrics_url)[asked] == 40


SPELLINGS = (
    *("/metrics", "//metrics", "///metrics", "/%6detrics"),
    *("/metrics/", "/./metrics", "/x/../metrics", "/x/metrics"),
)


def get(url: str, path: str, *headers: str) -> tuple[int, bytes]:
    """Request a path exactly as it is written; the status and the body."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        lines = [f"GET {path} HTTP/1.1", "Connection: close", *headers]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, response.read()


def test_the_metrics_are_on_their_own_port_alone(tmp_path: Path, service: Service) -> None:
    (port,) = free_ports(1)
    with (
        EmbeddedServer(tmp_path / "store") as store,
        Service(tmp_path / "data", REDIS_URL=store.url, WORKERS="1", METRICS_PORT=str(port)) as own,
    ):
        for url in (own.url, service.url):  # with a port for metrics, and without one
            for path in SPELLINGS:
                for headers in (["Host: x"], [f"Host: 127.0.0.1:{port}"]):
                    status, body = get(url, path, *headers)
                    assert status == 404, path
                    assert b"domino_http" not in body
            assert get(url, "/healthz", "Host: x")[0] == 200
        for path in ("/metrics", "/healthz", "/readyz"):
            assert get(own.metrics_url, path, "Host: x")[0] == 200
        for path in ("/v1/variants", "/docs/", "/openapi.yaml", "/", "/x/metrics"):
            assert get(own.metrics_url, path, "Host: x")[0] == 404, path


def test_on_a_unix_socket_the_host_does_not_lead_to_the_metrics() -> None:
    (port,) = free_ports(1)
    # Where the path is short, it may be that of a socket.
    with tempfile.TemporaryDirectory(prefix="d-") as folder, EmbeddedServer(Path(folder, "store")) as store:
        binds = f"--bind=127.0.0.1:0 --bind=unix:{folder}/web.sock"
        data = Path(folder, "data")
        with Service(data, REDIS_URL=store.url, WORKERS="1", METRICS_PORT=str(port), GUNICORN_CMD_ARGS=binds):
            transport = httpx.HTTPTransport(uds=f"{folder}/web.sock")
            with httpx.Client(transport=transport, base_url=f"http://localhost:{port}", timeout=PATIENCE) as client:
                assert client.get("/healthz").status_code == 200
                assert client.get("/metrics").status_code == 404


def test_every_line_of_the_workers_is_json_and_names_no_path(tmp_path: Path) -> None:
    with Service(tmp_path, WORKERS="1", LOG_LEVEL="debug", **ALONE) as service, connect(service.url) as http:
        table = Table.create(http, "domino", 2)
        for headers in (["Host: x"], [], ["Host: x", f"X: {table.id}", "no colon"], ["Host: x", f"X-{table.id}: \0"]):
            get(service.url, f"{table.path}?wanted=2", *headers)
            get(service.url, f"/{table.path}", *headers)
        answer = http.get(f"{table.path}/score?wanted=1", headers={"X-Request-ID": "from-a-test"})
        assert answer.headers["X-Request-ID"] == "from-a-test"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    said = [line for line in service.lines if not line.startswith("{")]
    assert all(re.match(r"(Serving|Others|Try it:|Ctrl-C|Stopping)", line) for line in said), said
    lines = [json.loads(line) for line in service.lines if line.startswith("{")]
    assert {"service.web.http.middleware", "gunicorn.error"} <= {line["logger"] for line in lines}
    (read,) = [line for line in lines if line.get("request_id") == "from-a-test"]
    assert (read["route"], read["status"]) == ("/v1/games/<game>/score", 422)
    assert not any(table.id in line or "wanted" in line for line in service.lines)
