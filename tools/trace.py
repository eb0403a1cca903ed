"""The path of one move through the code: every call of a function of the service, in order.

``make trace`` plays some moves of a FIDO match in this process, with the real Redis adapter and an embedded server,
and prints the calls of the next one, module by module. It counts functions, methods and lambdas of ``service``,
but not comprehensions, which newer versions of Python inline. ``docs/architecture.md`` shows the main modules.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from werkzeug.test import EnvironBuilder

from service.bootstrap.web import build_app
from service.config import Settings
from service.devserver.embedded import EmbeddedServer
from service.games.store.admission import GROWTH

ROOT: Final = Path(__file__).parent.parent / "service"
WARM_UP_MOVES: Final = 6
"""Moves before the traced one: its game is cached by then, and all caches are filled."""
_COMPREHENSIONS: Final = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})

Header = tuple[str, str]


class Call(NamedTuple):
    """A call of a function of the service: how deep it is among them, its module below ``service``, its name."""

    depth: int
    module: str
    function: str


class Trace(NamedTuple):
    """The calls of a request, in order."""

    calls: tuple[Call, ...]

    @property
    def modules(self) -> int:
        """The number of modules."""
        return len({call.module for call in self.calls})

    @property
    def depth(self) -> int:
        """The maximum depth of the calls."""
        return max(call.depth for call in self.calls)

    def stays(self) -> list[tuple[str, list[str]]]:
        """Return, module by module, the functions called before another module was reached."""
        stays: list[tuple[str, list[str]]] = []
        for call in self.calls:
            if not stays or stays[-1][0] != call.module:
                stays.append((call.module, []))
            stays[-1][1].append(call.function)
        return stays


@contextmanager
def traced() -> Iterator[list[Call]]:
    """Collect the calls that are made within the block."""
    calls: list[Call] = []
    depth = 0
    root = f"{ROOT}{os.sep}"

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal depth
        code = frame.f_code
        if not code.co_filename.startswith(root) or code.co_name in _COMPREHENSIONS:
            return
        if event == "call":
            depth += 1
            module = code.co_filename[len(root) : -len(".py")].replace(os.sep, ".")
            calls.append(Call(depth, module, code.co_qualname.replace(".<locals>", "")))
        elif event == "return":
            depth -= 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


class Answer(NamedTuple):
    """The answer to a request, and the calls that made it."""

    status: int
    headers: Mapping[str, str]
    body: Any
    trace: Trace


class Client:
    """Sends requests to the application in this process."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, token: str | None = None, *headers: Header
    ) -> Answer:
        """Return the answer to a request. Raises ``RuntimeError`` for a problem."""
        if token is not None:
            headers = (*headers, ("Authorization", f"Bearer {token}"))
        environ = EnvironBuilder(path, method=method, headers=headers, json=body).get_environ()
        started: list[Any] = []
        with traced() as calls:
            data = b"".join(self._app(environ, lambda *head: started.extend(head)))
        status, fields = int(started[0][:3]), dict(started[1])
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {data!r}")
        return Answer(status, fields, json.loads(data) if data else None, Trace(tuple(calls)))


def create_game(ask: Client, wanted: Mapping[str, Any], key: str | None = None) -> Answer:
    """Return a game whose first moves all have the same calls.

    One move of many is also counted in the share of the tenant; which one depends on the id, which is random.
    """
    for _ in range(100):
        creation = ask("POST", "/v1/games", wanted, key)
        if ord(creation.body["game"]["id"][0]) % GROWTH < GROWTH // 4:
            return creation
    raise RuntimeError("no id begins like that")


def trace_move(variant: str = "fido") -> Trace:
    """Return the trace of a warm move of that variant: a tile is played, accepted, and the round goes on."""
    logging.getLogger().setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder, "data")) as server:
        settings = {"REDIS_URL": server.url, "DATA_DIR": folder, "LOG_LEVEL": "warning"}
        ask = Client(build_app(Settings.from_environ(settings)))
        players = [{"name": name} for name in "ABCD"]
        created = create_game(ask, {"variant": variant, "players": players, "seed": "trace"}).body
        tokens = {seat["seat"]: seat["token"] for seat in created["seats"]}
        path = f"/v1/games/{created['game']['id']}"
        turn: int = created["game"]["turn"]["seat"]
        for number in range(WARM_UP_MOVES + 50):
            move = ask("GET", f"{path}/moves", token=tokens[turn]).body["legal_moves"][0]
            made = ask("POST", f"{path}/moves", move, tokens[turn])
            if number >= WARM_UP_MOVES and move["action"] == "play" and made.body["status"] == "playing":
                return made.trace
            turn = made.body["turn"]["seat"]
    raise RuntimeError("no tile was played")


def table(trace: Trace) -> str:
    """Return the trace as a table in Markdown: module by module, the functions that were called."""
    lines = ["|  # | module | functions |", "|---:|---|---|"]
    for number, (module, functions) in enumerate(trace.stays(), 1):
        counted = Counter(functions)
        shown = ", ".join([f"`{name}`" + (f" × {count}" if count > 1 else "") for name, count in counted.items()])
        lines.append(f"| {number} | `{module}` | {shown} |")
    lines.append("")
    lines.append(f"{len(trace.calls)} calls, {trace.modules} modules, {trace.depth} deep.")
    return "\n".join(lines)


def main() -> int:
    """Print the trace."""
    print(table(trace_move()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
