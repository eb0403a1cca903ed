"""A run without REDIS_URL: the processes start in order, monitor each other, and none is left running."""

from __future__ import annotations

import ipaddress
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import redis

from service.devserver import supervisor
from service.devserver.embedded import EmbeddedServer
from service.devserver.supervisor import reachable_hosts
from tests.support.supervised import all_gone, run
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can signal a child when its parent ends")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_processes_and_the_data_survives(sign: signal.Signals, tmp_path: Path) -> None:
    with run(tmp_path) as first:
        children = first.children()
        assert first.get("/count")[1]["count"] == 2
        assert first.stop(sign) == 0
        assert all_gone(children)
        assert "Traceback" not in first.output()
    with run(tmp_path) as second:
        assert second.get("/count")[1]["count"] == 3


def test_the_address_is_printed_once_the_service_is_ready(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        port = it.port()
        assert it.get("/healthz")[0] == 200
        assert it.out.read_text().splitlines() == [
            f"Serving dominoes at http://127.0.0.1:{port}; the games are stored in {tmp_path / 'data'}",
            f"Try it:  curl -s http://127.0.0.1:{port}/v1/variants",
            "Ctrl-C stops it.",
        ]


def test_on_every_address_a_reachable_one_is_printed(tmp_path: Path) -> None:
    with run(tmp_path, HOST="0.0.0.0") as it:
        port = it.port()
        assert f"Serving dominoes at http://0.0.0.0:{port};" in it.out.read_text()
        assert it.get("/healthz")[0] == 200


def test_the_addresses_for_others_are_printed(tmp_path: Path) -> None:
    with run(tmp_path, PUBLIC_URL="https://one.example, http://two.example:8000/domino/") as it:
        it.port()
        assert [line for line in it.out.read_text().splitlines() if line.startswith("Others")] == [
            "Others in your network open https://one.example",
            "Others in your network open http://two.example:8000/domino",
        ]


def test_only_an_address_that_others_reach_is_one_for_others() -> None:
    assert [reachable_hosts(host) for host in ("127.0.0.1", "::1", "192.0.2.7")] == [[], [], ["192.0.2.7"]]
    for own in reachable_hosts("0.0.0.0"):
        assert not ipaddress.ip_address(own).is_loopback


def test_with_an_embedded_server_there_is_no_warning(tmp_path: Path) -> None:
    with run(tmp_path, SECRET_KEY="") as it:
        it.port()
        assert "domino-service: " not in it.output()


@pytest.mark.parametrize(("setting", "mebibytes"), [({}, 512), ({"MAX_MEMORY_MB": "0"}, 0)])
def test_the_memory_of_the_embedded_server_is_bounded(setting: dict[str, str], mebibytes: int) -> None:
    # Where the path is short, the socket is beside the data.
    with tempfile.TemporaryDirectory(prefix="d-") as folder, run(Path(folder), **setting) as it:
        it.port()
        with redis.Redis(unix_socket_path=f"{folder}/data/redis.sock", decode_responses=True) as store:
            assert store.config_get("maxmemory") == {"maxmemory": str(mebibytes * 1024 * 1024)}


def test_a_stop_waits_for_a_running_request(tmp_path: Path) -> None:
    with run(tmp_path) as it, it.connect() as connection:
        connection.sendall(b"GET /slow/1.5 HTTP/1.0\r\n\r\n")
        it.until(lambda: "slow begins" in it.output())
        it.process.terminate()
        assert connection.recv(1000).startswith(b"HTTP/1.0 200 OK\r\n")
        assert it.process.wait(PATIENCE) == 0


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with run(tmp_path, GRACEFUL_TIMEOUT="600") as it:
        children = it.children()
        with it.connect() as connection:
            connection.sendall(b"GET /slow/500 HTTP/1.0\r\n\r\n")
            it.until(lambda: "slow begins" in it.output())
            it.process.send_signal(signal.SIGINT)
            it.until(lambda: "Stopping" in it.output())
            assert it.stop(signal.SIGINT) == 0  # long before GRACEFUL_TIMEOUT
        assert all_gone(children, PATIENCE)


def test_the_embedded_server_is_restarted_when_it_dies(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        os.kill(children["server"], signal.SIGKILL)
        it.until(lambda: "the embedded server is back" in it.output())
        status, answer = it.get("/count")
        if status == 503:  # the pooled connection of the worker may fail only now
            status, answer = it.get("/count")
        assert (status, answer["count"]) == (200, 2)
        assert answer["server"] != children["server"]
        assert it.get("/healthz")[1]["worker"] == children["worker"]


def test_when_gunicorn_is_killed_it_is_restarted_on_the_same_port_and_no_data_are_lost(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        before = it.children()
        os.kill(before["master"], signal.SIGKILL)
        it.until(lambda: it.output().count("Booting worker") == 2)
        after = it.children()  # by the port that was printed at the start
        assert it.get("/count")[1]["count"] == 3
        assert after["server"] == before["server"]
        assert {after["master"], after["worker"]}.isdisjoint({before["master"], before["worker"]})
        assert "domino-service: the web server ended by itself (killed by SIGKILL); restarting it" in it.output()
        assert all_gone({"master": before["master"], "worker": before["worker"]})
        assert it.stop() == 0
        assert all_gone({**after, **before})


def test_when_gunicorn_is_killed_a_worker_that_is_busy_keeps_neither_port_nor_gauges(tmp_path: Path) -> None:
    with run(tmp_path, GRACEFUL_TIMEOUT="600") as it, it.connect() as connection:
        folder = Path(it.get("/metrics")[1]["folder"])
        before = it.children()
        assert list(folder.glob(f"gauge_livesum_{before['worker']}.db"))
        connection.sendall(b"GET /slow/500 HTTP/1.0\r\n\r\n")
        it.until(lambda: "slow begins" in it.output())
        os.kill(before["master"], signal.SIGKILL)
        it.until(lambda: it.output().count("Booting worker") == 2)
        assert all_gone({"worker": before["worker"]})
        assert {it.get("/healthz")[1]["worker"] for _ in range(20)} == {it.children()["worker"]}
        assert not list(folder.glob(f"gauge_livesum_{before['worker']}.db"))


AS_FIRST_PROCESS = "import ctypes; PR_SET_CHILD_SUBREAPER = 36; ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)"


@linux_only
def test_the_first_process_of_a_container_leaves_no_zombies_of_a_killed_gunicorn(tmp_path: Path) -> None:
    """Its workers become children of that process then."""
    with run(tmp_path, before=AS_FIRST_PROCESS) as it:
        worker = it.children()["worker"]
        os.kill(it.children()["master"], signal.SIGKILL)
        it.until(lambda: it.output().count("Booting worker") == 2)
        assert not Path(f"/proc/{worker}").exists()


@linux_only
def test_when_the_supervisor_is_killed_all_processes_end(tmp_path: Path) -> None:
    with run(tmp_path) as it:
        children = it.children()
        it.process.kill()
        it.process.wait(PATIENCE)
        assert all_gone(children, PATIENCE)
    with run(tmp_path) as again:
        assert again.get("/count")[1]["count"] == 2


def test_an_application_that_cannot_be_loaded_ends_the_run_with_a_message(tmp_path: Path) -> None:
    with run(tmp_path, app="tests.support.stub_app:no_such_thing()") as it:
        assert it.process.wait(PATIENCE) == 1
        assert "domino-service: the web server ended by itself (exit status" in it.output()
        with EmbeddedServer(tmp_path / "data"):
            pass


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with run(tmp_path, PORT=str(port)) as it:
            assert it.process.wait(PATIENCE) == 1
            assert it.output() == (
                f"domino-service: cannot listen on port {port} of 127.0.0.1; set HOST or PORT: Address already in use\n"
            )


def test_an_unknown_host_is_reported_in_one_line(tmp_path: Path) -> None:
    with run(tmp_path, HOST="no-such-host.invalid") as it:
        assert it.process.wait(PATIENCE) == 1
        assert it.output().startswith(
            "domino-service: cannot listen on port 0 of no-such-host.invalid; set HOST or PORT: "
        )
        assert it.output().count("\n") == 1


def test_a_second_run_on_the_same_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    with run(tmp_path) as first:
        first.port()
        with run(tmp_path / "second", DATA_DIR=str(tmp_path / "data")) as second:
            assert second.process.wait(PATIENCE) == 1
            assert second.output() == (
                f"domino-service: the data folder {tmp_path / 'data'} is in use by another running service "
                f"(its server is process {first.children()['server']}); stop that, or set DATA_DIR\n"
            )
        assert first.get("/count")[0] == 200


STOP_AT_PROBE = """
import signal
from service.devserver import supervisor
supervisor._answers = lambda it: os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_stop_during_the_start_is_not_an_error(tmp_path: Path) -> None:
    with run(tmp_path, before=STOP_AT_PROBE) as it:
        assert it.process.wait(PATIENCE) == 0
        assert "Serving" not in it.output()


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_terminal_stops_all_processes_but_under_nohup(ignored: bool, tmp_path: Path) -> None:
    with run(
        tmp_path, before=f"import signal; signal.signal(signal.SIGHUP, signal.{'SIG_IGN' if ignored else 'SIG_DFL'})"
    ) as it:
        children = it.children()
        it.process.send_signal(signal.SIGHUP)
        assert (it.children() == children) if ignored else (it.process.wait(PATIENCE) == 0)
        assert ignored or all_gone(children)


def test_sigint_stops_what_a_shell_has_started_in_the_background(tmp_path: Path) -> None:
    """Such a shell has it ignored at the start."""
    with run(tmp_path, before="import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)") as it:
        children = it.children()
        assert it.stop(signal.SIGINT) == 0
        assert all_gone(children)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
def test_every_ipv6_address_includes_every_ipv4_address() -> None:
    with supervisor._listen("::", 0) as listener:
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=PATIENCE).close()


def test_it_runs_with_a_closed_standard_input(tmp_path: Path) -> None:
    with run(tmp_path, before="import os; os.close(0)") as it:
        assert it.get("/healthz")[0] == 200
        assert it.stop() == 0


@pytest.mark.parametrize("words", [[], ["serve"]])
def test_invalid_settings_are_reported_in_one_line(words: list[str]) -> None:
    completed = command(*words, PORT="x", WORKERS="0", REDIS_URL="somewhere")
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr.count("\n") == 1
    assert all(name in completed.stderr for name in ("PORT", "WORKERS", "REDIS_URL"))


def test_help_lists_the_settings() -> None:
    completed = command("--help")
    assert completed.returncode == 0
    assert "GAME_TTL_DAYS" in completed.stdout


def test_version_needs_no_valid_settings() -> None:
    completed = command("--version", PORT="x")
    assert completed.returncode == 0
    assert re.fullmatch(r"domino-service [0-9]+\.[0-9]+\.[0-9]+\n", completed.stdout)


def test_an_unknown_command_is_refused() -> None:
    assert command("sing").returncode == 2


def test_the_supervisor_imports_no_heavy_package() -> None:
    heavy = "flask gevent gunicorn redis ssl valkey"
    script = f"import sys, service.cli; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert completed.stdout == "set()\n"


def command(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service", *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
