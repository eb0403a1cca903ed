"""One honest client in a thread: asks until it is answered, and counts what it did not deserve.

Owns what counts as a failure of the service. Does not depend on what is asked.
"""

from __future__ import annotations

import threading
import time
from random import Random
from typing import Any, Final

import orjson

from tools.attack.http import Address, Answer, Closed, Connection, request

_RETRY_SECONDS: Final = 0.1


class HonestClient(threading.Thread):
    """Does what ``run`` says until ``stopping`` is set. What it waits for is timed by ``begin`` and ``end``."""

    def __init__(self, address: Address, source: str) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.connection = Connection(address, source, patience=5.0)
        self._keys = Random()  # noqa: S311 # unique, not secret
        self._lock = threading.Lock()
        self._latencies: list[float] = []
        self._server_errors = 0
        self._refusals = 0
        self._began: float | None = None

    def begin(self) -> None:
        """Begin the time of what is waited for."""
        with self._lock:
            self._began = time.perf_counter()

    def end(self, *, done: bool) -> None:
        """End the time of what was waited for, which came if ``done``."""
        with self._lock:
            if done and self._began is not None:
                self._latencies.append(time.perf_counter() - self._began)
            self._began = None

    def reset(self) -> None:
        """Forget what happened until now."""
        with self._lock:
            self._latencies = []
            self._server_errors = self._refusals = 0

    def happened(self, since: float) -> tuple[list[float], list[float], int, int]:
        """Return the times of what is done, the time of what is waited for since then, server errors, and refusals."""
        with self._lock:
            waiting = [] if self._began is None else [time.perf_counter() - max(self._began, since)]
            return list(self._latencies), waiting, self._server_errors, self._refusals

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> dict[str, Any] | None:
        """Return the answer of status 2xx, asked for until there is one; ``None`` if it is refused, or at the stop."""
        key = (("Idempotency-Key", f"{self._keys.getrandbits(128):032x}"),) if method == "POST" else ()
        data = request(method, path, None if body is None else orjson.dumps(body), token=token, headers=key)
        while not self.stopping.is_set():
            try:
                answer = self.connection.send(data)
            except Closed:
                with self._lock:
                    self._refusals += 1
            else:
                if answer.status < 300:
                    found: dict[str, Any] = orjson.loads(answer.body)
                    return found
                self._count(answer)
                if answer.status < 500 and answer.status != 429:
                    return None
            self.stopping.wait(_RETRY_SECONDS)
        return None

    def _count(self, answer: Answer) -> None:
        with self._lock:
            if answer.status >= 500:
                self._server_errors += 1
            else:
                self._refusals += 1
