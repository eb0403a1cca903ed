"""A certificate authority, and endpoints that are closed after the test."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from tests.outgoing.endpoints import HOST, PUBLIC, Behaviour, Endpoint

OpenEndpoint = Callable[..., Endpoint]


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trust(authority: trustme.CA) -> ssl.SSLContext:
    """What the sender trusts."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
def open_endpoint(authority: trustme.CA) -> Iterator[OpenEndpoint]:
    """Opens an endpoint with TLS, whose certificate is for ``names``; without TLS if there are none."""
    opened: list[Endpoint] = []

    def open_one(*behaviours: Behaviour, names: tuple[str, ...] = (HOST, PUBLIC), **options: Any) -> Endpoint:
        if names:
            options["tls"] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(*names).configure_cert(options["tls"])
        opened.append(Endpoint(*behaviours, **options))
        return opened[-1]

    yield open_one
    for endpoint in opened:
        endpoint.close()
