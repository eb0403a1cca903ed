"""A run by gunicorn alone, as in production: its own signals, the settings of the environment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service.devserver.embedded import EmbeddedServer
from tests.support.serving import Service
from tests.support.supervised import GUNICORN, NO_REDIS, PATIENCE, ROOT, run


def test_the_redis_of_redis_url_is_used_and_left_running(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own:
        with run(tmp_path / "run", REDIS_URL=own.url) as it:
            assert it.ask("/count") == (200, {"count": 1, "server": own.pid})
            assert it.end() == 0
        assert own.pid is not None
    assert not (tmp_path / "run" / "data").exists()


def test_the_command_becomes_gunicorn(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own, Service(tmp_path / "data", REDIS_URL=own.url) as service:
        assert f"({service.process.pid})" in next(line for line in service.lines if "Listening at" in line)
        assert service.stop() == 0
        assert own.pid is not None


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_of_gunicorn_stops_it(sign: signal.Signals, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        it.ask("/healthz")
        assert it.end(sign) == 0
        assert "Traceback" not in it.said()


def test_it_does_not_start_without_a_redis() -> None:
    told = start()
    assert told.returncode == 1
    assert "domino-service: REDIS_URL is not set; `domino-service serve` starts a server of its own\n" in told.stderr


def test_bad_settings_are_one_line_that_names_all_of_them() -> None:
    told = start(PORT="x", WORKERS="0", REDIS_URL="somewhere")
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
    assert all(name in told.stderr for name in ("PORT", "WORKERS", "REDIS_URL"))


def start(**settings: str) -> subprocess.CompletedProcess[str]:
    environ = {name: text for name, text in os.environ.items() if name != "REDIS_URL"} | {"PORT": "0"} | settings
    return subprocess.run(
        GUNICORN, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize(("secret", "warned"), [("", 1), ("s" * 32, 0)])
def test_who_shares_a_redis_but_no_secret_is_warned_in_one_line(secret: str, warned: int, tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, SECRET_KEY=secret) as it:
        it.port()
        lines = [line for line in it.said().splitlines() if "SECRET_KEY is not set" in line]
        assert len(lines) == warned
        assert all(str(tmp_path / "data") in line for line in lines)


def test_the_code_of_a_new_worker_is_read_anew(tmp_path: Path) -> None:
    script = "import sys; sys.modules.setdefault('service.web', None); from service.gunicorn_conf import post_fork; "
    script += "post_fork(None, None); print([name for name in sys.modules if name.startswith('service')])"
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_the_workers_count_in_a_folder_that_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS, TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR="") as it:
        folder = Path(it.ask("/metrics")[1]["folder"])
        assert folder.parent == tmp_path
        assert list(folder.glob("gauge_*.db"))
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: it.said().count("Worker exiting") == 1)
        assert it.ask("/metrics") == (200, {"folder": str(folder)})
        assert it.end() == 0
        assert not folder.exists()


def test_what_a_dead_worker_had_going_on_is_not_counted(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        folder = Path(it.ask("/metrics")[1]["folder"])
        worker = it.ask("/healthz")[1]["worker"]
        assert list(folder.glob(f"gauge_livesum_{worker}.db"))
        os.kill(worker, signal.SIGKILL)
        it.until(lambda: not list(folder.glob(f"gauge_livesum_{worker}.db")))
        assert it.ask("/metrics")[0] == 200


def test_a_folder_of_ones_own_for_the_metrics_is_used_and_kept(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with run(tmp_path, REDIS_URL=NO_REDIS, PROMETHEUS_MULTIPROC_DIR=str(own)) as it:
        assert it.ask("/metrics") == (200, {"folder": str(own)})
        assert it.end() == 0
    assert own.exists()


def test_a_start_that_fails_leaves_no_folder_behind(tmp_path: Path) -> None:
    absent = "tests.support.stub_app:no_such_thing()"
    with run(tmp_path, app=absent, REDIS_URL=NO_REDIS, TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR="") as it:
        assert it.process.wait(PATIENCE) != 0
    assert not list(tmp_path.glob("domino-metrics-*"))


def test_too_long_a_request_line_or_header_is_refused(tmp_path: Path) -> None:
    with run(tmp_path, REDIS_URL=NO_REDIS) as it:
        for request in (
            b"GET /" + b"x" * 5000 + b" HTTP/1.0\r\n\r\n",
            b"GET / HTTP/1.0\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        ):
            with it.line() as line:
                line.sendall(request)
                assert re.match(rb"HTTP/1.1 4[0-9][0-9] ", line.recv(100))
