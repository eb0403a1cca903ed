"""A run without REDIS_URL: processes start in order, look after each other, and none is left behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from service.devserver.embedded import EmbeddedServer
from tests.support.supervised import PATIENCE, all_gone, run

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
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


def test_with_a_server_of_its_own_nothing_is_warned_of(tmp_path: Path) -> None:
    with run(tmp_path, SECRET_KEY="") as it:
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
            assert it.end(signal.SIGINT) == 0  # long before GRACEFUL_TIMEOUT
        assert all_gone(children, PATIENCE)


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
        assert all_gone(children, PATIENCE)


@linux_only
def test_when_the_supervisor_is_killed_all_of_it_ends(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        it.process.kill()
        it.process.wait(PATIENCE)
        assert all_gone(children, PATIENCE)
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
        assert it.said().startswith(
            "domino-service: cannot listen on port 0 of no-such-host.invalid; set HOST or PORT: "
        )
        assert it.said().count("\n") == 1


def test_a_second_run_on_the_same_folder_is_one_clear_line(tmp_path: Path) -> None:
    with run(tmp_path) as first:
        first.port()
        with run(tmp_path / "second", DATA_DIR=str(tmp_path / "data")) as second:
            assert second.process.wait(PATIENCE) == 1
            assert second.said() == (
                f"domino-service: the data folder {tmp_path / 'data'} is in use by another running service "
                f"(its server is process {first.children()['server']}); stop that, or set DATA_DIR\n"
            )
        assert first.ask("/count")[0] == 200


def test_a_stop_while_it_starts_is_no_fault(tmp_path: Path) -> None:
    with run(
        tmp_path, before="import os, signal; supervisor._answers = lambda it: os.kill(os.getpid(), signal.SIGTERM)"
    ) as it:
        assert it.process.wait(PATIENCE) == 0
        assert "Serving" not in it.said()


def test_a_rolling_restart_is_passed_on_to_gunicorn(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        it.process.send_signal(signal.SIGHUP)
        it.until(lambda: it.said().count("Worker exiting") == 1)
        after = it.children()
        assert after["worker"] != children["worker"]
        assert (after["master"], after["server"]) == (children["master"], children["server"])
        assert it.end() == 0


@pytest.mark.parametrize(("sign", "workers"), [(signal.SIGTTIN, 2), (signal.SIGUSR1, 1)])
def test_gunicorns_other_signals_are_passed_on_and_stop_nothing(
    sign: signal.Signals, workers: int, tmp_path: Path
) -> None:
    with run(tmp_path) as it:
        it.port()
        it.process.send_signal(sign)
        it.until(lambda: f"Handling signal: {sign.name[3:].lower()}" in it.said())
        it.until(lambda: it.said().count("Booting worker") == workers)
        assert it.ask("/healthz")[0] == 200


def test_a_closed_standard_input_is_no_obstacle(tmp_path: Path) -> None:
    with run(tmp_path, before="import os; os.close(0)") as it:
        assert it.ask("/healthz")[0] == 200
        assert it.end() == 0


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
    script = f"import sys, service.cli; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
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
