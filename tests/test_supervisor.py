"""The whole of a run: processes start in order, look after each other, and none is left behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.storage.embedded import EmbeddedServer
from tests.support.supervised import PATIENCE, all_gone, run

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_of_it_and_the_games_are_there_at_the_next_start(
    sign: signal.Signals, tmp_path: Path
) -> None:
    with run(tmp_path) as first:
        children = first.children()
        assert first.ask("/count")[1]["count"] == 2
        assert first.end(sign) == 0
        assert all_gone(children)
        assert "Traceback" not in first.said()
    with run(tmp_path) as second:
        assert second.ask("/count")[1]["count"] == 3


def test_it_says_where_it_listens_only_when_it_answers(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        port = it.port()
        assert it.ask("/healthz")[0] == 200
        assert it.out.read_text().splitlines() == [
            f"Serving dominoes at http://127.0.0.1:{port}; the games are kept in {tmp_path / 'data'}",
            f"Try it:  curl -s http://127.0.0.1:{port}/v1/variants",
            "Ctrl-C stops it.",
        ]


def test_on_every_address_it_still_shows_one_to_try(tmp_path: Path) -> None:
    with run(tmp_path, HOST="0.0.0.0") as it:
        port = it.port()
        assert f"Serving dominoes at http://0.0.0.0:{port};" in it.out.read_text()
        assert it.ask("/healthz")[0] == 200


def test_a_server_of_ones_own_is_used_and_left_running(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own:
        with run(tmp_path / "run", REDIS_URL=own.url) as it:
            assert it.ask("/count") == (200, {"count": 1, "server": own.pid})
            assert "kept in the Redis of REDIS_URL" in it.out.read_text()
            assert it.end() == 0
        assert own.pid is not None
    assert not (tmp_path / "run" / "data").exists()


@pytest.mark.parametrize(("secret", "warned"), [("", 1), ("s" * 32, 0)])
def test_who_shares_a_redis_but_no_secret_is_warned_in_one_line(secret: str, warned: int, tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "own") as own, run(tmp_path / "run", REDIS_URL=own.url, SECRET=secret) as it:
        it.port()
        lines = [line for line in it.said().splitlines() if line.startswith("domino-service: ")]
        assert len(lines) == warned
        assert all("SECRET is not set" in line and str(tmp_path / "run" / "data") in line for line in lines)


def test_with_a_server_of_its_own_nothing_is_warned_of(tmp_path: Path) -> None:
    with run(tmp_path, SECRET="") as it:
        it.port()
        assert "domino-service: " not in it.said()


def test_a_running_request_is_answered_before_the_end(tmp_path: Path) -> None:
    with run(tmp_path) as it, it.line() as line:
        line.sendall(b"GET /slow/1.5 HTTP/1.0\r\n\r\n")
        it.until(lambda: "slow begins" in it.said())
        it.process.terminate()
        assert line.recv(1000).startswith(b"HTTP/1.0 200 OK\r\n")
        assert it.process.wait(PATIENCE) == 0


def test_a_second_signal_hurries(tmp_path: Path) -> None:
    with run(tmp_path, GRACEFUL_TIMEOUT="60") as it:
        children = it.children()
        with it.line() as line:
            line.sendall(b"GET /slow/50 HTTP/1.0\r\n\r\n")
            it.until(lambda: "slow begins" in it.said())
            it.process.send_signal(signal.SIGINT)
            it.until(lambda: "Stopping" in it.said())
            began = time.monotonic()
            assert it.end(signal.SIGINT) == 0
            assert time.monotonic() - began < 10
        assert all_gone(children, 1.0)


def test_the_embedded_server_is_started_again_when_it_dies(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        os.kill(children["server"], signal.SIGKILL)
        it.until(lambda: "answers again" in it.said())
        status, answer = it.ask("/count")
        if status == 503:  # the connection that the worker kept may notice only now
            status, answer = it.ask("/count")
        assert (status, answer["count"]) == (200, 2)
        assert answer["server"] != children["server"]
        assert it.ask("/healthz")[1]["worker"] == children["worker"]


def test_when_gunicorn_dies_all_of_it_ends_with_one_line(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        os.kill(children["master"], signal.SIGKILL)
        assert it.process.wait(PATIENCE) == 1
        assert "domino-service: the web server ended by itself (killed by SIGKILL)" in it.said()
        assert all_gone(children, 5.0)


@linux_only
def test_when_the_supervisor_is_killed_all_of_it_ends(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        it.process.kill()
        it.process.wait(PATIENCE)
        assert all_gone(children, 10.0)
    with run(tmp_path) as again:
        assert again.ask("/count")[1]["count"] == 2


def test_an_application_that_cannot_be_loaded_ends_it_with_a_line(tmp_path: Path) -> None:
    with run(tmp_path, app="tests.support.stub_app:no_such_thing()") as it:
        assert it.process.wait(PATIENCE) == 1
        assert "domino-service: the web server ended by itself (exit status" in it.said()
        with EmbeddedServer(tmp_path / "data"):
            pass


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with run(tmp_path, PORT=str(port)) as it:
            assert it.process.wait(PATIENCE) == 1
            assert it.said() == (
                f"domino-service: port {port} of 127.0.0.1 is in use; set PORT to another (0 takes any free one)\n"
            )


def test_an_unknown_host_is_one_clear_line(tmp_path: Path) -> None:
    with run(tmp_path, HOST="no-such-host.invalid") as it:
        assert it.process.wait(PATIENCE) == 1
        assert it.said().startswith("domino-service: HOST no-such-host.invalid is not known here")
        assert it.said().count("\n") == 1


def test_a_second_run_on_the_same_folder_is_one_clear_line(tmp_path: Path) -> None:
    with run(tmp_path) as first:
        first.port()
        with run(tmp_path / "second", DATA_DIR=str(tmp_path / "data")) as second:
            assert second.process.wait(PATIENCE) == 1
            assert second.said() == (
                f"domino-service: the data folder {tmp_path / 'data'} is in use by another running service; "
                "stop that, or set DATA_DIR\n"
            )
        assert first.ask("/count")[0] == 200


def test_a_stop_while_it_starts_is_no_fault(tmp_path: Path) -> None:
    with run(
        tmp_path, before="import os, signal; supervisor._answers = lambda it: os.kill(os.getpid(), signal.SIGTERM)"
    ) as it:
        assert it.process.wait(PATIENCE) == 0
        assert "Serving" not in it.said()


def test_the_workers_count_in_a_folder_that_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    with run(tmp_path, TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR="") as it:
        folder = Path(it.ask("/metrics")[1]["folder"])
        assert folder.parent == tmp_path
        assert list(folder.glob("gauge_*.db"))
        assert it.end() == 0
        assert not folder.exists()


def test_what_a_dead_worker_had_going_on_is_not_counted(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        folder = Path(it.ask("/metrics")[1]["folder"])
        worker = it.ask("/healthz")[1]["worker"]
        assert list(folder.glob(f"gauge_livesum_{worker}.db"))
        os.kill(worker, signal.SIGKILL)
        it.until(lambda: not list(folder.glob(f"gauge_livesum_{worker}.db")))
        assert it.ask("/metrics")[0] == 200


def test_a_folder_of_ones_own_for_the_metrics_is_used_and_kept(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with run(tmp_path, PROMETHEUS_MULTIPROC_DIR=str(own)) as it:
        assert it.ask("/metrics") == (200, {"folder": str(own)})
        assert it.end() == 0
    assert own.exists()


def test_a_start_that_fails_leaves_no_folder_behind(tmp_path: Path) -> None:
    with run(
        tmp_path, app="tests.support.stub_app:no_such_thing()", TMPDIR=str(tmp_path), PROMETHEUS_MULTIPROC_DIR=""
    ) as it:
        assert it.process.wait(PATIENCE) == 1
    assert not list(tmp_path.glob("domino-metrics-*"))


def test_a_wish_for_new_workers_while_it_starts_is_granted_when_it_runs(tmp_path: Path) -> None:
    with run(
        tmp_path,
        before="import os, signal; supervisor._listen = lambda *it, listen=supervisor._listen: "
        "(os.kill(os.getpid(), signal.SIGUSR1), listen(*it))[1]",
    ) as it:
        it.until(lambda: it.said().count("Booting worker") == 2)
        it.process.send_signal(signal.SIGCHLD)  # has it look after everything once more
        assert it.ask("/healthz")[0] == 200
        assert it.end() == 0
        assert it.said().count("Restarting the workers.") == 1


def test_a_closed_standard_input_is_no_obstacle(tmp_path: Path) -> None:
    with run(tmp_path, before="import os; os.close(0)") as it:
        assert it.ask("/healthz")[0] == 200
        assert it.end() == 0


def test_too_long_a_request_line_or_header_is_refused(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        for request in (
            b"GET /" + b"x" * 5000 + b" HTTP/1.0\r\n\r\n",
            b"GET / HTTP/1.0\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        ):
            with it.line() as line:
                line.sendall(request)
                assert re.match(rb"HTTP/1.1 4[0-9][0-9] ", line.recv(100))


@pytest.mark.parametrize("words", [[], ["serve"]])
def test_bad_settings_are_one_line_that_names_all_of_them(words: list[str]) -> None:
    told = command(*words, PORT="x", WORKERS="0", REDIS_URL="somewhere")
    assert told.returncode == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert all(name in told.stderr for name in ("PORT", "WORKERS", "REDIS_URL"))


def test_help_lists_the_settings() -> None:
    told = command("--help")
    assert told.returncode == 0
    assert "GAME_TTL_DAYS" in told.stdout


def test_version_is_told_whatever_the_settings() -> None:
    told = command("--version", PORT="x")
    assert told.returncode == 0
    assert re.fullmatch(r"domino-service [0-9]+\.[0-9]+\.[0-9]+\n", told.stdout)


def test_an_unknown_command_is_refused() -> None:
    assert command("sing").returncode == 2


def test_the_supervisor_is_light() -> None:
    heavy = "flask gevent gunicorn redis ssl valkey"
    script = f"import sys, service.__main__; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert told.stdout == "set()\n"


def command(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service", *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
