"""One running service for all tests of a worker that leave it as they found it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.contract import Contract, read_document
from tests.support.serving import Service
from tests.whole.table import connect


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service"), APPS="open") as running:
        yield running


@pytest.fixture(scope="session")
def http(service: Service) -> Iterator[httpx.Client]:
    with connect(service.url) as client:
        yield client


@pytest.fixture(scope="session")
def document(http: httpx.Client) -> dict[str, Any]:
    return read_document(http.get("/openapi.yaml").raise_for_status().content)


@pytest.fixture
def contract(document: dict[str, Any]) -> Contract:
    return Contract(document)
