"""The Caddyfile of examples/compose, with a real Caddy in front of a real service."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from service.devserver.terminal import die_with_parent
from tests.deployment.tools import EXAMPLES, checked, tool
from tests.storage.clusters import until
from tests.support.processes import free_ports
from tests.support.serving import Service
from tests.support.waiting import PATIENCE
from tests.whole.stream_reader import NDJSON, SSE
from tests.whole.table import Table

pytestmark = pytest.mark.nightly
CADDYFILE = EXAMPLES / "Caddyfile"
GAME = {"variant": "domino", "players": [{"name": "A"}, {"name": "B"}]}
CREATES = 3


class Front(NamedTuple):
    """A Caddy that runs: its addresses, and the authority that has signed its certificate."""

    http: str
    https: str
    authority: ssl.SSLContext

    def client(self, address: str = "127.0.0.1") -> httpx.Client:
        """A client at this address of loopback."""
        transport = httpx.HTTPTransport(local_address=address, verify=self.authority)
        return httpx.Client(base_url=self.https, timeout=PATIENCE, transport=transport)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    program, tmp_path = tool("caddy"), tmp_path_factory.mktemp("caddy")
    plain, tls = free_ports(2)
    with Service(
        tmp_path / "data",
        TRUSTED_PROXIES="1",
        CREATES_PER_MINUTE=str(CREATES),
        WORKERS="1",
        MAX_STREAMS_PER_ADDRESS="1",
    ) as service:
        environ = {
            **os.environ,
            "TLS_HOST": "localhost",
            "LISTEN_HTTP": str(plain),
            "LISTEN_HTTPS": str(tls),
            "UPSTREAM": service.url.removeprefix("http://"),
            "XDG_DATA_HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
        }
        command = [program, "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
        with (tmp_path / "caddy.log").open("wb") as log:
            caddy = subprocess.Popen(
                die_with_parent(command, signal.SIGKILL), env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            yield when_ready(plain, tls, tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt")
        finally:
            caddy.kill()
            caddy.wait(PATIENCE)


def when_ready(plain: int, tls: int, authority: Path) -> Front:
    """Wait until Caddy answers at both ports: it makes its certificates after the start."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            assert httpx.get(f"http://127.0.0.1:{plain}/healthz", timeout=PATIENCE).status_code == 200
            front = Front(
                f"http://localhost:{plain}", f"https://localhost:{tls}", ssl.create_default_context(cafile=authority)
            )
            with front.client() as http:
                assert http.get("/healthz").status_code == 200
        except (OSError, httpx.TransportError):
            time.sleep(0.05)
        else:
            return front
    raise AssertionError("Caddy did not answer")


@pytest.mark.gate
def test_caddy_accepts_the_file_and_its_form() -> None:
    program = tool("caddy")
    done = checked(program, "validate", "--config", CADDYFILE, "--adapter", "caddyfile", TLS_HOST="domino.example")
    assert done.returncode == 0, done.stderr
    done = checked(program, "fmt", CADDYFILE)
    assert done.stdout == CADDYFILE.read_text("utf-8")


def test_http_is_sent_to_https_and_the_page_is_served(front: Front) -> None:
    answer = httpx.get(front.http, timeout=PATIENCE)
    assert answer.status_code == 308
    assert answer.headers["Location"].startswith("https://localhost")
    with front.client() as http:
        page = http.get("/", headers={"Accept": "text/html"})
    assert "Domino" in page.text
    assert "Alt-Svc" not in page.headers  # no port of UDP is published


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has every address of 127.0.0.0/8")
def test_limits_count_the_address_of_the_client_and_not_what_it_claims(front: Front) -> None:
    claim = {"X-Forwarded-For": "192.0.2.7"}
    for address in ("127.0.0.5", "127.0.0.6"):
        with front.client(address) as http:
            statuses = [http.post("/v1/games", json=GAME, headers=claim).status_code for _ in range(CREATES + 1)]
        assert statuses == [201] * CREATES + [429]


@pytest.mark.parametrize("media_type", [SSE, NDJSON])
def test_events_of_a_stream_are_passed_on_at_once(front: Front, media_type: str) -> None:
    with front.client() as http, front.client() as watching:
        table = Table.create(http, "fido", seed="a rainy evening", options={"rounds": 1})
        after = http.get(table.path, headers=table.headers(0)).json()["version"]
        headers = {**table.headers(0), "Accept": media_type, "Last-Event-ID": str(after)}
        with watching.stream("GET", f"{table.path}/events", headers=headers) as stream:
            lines = stream.iter_lines()
            for _, view in zip(range(3), table.play(1), strict=False):
                version = view["version"]
                assert any(f'"version":{version}' in line.replace(" ", "") for line in lines)


def test_a_stream_that_its_client_has_left_ends_at_the_service_too(front: Front) -> None:
    with front.client() as http:
        table = Table.create(http, "fido", seed="a rainy evening", options={"rounds": 1})
        headers = {**table.headers(0), "Accept": SSE}
        path = f"{table.path}/events"
        with front.client() as watching, watching.stream("GET", path, headers=headers) as stream:
            assert stream.status_code == 200
            assert not opens(http, path, headers)  # an address has one stream at a time
        until(lambda: opens(http, path, headers))


def opens(http: httpx.Client, path: str, headers: dict[str, str]) -> bool:
    """Whether a stream is opened; it is left at once."""
    with http.stream("GET", path, headers=headers) as stream:
        assert stream.status_code in (200, 503)
        return stream.status_code == 200
