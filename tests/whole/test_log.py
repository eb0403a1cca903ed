"""The log of the service: it contains no token, join code, key or tile, and its lines stay whole."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from service.engine.variants import variants
from tests.api.saved_games import shortest
from tests.support import lanes
from tests.support.serving import ROOT, Service
from tests.whole.table import Table, connect
from tests.whole.test_sockets import Connection

pytestmark = pytest.mark.gate

SEED = "a seed nobody may read"
TOKEN = re.compile(r"seat_[\w-]{20,}")


def test_no_secret_is_printed(tmp_path: Path) -> None:
    secrets: set[str] = {SEED, "wrong-token", "wrong-code", "Secret Ada"}
    service = Service(tmp_path, WORKERS="1", LOG_LEVEL="debug")
    with service, connect(service.url) as http:
        for variant in lanes.in_lane(list(variants()), quick=lanes.QUICK_VARIANTS):
            table = Table.create(http, variant, seed=SEED, options=shortest(variant))
            secrets |= set(table.tokens.values())
            for count, view in enumerate(table.play(1)):
                seat = table.to_move(view)
                if count % 20 == 0:
                    table.move(seat, {"action": "play", "tile": "99-99"})
                    table.move(seat, {"action": "pass", "version": 1})
                    table.move(seat, {"action": "fly", "token": table.tokens[seat]})
        waiting = Table.create(http, "domino", [{"name": "Secret Ada"}, {"open": True}], seed=SEED)
        assert waiting.join_code
        secrets |= {waiting.tokens[0], waiting.join_code}
        token = waiting.tokens[0]
        join = {"name": "Secret Ada", "join_code": waiting.join_code}
        for headers in ({"Authorization": "Bearer wrong-token"}, {"Authorization": f"Basic {token}"}):
            assert http.get(waiting.path, headers=headers).status_code == 401
        http.get(waiting.path, params={"token": token, "join_code": waiting.join_code})
        http.post(f"{waiting.path}/players", json={**join, "join_code": "wrong-code"})
        http.post(
            f"{waiting.path}/players", content=json.dumps(join)[:-1], headers={"Content-Type": "application/json"}
        )
        http.post(f"{waiting.path}/players", json={**join, "name": 1})
        # Requests so broken that they never reach the application.
        for broken in (
            f"GET {waiting.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization Bearer {token}\r\n\r\n",
            f"GET {waiting.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer\0{token}\r\n\r\n",
            f"GET {waiting.path} HTTP/1.1\r\nHost: localhost\r\nBearer {token}: x\r\n\r\n",
            f"GET {waiting.path}?token={token} HTTP/9.1\r\n\r\n",
            f"GET {waiting.path}?token={token}\r\n\r\n",
            f"Bearer {token}\r\n\r\n",
            f"POST {waiting.path}/players HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: {token}\r\n\r\n",
            f"POST {waiting.path}/players HTTP/1.1\r\nHost: localhost\r\nContent-Length: {token}\r\n\r\n",
            f"POST {waiting.path}/players HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{token}\r\n",
        ):
            with Connection(service) as connection:
                connection.send(broken)
                assert token.encode() not in connection.read().body
        taken = http.post(f"{waiting.path}/players", json=join)
        assert taken.status_code == 201
        secrets.add(taken.json()["token"])
    printed = "\n".join([*service.lines, ""]) + (tmp_path / "server.log").read_text()
    assert "Serving dominoes" in printed
    assert [line for line in printed.splitlines() if any(secret in line for secret in secrets)] == []
    assert not TOKEN.search(printed)
    assert "Traceback" not in printed


PRINT = "from service.devserver.terminal import print_line, warn; print_line('Serving'); warn('restarting')"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_each_line_of_the_supervisor_is_written_at_once(unbuffered: str) -> None:
    # Each write to a datagram socket is a message, so a line in two parts, which others could write between, is seen.
    reading, writing = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with reading, writing:
        environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        into = writing.fileno()
        subprocess.run([sys.executable, "-c", PRINT], cwd=ROOT, env=environ, stdout=into, stderr=into, check=True)
        reading.setblocking(False)
        written = []
        while True:
            try:
                written.append(reading.recv(1024))
            except BlockingIOError:
                break
    assert [part for part in written if part] == [b"Serving\n", b"domino-service: restarting\n"]
