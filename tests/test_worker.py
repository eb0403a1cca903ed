"""The worker: time limits for slow clients, and a shutdown that finishes the running requests."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from service.server import gunicorn_conf
from service.server.gunicorn_worker import DISCARD_STEP_BYTES, MAX_DISCARDED_BYTES, MAX_HEAD_BYTES
from tests.support.supervised import NO_REDIS, ROOT, Run, all_gone, linux_only, run
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

REAL = "service.bootstrap.web:create()"
LONG_GRACE = "600"
"""A GRACEFUL_TIMEOUT, in seconds, so much longer than PATIENCE that a test fails if a stop takes that long."""
SHORT_LIMITS = "--worker-class=tests.support.worker_limits.ShortLimitsWorker --keep-alive=1"
LONG_LAST_REQUEST = "--worker-class=tests.support.worker_limits.LongLastRequestWorker"
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n"
YIELDS_TO_SOCKETS = """
from gevent import monkey

monkey.patch_all()
import gevent, socket
from service.bootstrap.web import yield_control
from service.server.gunicorn_worker import YIELD_SECONDS

yields = {"worker": lambda: gevent.sleep(YIELD_SECONDS), "long work": yield_control}[%r]
here, there = socket.socketpair()
reader = gevent.spawn(here.recv, 1)
gevent.sleep(0.001)  # now it waits for its socket
others = [gevent.spawn(lambda: [yields() for _ in range(1000)]) for _ in range(3)]
there.send(b"x")
for _ in range(500):
    yields()
print(reader.dead)
"""
"""Prints whether a greenlet whose socket has data runs before those that only yield have finished half their loops."""

DISCARDS_A_BODY = """
import itertools, json
from types import SimpleNamespace
import gevent
from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import IterUnreader
from service.server import gunicorn_worker

yields = 0
def count(seconds):
    global yields
    yields += 1

reader = LengthReader(IterUnreader(itertools.repeat(b"0" * 8192)), 900_000_000_000)
gevent.sleep = count
try:
    gunicorn_worker.discard_body(SimpleNamespace(body=Body(reader)))
    closed = False
except StopIteration:
    closed = True
print(json.dumps({"closed": closed, "discarded": 900_000_000_000 - reader.length, "yields": yields}))
"""
"""Discards an endless body, and counts the bytes, and how often other greenlets may run."""


def read_response(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """The next response on the connection, which must have a Content-Length."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    with contextlib.closing(response):
        body = response.read()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, body


def is_closed(connection: socket.socket) -> bool:
    """Whether the next read is the end of the connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def send_slowly(connection: socket.socket, data: bytes, pause: float) -> Iterator[None]:
    """Send byte by byte, until the other side sends something or closes the connection."""
    connection.settimeout(pause)
    for index in range(len(data)):
        try:
            connection.sendall(data[index : index + 1])
            connection.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            yield
        except ConnectionError:
            break
        else:
            break
    else:
        raise AssertionError("all bytes were accepted")
    connection.settimeout(PATIENCE)


def test_a_slow_request_head_closes_the_connection(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=SHORT_LIMITS) as it, it.connect() as connection:
        for _ in send_slowly(connection, GET % (b"/healthz" + b"x" * 2000), 0.05):
            pass
        assert is_closed(connection)
        assert it.get("/healthz")[0] == 200


@pytest.mark.parametrize("length", [b"Content-Length: 1000", b"Transfer-Encoding: chunked"])
def test_a_slow_request_body_is_malformed_and_closes_the_connection(length: bytes, tmp_path: Path) -> None:
    with run(tmp_path, app=REAL, GUNICORN_CMD_ARGS=SHORT_LIMITS) as it, it.connect() as connection:
        connection.sendall(POST % (b"/v1/games", length))
        for _ in send_slowly(connection, b"3e8\r\n" + b" " * 900, 0.05):
            pass
        status, headers, body = read_response(connection)
        assert (status, json.loads(body)["code"]) == (400, "malformed")
        assert headers["connection"] == "close"
        assert is_closed(connection)


def test_a_body_in_parts_is_accepted_within_the_time_limit(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS="--keep-alive=60") as it, it.connect() as connection:
        for _ in range(2):
            connection.sendall(POST % (b"/body", b"Expect: 100-continue\r\nContent-Length: 10"))
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # the application waits for the first part
            for part in (b"12345", b"67890"):
                connection.sendall(part)
            status, headers, body = read_response(connection)
            assert (status, json.loads(body), headers["connection"]) == (200, {"bytes": 10}, "keep-alive")
            assert headers["date"] == "Fri, 02 Jan 1970 00:00:00 GMT"  # by the clock of the application


def test_a_client_that_does_not_read_its_response_is_disconnected(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=SHORT_LIMITS) as it, it.connect() as connection:
        connection.sendall(GET % b"/flood")
        it.until(lambda: "flood is closed" in it.output())
        it.until(lambda: "client too slow" in it.output())
        assert "Traceback" not in it.output()
        assert it.get("/healthz")[0] == 200


def test_a_client_that_pipelines_and_reads_no_response_is_disconnected(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=SHORT_LIMITS) as it, it.connect() as connection:
        connection.settimeout(0.5)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while True:  # until the socket buffers are full
                connection.sendall(GET % b"/healthz" * 1000)
        connection.settimeout(PATIENCE)
        it.until(lambda: "client too slow" in it.output())
        assert "Traceback" not in it.output()


@pytest.mark.parametrize("path", [b"/nothing", b"/healthz"])
@pytest.mark.parametrize("length", [b"Content-Length: 900000000000", b"Transfer-Encoding: chunked"])
def test_an_endless_body_is_not_read_to_its_end(length: bytes, path: bytes, tmp_path: Path) -> None:
    piece = b"0" * 65536 if length.startswith(b"Content") else b"10000\r\n" + b"0" * 65536 + b"\r\n"
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        connection.sendall(POST % (path, length))
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 64 * MAX_DISCARDED_BYTES:
                connection.sendall(piece)
                sent += len(piece)
        # What was not read was in the buffers of the two sockets.
        assert sent < 32 * MAX_DISCARDED_BYTES
        assert it.get("/healthz")[0] == 200


@pytest.mark.parametrize("keep_alive", [True, False])
def test_a_client_that_sends_a_refused_body_whole_reads_its_response(keep_alive: bool, tmp_path: Path) -> None:
    header = b"" if keep_alive else b"Connection: close\r\n"
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        connection.sendall(POST % (b"/nothing", header + b"Content-Length: 300000") + b"0" * 300_000)
        status, headers, _ = read_response(connection)
        assert (status, headers["connection"]) == (404, "keep-alive" if keep_alive else "close")
        if keep_alive:
            connection.sendall(GET % b"/healthz")
            assert read_response(connection)[0] == 200
        else:
            assert is_closed(connection)


def test_a_malformed_chunk_of_an_unread_body_closes_the_connection(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        connection.sendall(POST % (b"/nothing", b"Transfer-Encoding: chunked") + b"x\r\n" + GET % b"/healthz")
        assert read_response(connection)[0] == 404
        assert is_closed(connection)


def test_other_requests_run_while_a_body_is_discarded() -> None:
    script = DISCARDS_A_BODY
    output = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    steps = MAX_DISCARDED_BYTES // DISCARD_STEP_BYTES
    assert json.loads(output) == {"closed": True, "discarded": MAX_DISCARDED_BYTES, "yields": steps}


@pytest.mark.parametrize("name", [b"Accept", b"X-Any"])
def test_a_long_head_is_malformed(name: bytes, tmp_path: Path) -> None:
    lines = b"".join([b"%b: %b\r\n" % (name, b"x" * 4000)] * (MAX_HEAD_BYTES // 4000 + 3))
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n")
        status, headers, body = read_response(connection)
        assert (status, json.loads(body)["code"], headers["connection"]) == (400, "malformed", "close")
        assert (json.loads(body)["type"], json.loads(body)["reason"]) == ("/problems#malformed", "malformed")
        assert headers["content-language"] == "en"


@pytest.mark.parametrize("caller", ["worker", "long work"])
def test_yielding_lets_a_connection_with_data_be_read(caller: str) -> None:
    script = YIELDS_TO_SOCKETS % caller
    output = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output == "True\n"


@linux_only
def test_a_silent_dead_peer_times_out() -> None:
    class Server:
        LISTENERS: ClassVar[list[SimpleNamespace]] = []

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Server.LISTENERS.append(SimpleNamespace(sock=listener))
        gunicorn_conf._detect_dead_peers(Server)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as connection:
            timeout = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert timeout == gunicorn_conf.SILENT_PEER_SECONDS * 1000


def test_a_stop_lets_the_application_end_its_streams(tmp_path: Path) -> None:
    with (
        run(tmp_path, REDIS_URL=NO_REDIS, WORKERS="2", GRACEFUL_TIMEOUT=LONG_GRACE) as it,
        contextlib.ExitStack() as stack,
    ):
        it.until(lambda: it.output().count("loaded\n") == 2)  # before that, a worker has nothing to drain
        connections = [stack.enter_context(it.connect()) for _ in range(6)]
        for connection in connections:
            connection.sendall(GET % b"/stream")
            assert connection.recv(10)
        it.process.terminate()
        for connection in connections:
            with connection.makefile("rb") as body:
                assert body.read().endswith(b"ends\n\r\n0\r\n\r\n")
        assert it.process.wait(PATIENCE) == 0  # long before GRACEFUL_TIMEOUT
        assert it.output().count("drain\n") == 2


def test_a_stop_during_a_response_closes_its_connection(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        connection.sendall(GET % b"/until-drained")
        it.until(lambda: "slow begins" in it.output())
        it.process.terminate()
        status, headers, _ = read_response(connection)
        assert (status, headers["connection"]) == (200, "close")
        assert is_closed(connection)
        assert it.process.wait(PATIENCE) == 0


def test_a_stop_during_a_request_body_waits_for_it(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection, it.connect() as idle:
        idle.sendall(GET % b"/healthz")
        assert read_response(idle)[0] == 200
        connection.sendall(POST % (b"/body", b"Expect: 100-continue\r\nContent-Length: 10"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # the application reads it now
        it.process.terminate()
        assert is_closed(idle)  # the time for idle connections is over
        connection.sendall(b"1234567890")
        status, headers, body = read_response(connection)
        assert (status, json.loads(body), headers["connection"]) == (200, {"bytes": 10}, "close")
        assert it.process.wait(PATIENCE) == 0


def test_at_a_stop_a_busy_client_gets_one_more_response_and_is_disconnected(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=LONG_LAST_REQUEST) as it, it.connect() as connection:
        connection.sendall(GET % b"/healthz")
        assert read_response(connection)[1]["connection"] == "keep-alive"
        it.process.terminate()
        it.until(lambda: "drain" in it.output())
        connection.sendall(GET % b"/healthz")
        status, headers, _ = read_response(connection)
        assert (status, headers["connection"]) == (200, "close")
        assert is_closed(connection)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", GET % b"/healthz"])
def test_idle_connections_do_not_delay_a_stop(sent: bytes, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LONG_GRACE) as it, it.connect() as connection:
        connection.sendall(sent)
        if sent.endswith(b"\r\n\r\n"):
            assert read_response(connection)[0] == 200
        assert it.get("/healthz")[0] == 200
        assert it.stop() == 0  # long before GRACEFUL_TIMEOUT
        assert is_closed(connection)


def test_without_a_master_a_worker_finishes_its_requests_and_ends(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.connect() as connection:
        pids = it.get("/healthz")[1]
        connection.sendall(GET % b"/slow/1.5")
        it.until(lambda: "slow begins" in it.output())
        assert pids["master"] == it.process.pid
        it.process.kill()
        assert read_response(connection)[0] == 200
        it.process.wait(PATIENCE)
        assert all_gone(pids, PATIENCE)


def test_a_stop_while_a_killed_worker_is_replaced_is_fast(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LONG_GRACE) as it:
        for number in (2, 3):
            os.kill(it.get("/healthz")[1]["worker"], signal.SIGKILL)
            it.until(lambda number=number: it.output().count("Booting worker") == number)  # type: ignore[misc]
        assert it.stop() == 0  # long before GRACEFUL_TIMEOUT


def test_a_stop_during_a_rolling_restart_waits_only_for_the_last_response(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LONG_GRACE) as it, it.connect() as connection:
        connection.sendall(GET % b"/slow/3")
        it.until(lambda: "slow begins" in it.output())
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: "drain" in it.output())
        it.process.terminate()
        assert read_response(connection)[0] == 200
        assert it.process.wait(PATIENCE) == 0  # long before GRACEFUL_TIMEOUT


@pytest.mark.parametrize("sign", ["SIGTERM", "SIGQUIT"])
@pytest.mark.parametrize("moment", ["fork", "boot"])
def test_a_stop_signal_before_the_handlers_are_installed_is_not_lost(moment: str, sign: str, tmp_path: Path) -> None:
    worker_class = "--worker-class=tests.support.early_signal_worker.EarlySignalWorker"
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=worker_class, EARLY_SIGNAL=f"{moment} {sign}") as it:
        it.port()
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: it.output().count("Worker exiting") == 2)
        it.until(lambda: len(booted(it)) == 3)
        assert it.get("/healthz")[1]["worker"] == booted(it)[-1]
        assert "was sent SIG" not in it.output()


class Load:
    """Clients that send requests without a pause, each on one connection, or on a new one for each request."""

    def __init__(self, port: int) -> None:
        self.responses = 0
        self.workers: set[int] = set()
        self.failures: list[str] = []
        self._port = port
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(keep_alive,)) for keep_alive in (True, False) * 3]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _run(self, keep_alive: bool) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        with contextlib.closing(connection):
            while not self._stopped.is_set():
                try:
                    connection.request("GET", "/healthz", headers={} if keep_alive else {"Connection": "close"})
                    response = connection.getresponse()
                    body = response.read()
                    if response.status != 200:
                        raise OSError(response.status)
                except (OSError, http.client.HTTPException) as error:
                    self.failures.append(repr(error))
                    connection.close()
                else:
                    self.workers.add(json.loads(body)["worker"])
                    self.responses += 1


def booted(it: Run) -> list[int]:
    return [int(pid) for pid in re.findall(r"Booting worker with pid: (\d+)", it.output())]


def test_a_rolling_restart_loses_no_request(tmp_path: Path) -> None:
    limits = {"GUNICORN_CMD_ARGS": f"{LONG_LAST_REQUEST} --keep-alive=60", "GRACEFUL_TIMEOUT": LONG_GRACE}
    with (
        run(tmp_path, REDIS_URL=NO_REDIS, WORKERS="2", **limits) as it,
        it.connect() as stream,
        Load(it.port()) as load,
    ):
        stream.sendall(GET % b"/stream")
        it.until(lambda: load.responses > 100)
        for generation in (2, 3):
            it.process.send_signal(signal.SIGHUP)
            it.until(lambda: len(booted(it)) == 2 * generation)  # noqa: B023 # it is called at once
            it.until(lambda: set(booted(it)[-2:]) <= load.workers)
            it.until(lambda: it.output().count("Worker exiting") == 2 * (generation - 1))  # noqa: B023
        before = load.responses
        it.until(lambda: load.responses > before + 100)
        with stream.makefile("rb") as body:
            assert body.read().endswith(b"ends\n\r\n0\r\n\r\n")
    assert load.failures == []
    assert it.process.returncode == 0
