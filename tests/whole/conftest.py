"""One running service for the tests of this folder that leave it as they found it.

Not for the session: a service that nobody uses takes a tenth of a core.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.devserver.embedded import running_url
from tests.storage.servers import RealServer
from tests.support.contract import Contract, read_document
from tests.support.processes import free_ports
from tests.support.serving import Service
from tests.whole.operating import Application, Operator, Site
from tests.whole.table import connect


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="package")
def http(service: Service) -> Iterator[httpx.Client]:
    with connect(service.url) as client:
        yield client


@pytest.fixture(scope="package")
def document(http: httpx.Client) -> dict[str, Any]:
    return read_document(http.get("/openapi.yaml").raise_for_status().content)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    with RealServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def contract(document: dict[str, Any]) -> Contract:
    return Contract(document)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    data, (port,) = folder / "data", free_ports(1)
    with Service(data, TRUSTED_PROXIES="1", METRICS_PORT=str(port)) as service:
        url = running_url(data)
        assert url is not None
        environ = {"DATA_DIR": str(data), "REDIS_URL": url, "DOMINO": service.url, "METRICS": service.metrics_url}
        with connect(service.url) as client:
            yield Site(service, Operator(folder / "bin", **environ), client)


@pytest.fixture
def application(site: Site) -> Iterator[Application]:
    """A new application of the site."""
    key = site.service.new_key()
    with connect(site.service.url) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        yield Application(client.get("/v1/app").raise_for_status().json()["id"], key, client)
