"""Hosts of endpoints, on all addresses of the loopback interface.

They take every message at once. Owns the server. Linux has all addresses of 127.0.0.0/8; elsewhere all hosts have one.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from types import TracebackType
from typing import Final, Self

import orjson

_START_SECONDS: Final = 10.0


class Hosts:
    """A server in a thread of its own, while the context lasts; ``asked`` counts its requests by the path."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(_START_SECONDS):
            raise TimeoutError("the hosts did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def url(self, address: str, path: str) -> str:
        """Return the URL of a path at the host with this address, by its name in ``tools.attack.names``."""
        return f"http://{address.replace('.', '-')}.ip.example:{self.port}{path}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "0.0.0.0", 0, backlog=1024))  # noqa: S104 # as above
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                path = head.split(b" ", 2)[1].decode()
                length = int(head.split(b"\r\ncontent-length:", 1)[1].split(b"\r\n", 1)[0])
                answer = self._answer(path, orjson.loads(await reader.readexactly(length)))
                lines = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
                writer.write(lines.encode() + answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _answer(self, path: str, message: dict[str, object]) -> bytes:
        self.asked[path] += 1
        data = message.get("data")
        assert isinstance(data, dict)
        return orjson.dumps({"challenge": data["challenge"]} if "challenge" in data else {})
