"""The examples of proxies, each before a real service: Caddy, nginx and HAProxy, of whatever release is installed."""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import trustme

from service.devserver.terminal import die_with_parent
from tests.deployment.tools import EXAMPLES, checked, tool
from tests.outgoing.endpoints import Endpoint, answer
from tests.storage.clusters import until
from tests.support.processes import free_ports
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE
from tests.whole.stream_reader import NDJSON, SSE
from tests.whole.table import Table

pytestmark = pytest.mark.nightly
CADDYFILE = EXAMPLES / "Caddyfile"
GAME = {"variant": "domino", "players": [{"name": "A"}, {"name": "B"}]}
CREATES = 3


class Front(NamedTuple):
    """A proxy that runs: its addresses, and the authority that has signed its certificate."""

    http: str
    https: str
    authority: ssl.SSLContext

    def client(self, address: str = "127.0.0.1") -> httpx.Client:
        """A client at this address of loopback."""
        transport = httpx.HTTPTransport(local_address=address, verify=self.authority)
        return httpx.Client(base_url=self.https, timeout=PATIENCE, transport=transport)


@pytest.fixture(scope="module", params=["caddy", "nginx", "haproxy"])
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp(request.param)
    with limited_service(folder) as service, running(request.param, folder, service.url) as front:
        yield front


def limited_service(folder: Path) -> Service:
    return Service(
        folder / "data", TRUSTED_PROXIES="1", CREATES_PER_MINUTE=str(CREATES), WORKERS="1", MAX_STREAMS_PER_ADDRESS="1"
    )


@contextmanager
def running(proxy: str, folder: Path, upstream: str, **changed: str) -> Iterator[Front]:
    """A proxy of this kind before the service at ``upstream``, by the file of the examples.

    The file is changed only in its ports, its certificate and its upstream, and in what is ``changed``.
    """
    tool(proxy)
    command, environ, authority = START[proxy](folder, upstream.removeprefix("http://"), free_ports(2), changed)
    plain, tls = environ["LISTEN_HTTP"], environ["LISTEN_HTTPS"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            die_with_parent(command, signal.SIGKILL), env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield when_ready(int(plain), int(tls), authority)
    finally:
        process.kill()
        process.wait(PATIENCE)


Started = tuple[list[str], dict[str, str], Path]
"""The command of a proxy, its environment with its two ports, and the authority that has signed its certificate."""


def caddy(folder: Path, upstream: str, ports: list[int], _changed: dict[str, str]) -> Started:
    environ = os.environ | listening(ports) | {"TLS_HOST": "localhost", "UPSTREAM": upstream}
    environ |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [tool("caddy"), "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    return command, environ, folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"


def nginx(folder: Path, upstream: str, ports: list[int], changed: dict[str, str]) -> Started:
    key, certificates, authority = certified(folder)
    plain, tls = ports
    written = adapted(
        "nginx.conf",
        {
            "127.0.0.1:8000": upstream,
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ": f"listen 127.0.0.1:{tls} ",
            "server_name domino.example;": "server_name localhost;",
            "https://$host$request_uri": f"https://$host:{tls}$request_uri",
            "/etc/ssl/domino.pem": str(certificates),
            "/etc/ssl/domino.key": str(key),
            **changed,
        },
    )
    config = folder / "nginx.conf"
    places = "".join(f"{name}_temp_path {folder};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config.write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\n"
        f"events {{}}\nhttp {{\naccess_log off; {places}\n{written}}}\n"
    )
    return [tool("nginx"), "-e", "stderr", "-c", str(config)], os.environ | listening(ports), authority


def haproxy(folder: Path, upstream: str, ports: list[int], changed: dict[str, str]) -> Started:
    key, certificates, authority = certified(folder)
    both = folder / "both.pem"
    both.write_bytes(certificates.read_bytes() + key.read_bytes())
    plain, tls = ports
    written = adapted(
        "haproxy.cfg",
        {
            "127.0.0.1:8000": upstream,
            "bind :80": f"bind 127.0.0.1:{plain}",
            "bind :443 ": f"bind 127.0.0.1:{tls} ",
            "redirect scheme https": f"redirect prefix https://localhost:{tls}",
            "/etc/ssl/domino-with-key.pem": str(both),
            **changed,
        },
    )
    config = folder / "haproxy.cfg"
    config.write_text(written)
    return [tool("haproxy"), "-db", "-f", str(config)], os.environ | listening(ports), authority


START: dict[str, Callable[[Path, str, list[int], dict[str, str]], Started]] = {
    "caddy": caddy,
    "nginx": nginx,
    "haproxy": haproxy,
}


def listening(ports: list[int]) -> dict[str, str]:
    return dict(zip(("LISTEN_HTTP", "LISTEN_HTTPS"), map(str, ports), strict=True))


def adapted(name: str, changes: dict[str, str]) -> str:
    """The example with these changes, each of which it must have."""
    text = (ROOT / "examples" / "proxies" / name).read_text("utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    return text


def certified(folder: Path) -> tuple[Path, Path, Path]:
    """Files with a key, its certificate for localhost, and the authority that has signed it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    key, certificates, root = folder / "key.pem", folder / "certificates.pem", folder / "root.pem"
    issued.private_key_pem.write_to_path(key)
    for blob in issued.cert_chain_pems:
        blob.write_to_path(certificates, append=True)
    authority.cert_pem.write_to_path(root)
    return key, certificates, root


def when_ready(plain: int, tls: int, authority: Path) -> Front:
    """Wait until the proxy answers at both ports: Caddy makes its certificates after the start."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            assert httpx.get(f"http://localhost:{plain}/", timeout=PATIENCE).status_code in (200, 308)
            front = Front(
                f"http://localhost:{plain}", f"https://localhost:{tls}", ssl.create_default_context(cafile=authority)
            )
            with front.client() as http:
                assert http.get("/healthz").status_code in (200, 404)
        except (OSError, httpx.TransportError, AssertionError):
            time.sleep(0.05)
        else:
            return front
    raise AssertionError("the proxy did not answer")


@pytest.mark.gate
def test_caddy_accepts_the_file_and_its_form() -> None:
    program = tool("caddy")
    done = checked(program, "validate", "--config", CADDYFILE, "--adapter", "caddyfile", TLS_HOST="domino.example")
    assert done.returncode == 0, done.stderr
    done = checked(program, "fmt", CADDYFILE)
    assert done.stdout == CADDYFILE.read_text("utf-8")


@pytest.mark.parametrize("proxy", START)
def test_the_date_is_that_of_the_service(proxy: str, tmp_path: Path) -> None:
    date = "Fri, 02 Jan 1970 00:00:00 GMT"
    service = Endpoint(answer("200 OK", b"{}", f"Date: {date}"))
    with (
        closing(service),
        running(proxy, tmp_path, f"http://127.0.0.1:{service.port}") as front,
        front.client() as http,
    ):
        assert http.get("/v1/variants").headers.get_list("Date") == [date]


def test_streams_share_a_connection(front: Front) -> None:
    front.authority.set_alpn_protocols(["h2"])
    host, port = "localhost", int(front.https.rpartition(":")[2])
    with (
        socket.create_connection((host, port)) as plain,
        front.authority.wrap_socket(plain, server_hostname=host) as tls,
    ):
        assert tls.selected_alpn_protocol() == "h2"
    front.authority.set_alpn_protocols(["http/1.1"])


def test_below_a_prefix_every_link_leads_to_the_service(tmp_path: Path) -> None:
    below = {"location / {": "location /games/domino/ {", "http://domino;": "http://domino/;"}
    with limited_service(tmp_path) as service, running("nginx", tmp_path, service.url, **below) as front:
        base = f"{front.https}/games/domino/"
        with front.client() as http:
            index = http.get(base).json()
            links = [index[name] for name in ("contract", "docs", "variants", "problems")]
            for page in ("", "docs/"):
                got = http.get(base + page, headers={"Accept": "text/html"})
                links += [str(got.url.join(each)) for each in re.findall(r'(?:src|href)="([^"#]+)"', got.text)]
            for link in links:
                got = http.get(httpx.URL(base).join(link), follow_redirects=True)
                assert (got.status_code, str(got.url).startswith(base)) == (200, True), link
            made = http.post(f"{base}v1/games", json=GAME)
            assert http.get(made.url.join(made.headers["Location"])).json()["id"] == made.json()["game"]["id"]


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
