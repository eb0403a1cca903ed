"""The embedded server keeps its data, has one owner, and leaves no process or socket behind."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.devserver import embedded
from service.devserver.embedded import CannotServe, EmbeddedServer
from tests.support.processes import runs
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.gate


def client(server: EmbeddedServer) -> redis.Redis:
    return redis.Redis.from_url(
        server.url, decode_responses=True, socket_timeout=5, retry=Retry(NoBackoff(), 0), single_connection_client=True
    )


def put(server: EmbeddedServer, **values: str) -> None:
    with client(server) as store:
        store.mset(values)


def get(server: EmbeddedServer, name: str) -> object:
    with client(server) as store:
        return store.get(name)


def test_it_is_a_real_server_on_a_private_socket_and_no_port(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server, client(server) as store:
        assert store.config_get("port") == {"port": "0"}
        assert store.config_get("appendonly") == {"appendonly": "yes"}
        assert store.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert stat.S_IMODE(server.socket_path.stat().st_mode) == 0o700
        assert store.eval("return 1 + 1", 0) == 2


def test_a_new_folder_is_private_to_its_user(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with EmbeddedServer(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The permissions of a folder and of all files and folders in it, by name."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in (folder, *folder.rglob("*"))
        if not path.is_socket()
    }


def warnings(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The warnings that were printed since the last call."""
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("domino-service: ") for line in lines)
    return [line.removeprefix("domino-service: ") for line in lines]


def assert_private(folder: Path) -> None:
    found = modes(folder)
    assert {"appendonlydir", "lock", "redis.pid", "server.log"} < found.keys()
    assert all(mode == (0o700 if (folder / name).is_dir() else 0o600) for name, mode in found.items()), found


@pytest.mark.usefixtures("usual_umask")
def test_all_data_are_private_in_a_folder_that_was_open_to_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    with EmbeddedServer(folder) as server, client(server) as store:
        put(server, spinner="6-6")
        store.bgrewriteaof()
        until(lambda: not store.info("persistence")["aof_rewrite_in_progress"])
        assert_private(folder)
    assert warnings(capsys) == [f"the data folder {folder} had permissions 755; they are 700 now"]


@pytest.mark.usefixtures("usual_umask")
def test_a_shared_folder_is_reported_and_its_files_are_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o1777)
    with EmbeddedServer(folder):
        found = modes(folder)
        assert found.pop(".") == 0o1777
        assert set(found.values()) == {0o700, 0o600}
    (report,) = warnings(capsys)
    assert "has permissions 1777, which the service does not change" in report


def test_data_survives_a_stop_and_a_start(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        put(server, spinner="6-6")
    with EmbeddedServer(tmp_path) as server:
        assert get(server, "spinner") == "6-6"


def test_data_and_address_survive_a_kill(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        url = server.url
        put(server, spinner="6-6")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: server.pid is None)
        assert server.start() == url
        assert get(server, "spinner") == "6-6"


def written(folder: Path) -> tuple[EmbeddedServer, Path]:
    """A server that has written some keys and was stopped, and the file with its last writes."""
    server = EmbeddedServer(folder)
    with server, redis.Redis.from_url(server.url) as client:
        for number in range(100):
            client.set(f"key {number}", b"value")
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    return server, file


def size(server: EmbeddedServer) -> int:
    with server, redis.Redis.from_url(server.url) as client:
        return int(client.dbsize())


def test_an_unfinished_write_at_the_end_is_dropped_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, file = written(tmp_path)
    os.truncate(file, file.stat().st_size - 3)
    assert size(server) == 99
    what = f"Truncating the AOF {file.name} at offset {file.stat().st_size}"
    assert warnings(capsys) == [f"an unfinished write at the end of the data was dropped: {what}"]
    assert size(server) == 99
    assert warnings(capsys) == []


def test_data_that_end_in_zeros_are_repaired_by_what_the_message_says(tmp_path: Path) -> None:
    """As after a power cut, where a file has got its length but not its content."""
    server, file = written(tmp_path)
    os.truncate(file, file.stat().st_size + 4096)
    with pytest.raises(CannotServe, match=r"is damaged, .*--fix") as refusal:
        server.start()
    remedy = shlex.split(str(refusal.value).partition("whole write: ")[2])
    subprocess.run(remedy, input=b"y\n", check=True, capture_output=True)
    assert size(server) == 100


def test_starting_a_running_server_changes_nothing(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        pid = server.pid
        server.start()
        assert server.pid == pid


def test_stopping_twice_has_no_effect(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    server.start()
    server.stop()
    server.stop()
    assert server.pid is None


def test_a_stop_leaves_neither_process_nor_socket(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        pid, path = server.pid, server.socket_path
        assert pid is not None
    assert not runs(pid)
    assert not path.exists()


def test_a_hanging_server_is_killed_after_the_timeout(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    server.start()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    server.stop(timeout=0.1)
    assert not runs(pid)


def test_a_second_owner_is_rejected_in_one_line(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        put(server, spinner="6-6")
        with pytest.raises(CannotServe, match="in use by another running service") as caught:
            EmbeddedServer(tmp_path).start()
        assert "\n" not in str(caught.value)
        assert get(server, "spinner") == "6-6"


def test_a_rejected_owner_can_retry(tmp_path: Path) -> None:
    second = EmbeddedServer(tmp_path)
    with EmbeddedServer(tmp_path), pytest.raises(CannotServe):
        second.start()
    with second:
        assert second.pid is not None


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match="cannot use the data folder .*/file/data"):
        EmbeddedServer(tmp_path / "file" / "data").start()


def start_orphan(folder: Path) -> int:
    """Start a server that outlives its owner, which is killed; the process id of the server."""
    owner = """
import os, sys
from pathlib import Path
from service.devserver import embedded, terminal
terminal.die_with_parent = lambda command, sign: list(command)
server = embedded.EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    completed = subprocess.run(
        [sys.executable, "-c", owner, str(folder)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    orphan = int(completed.stdout)
    assert runs(orphan)
    return orphan


def test_the_folder_of_an_orphaned_server_is_rejected_until_that_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = start_orphan(tmp_path)
    with redis.Redis(unix_socket_path=str(tmp_path / "redis.sock")) as store:
        store.set("spinner", "6-6")
    with monkeypatch.context() as patch:
        patch.setattr(embedded, "LOCK_SECONDS", 0.0)
        with pytest.raises(CannotServe, match=f"in use by another running service.*{orphan}"):
            EmbeddedServer(tmp_path).start()
    os.kill(orphan, signal.SIGTERM)
    with EmbeddedServer(tmp_path) as server:  # waits for it
        assert not runs(orphan)
        assert get(server, "spinner") == "6-6"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can signal a child when its parent ends")
def test_the_server_ends_when_its_owner_is_killed(tmp_path: Path) -> None:
    owner = """
import sys, time
from pathlib import Path
from service.devserver.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", owner, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert runs(pid)
        process.kill()
    until(lambda: not runs(pid))


def test_a_long_path_is_supported(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 20)
    with EmbeddedServer(folder) as server:
        put(server, spinner="6-6")
        socket_folder = server.socket_path.parent
        assert socket_folder != folder
        assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: server.pid is None)
        server.start()
        assert server.socket_path.parent == socket_folder
        assert get(server, "spinner") == "6-6"
    assert not socket_folder.exists()


def test_a_path_with_special_characters_gives_a_valid_url() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as socket_folder, EmbeddedServer(Path(socket_folder, 'a b?ü%41"#')) as server:
        assert unquote(server.url) == f"unix://{server.socket_path}"
        assert " " not in server.url
        put(server, spinner="6-6")


def test_options_override_the_defaults_of_the_server(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path, options={"maxmemory": "5mb", "appendfsync": "always"}) as server,
        client(server) as store,
    ):
        assert store.config_get("maxmemory") == {"maxmemory": str(5 * 1024 * 1024)}
        assert store.config_get("appendfsync") == {"appendfsync": "always"}


def test_a_failed_start_shows_the_log_and_unlocks_the_folder(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="no-such-option"):
        EmbeddedServer(tmp_path, options={"no-such-option": "1"}).start()
    with EmbeddedServer(tmp_path):
        pass


def test_a_start_without_an_answer_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "START_SECONDS", 0.0)
    server = EmbeddedServer(tmp_path)
    with pytest.raises(CannotServe, match=r"was not ready in time"):
        server.start()
    assert server.pid is None


def test_the_caller_can_cancel_the_wait(tmp_path: Path) -> None:
    def cancel(_: float) -> None:
        raise InterruptedError

    server = EmbeddedServer(tmp_path)
    with pytest.raises(InterruptedError):
        server.start(cancel)
    assert server.pid is None


def test_the_start_waits_for_a_loading_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedServer(tmp_path) as server, client(server) as store, store.pipeline(transaction=False) as commands:
        for number in range(6000):  # a server that loads answers after every 1,024 commands
            commands.append(f"key-{number % 400}", "y")
        commands.execute()
    ask, answers = embedded._answer, []

    def answer(path: Path) -> bytes | None:
        answers.append(ask(path))
        return answers[-1]

    monkeypatch.setattr(embedded, "_answer", answer)
    with EmbeddedServer(tmp_path, options={"key-load-delay": "500"}) as server:
        assert any(each is not None and each.startswith(b"-LOADING") for each in answers)
        assert get(server, "key-399") == "y" * 15


def test_a_server_on_the_path_is_preferred_to_the_bundled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("redis-server", "7.0.15"), ("valkey-server", "9.0.0")):
        program(tmp_path / name, f"echo 'Server v={version} sha=0:0 bits=64'")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded.find_server() == str(tmp_path / "redis-server")
    (tmp_path / "redis-server").unlink()
    assert embedded.find_server() == str(tmp_path / "valkey-server")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"#!/bin/sh\necho 'Redis server v=6.2.7 sha=0:0'", "6.2.7"),
        (b"#!/bin/sh\nexit 1", "no version"),
        (b"\x7fELF for another machine", ".*Exec format error.*"),
    ],
)
def test_a_server_that_is_too_old_or_broken_is_skipped(
    content: bytes, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "redis-server").write_bytes(content)
    (tmp_path / "redis-server").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded.find_server() == embedded.bundled_server()
    monkeypatch.setattr(embedded, "bundled_server", lambda: None)
    with pytest.raises(CannotServe, match=rf"redis-server: {problem}\).*REDIS_URL"):
        embedded.find_server()


def test_a_server_for_this_machine_is_bundled() -> None:
    assert embedded.bundled_server() is not None


def test_the_address_is_known_only_after_the_start(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _ = EmbeddedServer(tmp_path).url


def test_it_stops_without_a_free_connection(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, options={"maxclients": "1"}) as server:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(server.socket_path))
        pid = server.pid
    connection.close()
    assert pid is not None
    assert not runs(pid)


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
