"""A run by gunicorn alone, as in production: its own signals, the settings in the environment."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from service.devserver.embedded import EmbeddedServer
from tests.support.processes import free_ports
from tests.support.serving import Service
from tests.support.supervised import GUNICORN, NO_REDIS, ROOT, all_gone, linux_only, run
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.gate


def test_it_serves_and_stops_though_nobody_reads_its_log() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "wb", buffering=0) as log:
        os.set_blocking(writer, False)
        while log.write(b"\n"):
            pass
        os.set_blocking(writer, True)
        (port,) = free_ports(1)
        environ = {"REDIS_URL": NO_REDIS, "SECRET_KEY": "s" * 32, "PORT": str(port), "WORKERS": "1"}
        with subprocess.Popen([*GUNICORN], cwd=ROOT, env=os.environ | environ, stdout=log, stderr=log) as service:
            for _ in range(2):
                answer = until(lambda: httpx.get(f"http://127.0.0.1:{port}/healthz"), despite=(httpx.TransportError,))
                assert answer.status_code == 200
            service.terminate()
            assert service.wait(PATIENCE) == 0


def test_the_redis_of_redis_url_is_used_and_left_running(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own:
        with run(tmp_path / "run", REDIS_URL=own.url, SECRET_KEY="s" * 32) as it:
            assert it.get("/count") == (200, {"count": 1, "server": own.pid})
            assert it.stop() == 0
        assert own.pid is not None
    assert not (tmp_path / "run" / "data").exists()


def test_the_command_is_replaced_by_gunicorn(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own, Service(tmp_path / "data", REDIS_URL=own.url) as service:
        assert f"({service.process.pid})" in next(line for line in service.lines if "Listening at" in line)
        assert service.stop() == 0
        assert own.pid is not None


@linux_only
@pytest.mark.parametrize("redis_url", [NO_REDIS, None])
def test_it_serves_with_closed_standard_streams(redis_url: str | None, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    environ = {name: text for name, text in os.environ.items() if name not in ("HOST", "REDIS_URL")}
    environ |= {"PORT": str(port), "DATA_DIR": str(tmp_path), "WORKERS": "1"}
    if redis_url is not None:
        environ["REDIS_URL"] = redis_url
    command = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-m", "service", "serve"]
    with subprocess.Popen(command, cwd=ROOT, env=environ) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not answers(port):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            for stream in (0, 1, 2):  # none of them is a socket
                assert str(Path(f"/proc/{process.pid}/fd/{stream}").readlink()) == os.devnull
        finally:
            process.terminate()
        assert process.wait(PATIENCE) == 0


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(b"GET /v1/variants HTTP/1.0\r\n\r\n")
            return connection.recv(100).startswith(b"HTTP/1.0 200 ")
    except ConnectionError:
        return False


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_the_stop_signals_of_gunicorn_stop_it(sign: signal.Signals, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        it.get("/healthz")
        assert it.stop(sign) == 0
        assert "Traceback" not in it.output()


def test_it_does_not_start_without_a_redis() -> None:
    completed = start()
    assert completed.returncode == 1
    assert (
        "domino-service: REDIS_URL is not set; `domino-service serve` starts an embedded server\n" in completed.stderr
    )


def test_invalid_settings_are_reported_in_one_line() -> None:
    completed = start(PORT="x", WORKERS="0", REDIS_URL="somewhere")
    assert completed.returncode == 1
    assert completed.stderr.count("\n") == 1
    assert all(name in completed.stderr for name in ("PORT", "WORKERS", "REDIS_URL"))


def start(**settings: str) -> subprocess.CompletedProcess[str]:
    environ = {name: text for name, text in os.environ.items() if name != "REDIS_URL"} | {"PORT": "0"} | settings
    return subprocess.run(
        GUNICORN, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize(("secret", "warned"), [("", 1), ("s" * 32, 0)])
def test_a_missing_secret_key_is_warned_about_in_one_line(secret: str, warned: int, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, SECRET_KEY=secret) as it:
        it.port()
        lines = [line for line in it.output().splitlines() if "SECRET_KEY is not set" in line]
        assert len(lines) == warned
        assert all(str(tmp_path / "data") in line for line in lines)


def test_a_new_worker_reloads_the_code_and_is_told_how_many_there_are(tmp_path: Path) -> None:
    script = "import os, sys, types; sys.modules.setdefault('service.web', None); "
    script += "from service.server.gunicorn_conf import post_fork; "
    script += "post_fork(types.SimpleNamespace(num_workers=8), None); "
    script += "print([name for name in sys.modules if name.startswith('service')], os.environ['WORKERS'])"
    completed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert completed.stdout == "[] 8\n"


def test_the_folder_of_the_metrics_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR="") as it:
        folder = Path(it.get("/metrics")[1]["folder"])
        assert folder.parent == tmp_path
        assert list(folder.glob("gauge_*.db"))
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: it.output().count("Worker exiting") == 1)
        assert it.get("/metrics") == (200, {"folder": str(folder)})
        assert it.stop() == 0
        assert not folder.exists()


def test_the_gauges_of_a_dead_worker_are_removed(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        folder = Path(it.get("/metrics")[1]["folder"])
        worker = it.get("/healthz")[1]["worker"]
        assert list(folder.glob(f"gauge_livesum_{worker}.db"))
        os.kill(worker, signal.SIGKILL)
        it.until(lambda: not list(folder.glob(f"gauge_livesum_{worker}.db")))
        assert it.get("/metrics")[0] == 200


def test_a_given_folder_for_the_metrics_is_used_and_kept(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with run(tmp_path, REDIS_URL=NO_REDIS, PROMETHEUS_MULTIPROC_DIR=str(own)) as it:
        assert it.get("/metrics") == (200, {"folder": str(own)})
        assert it.stop() == 0
    assert own.exists()


def test_a_failed_start_leaves_no_folder_behind(tmp_path: Path) -> None:
    absent = "tests.support.stub_app:no_such_thing()"
    with run(tmp_path, app=absent, REDIS_URL=NO_REDIS, TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR="") as it:
        assert it.process.wait(PATIENCE) != 0
    assert not list(tmp_path.glob("domino-*"))


def test_a_start_on_a_used_port_leaves_no_folder_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        completed = start(
            REDIS_URL=NO_REDIS,
            PORT=str(taken.getsockname()[1]),
            TMPDIR=str(tmp_path),
            DATA_DIR=str(tmp_path / "data"),
            PROMETHEUS_MULTIPROC_DIR="",
        )
    assert completed.returncode == 1
    assert "in use" in completed.stderr
    assert not list(tmp_path.glob("domino-*"))


@pytest.mark.parametrize("supervised", [False, True])
def test_the_folder_of_a_killed_run_is_removed_at_the_next_start(supervised: bool, tmp_path: Path) -> None:
    settings = {"TMPDIR": str(tmp_path), "PROMETHEUS_MULTIPROC_DIR": ""}
    if not supervised:
        settings["REDIS_URL"] = NO_REDIS
    with run(tmp_path / "running", **settings) as running:
        in_use = Path(running.get("/metrics")[1]["folder"])
        with run(tmp_path / "killed", **settings) as killed:
            abandoned = Path(killed.get("/metrics")[1]["folder"])
            children = killed.get("/healthz")[1]
            os.kill(children["master"], signal.SIGKILL)
            killed.process.kill()
            killed.process.wait(PATIENCE)
            assert all_gone(children, PATIENCE)
        assert abandoned.exists()
        with run(tmp_path / "next", **settings) as following:
            assert following.get("/metrics")[0] == 200
            assert not abandoned.exists()
            assert in_use.exists()


def test_a_worker_alone_keeps_the_folder_that_it_counts_in(tmp_path: Path) -> None:
    settings = {"TMPDIR": str(tmp_path), "PROMETHEUS_MULTIPROC_DIR": "", "REDIS_URL": NO_REDIS}
    with run(tmp_path / "killed", **settings) as killed, killed.connect() as connection:
        folder = Path(killed.get("/metrics")[1]["folder"])
        worker = killed.get("/healthz")[1]["worker"]
        connection.sendall(b"GET /slow/60 HTTP/1.0\r\n\r\n")
        killed.until(lambda: "slow begins" in killed.output())
        killed.process.kill()
        killed.process.wait(PATIENCE)
        try:
            with run(tmp_path / "next", **settings) as following:
                assert following.get("/metrics")[0] == 200
                assert folder.exists()
        finally:
            os.kill(worker, signal.SIGKILL)


def test_a_data_folder_for_the_secret_that_cannot_be_used_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"
    completed = start(REDIS_URL=NO_REDIS, DATA_DIR=str(folder), SECRET_KEY="")
    assert completed.returncode == 1
    (line,) = [line for line in completed.stderr.splitlines() if not line.startswith("{")]
    assert line.startswith(f"domino-service: cannot keep a secret in {folder}, set SECRET_KEY or another DATA_DIR: ")


@pytest.mark.parametrize("key", ["", "k" * 32])
def test_a_file_that_is_no_secret_is_reported_in_one_line(tmp_path: Path, key: str) -> None:
    (tmp_path / "secret").write_bytes(b"abc")
    completed = start(REDIS_URL=NO_REDIS, DATA_DIR=str(tmp_path), SECRET_KEY=key)
    assert completed.returncode == 1
    (line,) = [line for line in completed.stderr.splitlines() if not line.startswith("{")]
    assert line.startswith(f"domino-service: {tmp_path}/secret is no secret, which has 32 bytes; ")


def test_a_too_long_request_line_or_header_is_rejected(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        for request in (
            b"GET /" + b"x" * 5000 + b" HTTP/1.0\r\n\r\n",
            b"GET / HTTP/1.0\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        ):
            with it.connect() as connection:
                connection.sendall(request)
                assert re.match(rb"HTTP/1.1 4[0-9][0-9] ", connection.recv(100))
