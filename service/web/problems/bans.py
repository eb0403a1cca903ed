"""Refuses clients from banned networks.

It is a WSGI middleware, so that nothing of such a request is parsed or counted by a limit. Owns how a network is found
quickly. Does not depend on where the networks are listed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from service.engine.errors import Reason
from service.texts import DEFAULT_LANGUAGE, LANGUAGES
from service.web.http.client_address import parse_address
from service.web.http.headers import accepted_language
from service.web.http.middleware import PROBLEM_REASON
from service.web.problems.answers import PROBLEM_JSON, problem_body
from service.web.problems.table import PROBLEMS, problem_title

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_CODE: Final = "forbidden"
_REASON: Final = "banned"
_STATUS: Final = PROBLEMS[_CODE].status
_BODIES: Final = {language: problem_body(Reason(_REASON), language) for language in LANGUAGES}


class BanMiddleware:
    """Wraps an application; clients whose ``REMOTE_ADDR`` is in one of these networks get 403 ``forbidden``."""

    def __init__(self, app: Callable[..., Iterable[bytes]], networks: Sequence[Network]) -> None:
        self._app = app
        # By version and length, so that the time does not depend on the number of networks.
        self._prefixes: dict[tuple[int, int], set[int]] = {}
        for network in networks:
            free_bits = network.max_prefixlen - network.prefixlen
            prefixes = self._prefixes.setdefault((network.version, free_bits), set())
            prefixes.add(int(network.network_address) >> free_bits)
        self._is_banned = lru_cache(maxsize=10_000)(self._find)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Handle a request as a WSGI application."""
        if not self._is_banned(environ.get("REMOTE_ADDR", "")):
            return self._app(environ, start_response)
        environ[PROBLEM_REASON] = _REASON
        language = accepted_language(environ)
        body = _BODIES[language]
        headers = [
            ("Content-Type", PROBLEM_JSON),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Content-Language", language),
            ("Vary", "Accept-Language"),
        ]
        start_response(f"{_STATUS} {problem_title(_CODE, DEFAULT_LANGUAGE)}", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _find(self, client: str) -> bool:
        address = parse_address(client)
        return address is not None and any(
            version == address.version and int(address) >> free_bits in prefixes
            for (version, free_bits), prefixes in self._prefixes.items()
        )
