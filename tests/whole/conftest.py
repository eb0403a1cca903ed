"""One running service for all tests of a worker that leave it as they found it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
import yaml

from tests.support.serving import Service
from tests.whole.contract import Contract
from tests.whole.table import connect


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="session")
def http(service: Service) -> Iterator[httpx.Client]:
    with connect(service.url) as client:
        yield client


@pytest.fixture
def contract(http: httpx.Client) -> Contract:
    return Contract(yaml.safe_load(http.get("/openapi.yaml").raise_for_status().text))
