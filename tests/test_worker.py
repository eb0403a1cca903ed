"""The worker: no client holds it for long, and at a stop nothing that has begun is cut."""

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

from service import gunicorn_conf
from tests.support.supervised import NO_REDIS, PATIENCE, ROOT, Run, all_gone, linux_only, run

REAL = "service.wsgi:create()"
LATE = "600"
"""A GRACEFUL_TIMEOUT, in seconds, so much beyond PATIENCE that a stop which waits for its end fails the test."""
HASTY = "--worker-class=tests.support.impatient_worker.HastyWorker --keep-alive=1"
PATIENT = "--worker-class=tests.support.impatient_worker.PatientWorker"
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n"
LETS_OTHERS_RUN = """
from gevent import monkey

monkey.patch_all()
import gevent, socket
from service.bootstrap import yield_control
from service.gunicorn_worker import YIELD_SECONDS

yields = {"worker": lambda: gevent.sleep(YIELD_SECONDS), "long work": yield_control}[%r]
here, there = socket.socketpair()
reader = gevent.spawn(here.recv, 1)
gevent.sleep(0.001)  # it waits for its socket now
others = [gevent.spawn(lambda: [yields() for _ in range(1000)]) for _ in range(3)]
there.send(b"x")
for _ in range(500):
    yields()
print(reader.dead)
"""
"""Whether a greenlet whose socket has data runs before some that never wait have had half of their turns."""


def answer(line: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """The next answer on the line, whose length must be announced."""
    response = http.client.HTTPResponse(line)
    response.begin()
    with contextlib.closing(response):
        body = response.read()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, body


def ends(line: socket.socket) -> bool:
    """Whether nothing more comes but the end."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def dripping(line: socket.socket, data: bytes, pause: float) -> Iterator[None]:
    """Send byte by byte, for as long as the other side says nothing."""
    line.settimeout(pause)
    for place in range(len(data)):
        try:
            line.sendall(data[place : place + 1])
            line.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            yield
        except ConnectionError:
            break
        else:
            break
    else:
        raise AssertionError("all was taken, however slowly")
    line.settimeout(PATIENCE)


def test_a_head_byte_by_byte_is_hung_up_on(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=HASTY) as it, it.line() as line:
        for _ in dripping(line, GET % (b"/healthz" + b"x" * 2000), 0.05):
            pass
        assert ends(line)
        assert it.ask("/healthz")[0] == 200


@pytest.mark.parametrize("length", [b"Content-Length: 1000", b"Transfer-Encoding: chunked"])
def test_a_body_byte_by_byte_is_malformed_and_ends_the_line(length: bytes, tmp_path: Path) -> None:
    with run(tmp_path, app=REAL, GUNICORN_CMD_ARGS=HASTY) as it, it.line() as line:
        line.sendall(POST % (b"/v1/games", length))
        for _ in dripping(line, b"3e8\r\n" + b" " * 900, 0.05):
            pass
        status, headers, body = answer(line)
        assert (status, json.loads(body)["code"]) == (400, "malformed")
        assert headers["connection"] == "close"
        assert ends(line)


def test_a_body_in_parts_is_taken_if_it_is_there_in_time(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=HASTY) as it, it.line() as line:
        for _ in range(2):
            line.sendall(POST % (b"/body", b"Expect: 100-continue\r\nContent-Length: 10"))
            assert line.recv(100).startswith(b"HTTP/1.1 100 ")  # the first part is waited for, and then the second
            for part in (b"12345", b"67890"):
                line.sendall(part)
            status, headers, body = answer(line)
            assert (status, json.loads(body), headers["connection"]) == (200, {"bytes": 10}, "keep-alive")


def test_a_client_that_does_not_take_its_answer_is_cut_off(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=HASTY) as it, it.line() as line:
        line.sendall(GET % b"/flood")
        it.until(lambda: "flood is closed" in it.said())
        it.until(lambda: "a client was too slow" in it.said())
        assert "Traceback" not in it.said()
        assert it.ask("/healthz")[0] == 200


def test_a_client_that_asks_ahead_and_takes_no_answer_is_cut_off(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=HASTY) as it, it.line() as line:
        line.settimeout(0.5)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while True:  # until no answer fits any more between the two
                line.sendall(GET % b"/healthz" * 1000)
        line.settimeout(PATIENCE)
        it.until(lambda: "a client was too slow" in it.said())
        assert "Traceback" not in it.said()


@pytest.mark.parametrize("who", ["worker", "long work"])
def test_who_yields_lets_a_connection_be_read_that_has_data(who: str) -> None:
    script = LETS_OTHERS_RUN % who
    shown = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown == "True\n"


@linux_only
def test_a_peer_that_is_gone_without_a_word_is_given_up() -> None:
    class Server:
        LISTENERS: ClassVar[list[SimpleNamespace]] = []

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Server.LISTENERS.append(SimpleNamespace(sock=listener))
        gunicorn_conf.when_ready(Server)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as line:
            waited = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert waited == gunicorn_conf.SILENT_PEER_SECONDS * 1000


def test_at_a_stop_streams_end_as_the_application_has_them_end(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, WORKERS="2", GRACEFUL_TIMEOUT=LATE) as it, contextlib.ExitStack() as stack:
        it.until(lambda: it.said().count("loaded\n") == 2)  # before, a worker has nothing to drain
        lines = [stack.enter_context(it.line()) for _ in range(6)]
        for line in lines:
            line.sendall(GET % b"/stream")
            assert line.recv(10)
        it.process.terminate()
        for line in lines:
            with line.makefile("rb") as told:
                assert told.read().endswith(b"ends\n\r\n0\r\n\r\n")
        assert it.process.wait(PATIENCE) == 0  # long before GRACEFUL_TIMEOUT
        assert it.said().count("drain\n") == 2


def test_at_a_stop_an_answer_under_way_says_that_it_is_the_last(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.line() as line:
        line.sendall(GET % b"/slow/1.5")
        it.until(lambda: "slow begins" in it.said())
        it.process.terminate()
        status, headers, _ = answer(line)
        assert (status, headers["connection"]) == (200, "close")
        assert ends(line)
        assert it.process.wait(PATIENCE) == 0


def test_at_a_stop_a_body_under_way_is_taken_and_answered(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.line() as line, it.line() as idle:
        idle.sendall(GET % b"/healthz")
        assert answer(idle)[0] == 200
        line.sendall(POST % (b"/body", b"Expect: 100-continue\r\nContent-Length: 10"))
        assert line.recv(100).startswith(b"HTTP/1.1 100 ")  # the application has it now
        it.process.terminate()
        assert ends(idle)  # so a silent line has been waited for
        line.sendall(b"1234567890")
        status, headers, body = answer(line)
        assert (status, json.loads(body), headers["connection"]) == (200, {"bytes": 10}, "close")
        assert it.process.wait(PATIENCE) == 0


def test_at_a_stop_a_busy_client_gets_one_more_answer_and_is_sent_away(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=PATIENT) as it, it.line() as line:
        line.sendall(GET % b"/healthz")
        assert answer(line)[1]["connection"] == "keep-alive"
        it.process.terminate()
        it.until(lambda: "drain" in it.said())
        line.sendall(GET % b"/healthz")
        status, headers, _ = answer(line)
        assert (status, headers["connection"]) == (200, "close")
        assert ends(line)


@pytest.mark.parametrize("said", [b"", b"GET /healthz HT", GET % b"/healthz"])
def test_silent_lines_do_not_delay_a_stop(said: bytes, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LATE) as it, it.line() as line:
        line.sendall(said)
        if said.endswith(b"\r\n\r\n"):
            assert answer(line)[0] == 200
        assert it.ask("/healthz")[0] == 200
        assert it.end() == 0  # long before GRACEFUL_TIMEOUT
        assert ends(line)


def test_without_a_master_a_worker_answers_what_has_begun_and_ends(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it, it.line() as line:
        pids = it.ask("/healthz")[1]
        line.sendall(GET % b"/slow/1.5")
        it.until(lambda: "slow begins" in it.said())
        assert pids["master"] == it.process.pid
        it.process.kill()
        assert answer(line)[0] == 200
        it.process.wait(PATIENCE)
        assert all_gone(pids, PATIENCE)


def test_without_a_master_a_worker_does_not_outlive_the_supervisor(tmp_path: Path) -> None:
    with run(tmp_path, GRACEFUL_TIMEOUT=LATE) as it, it.line() as line:
        pids = it.ask("/healthz")[1]
        line.sendall(GET % b"/slow/500")
        it.until(lambda: "slow begins" in it.said())
        os.kill(pids["master"], signal.SIGKILL)
        assert it.process.wait(PATIENCE) == 1
        assert all_gone(pids, PATIENCE)


def test_a_stop_while_a_killed_worker_is_replaced_is_a_quick_one(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LATE) as it:
        for number in (2, 3):
            os.kill(it.ask("/healthz")[1]["worker"], signal.SIGKILL)
            it.until(lambda number=number: it.said().count("Booting worker") == number)  # type: ignore[misc]
        assert it.end() == 0  # long before GRACEFUL_TIMEOUT


def test_a_stop_during_a_rolling_restart_waits_for_the_last_answer_and_no_longer(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, GRACEFUL_TIMEOUT=LATE) as it, it.line() as line:
        line.sendall(GET % b"/slow/3")
        it.until(lambda: "slow begins" in it.said())
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: "drain" in it.said())
        it.process.terminate()
        assert answer(line)[0] == 200
        assert it.process.wait(PATIENCE) == 0  # long before GRACEFUL_TIMEOUT


@pytest.mark.parametrize("sign", ["SIGTERM", "SIGQUIT"])
@pytest.mark.parametrize("moment", ["fork", "boot"])
def test_a_worker_that_is_told_to_stop_before_it_can_hear_stops_when_it_can(
    moment: str, sign: str, tmp_path: Path
) -> None:
    untimely = "--worker-class=tests.support.early_signal_worker.UntimelyWorker"
    with run(tmp_path, REDIS_URL=NO_REDIS, GUNICORN_CMD_ARGS=untimely, UNTIMELY=f"{moment} {sign}") as it:
        it.port()
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: it.said().count("Worker exiting") == 2)
        it.until(lambda: len(booted(it)) == 3)
        assert it.ask("/healthz")[1]["worker"] == booted(it)[-1]
        assert "was sent SIG" not in it.said()


class Load:
    """Clients that ask without a pause, each on a line of its own, kept or new for each request."""

    def __init__(self, port: int) -> None:
        self.answered = 0
        self.workers: set[int] = set()
        self.failures: list[str] = []
        self._port = port
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(kept,)) for kept in (True, False) * 3]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _ask(self, kept: bool) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        with contextlib.closing(line):
            while not self._over.is_set():
                try:
                    line.request("GET", "/healthz", headers={} if kept else {"Connection": "close"})
                    response = line.getresponse()
                    body = response.read()
                    if response.status != 200:
                        raise OSError(response.status)
                except (OSError, http.client.HTTPException) as error:
                    self.failures.append(repr(error))
                    line.close()
                else:
                    self.workers.add(json.loads(body)["worker"])
                    self.answered += 1


def booted(it: Run) -> list[int]:
    return [int(pid) for pid in re.findall(r"Booting worker with pid: (\d+)", it.said())]


def test_a_rolling_restart_refuses_and_cuts_no_request(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, WORKERS="2") as it, it.line() as stream, Load(it.port()) as load:
        stream.sendall(GET % b"/stream")
        it.until(lambda: load.answered > 100)
        for generation in (2, 3):
            it.process.send_signal(signal.SIGHUP)
            it.until(lambda: len(booted(it)) == 2 * generation)  # noqa: B023 # it is called at once
            it.until(lambda: set(booted(it)[-2:]) <= load.workers)
            it.until(lambda: it.said().count("Worker exiting") == 2 * (generation - 1))  # noqa: B023
        asked = load.answered
        it.until(lambda: load.answered > asked + 100)
        with stream.makefile("rb") as told:
            assert told.read().endswith(b"ends\n\r\n0\r\n\r\n")
    assert load.failures == []
    assert it.process.returncode == 0
