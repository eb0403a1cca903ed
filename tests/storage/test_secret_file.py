"""The secret of a machine: created once, by the first caller, and readable by its owner only."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.bootstrap.secret_file import BYTES, InvalidSecretFile, known_secrets, load_or_create_secret, server_secrets
from service.config import Settings

PROCESSES = 8
TIMEOUT = 60
PROGRAM = """
import sys
from pathlib import Path
from service.bootstrap.secret_file import load_or_create_secret
print("ready", flush=True)
sys.stdin.readline()
print(load_or_create_secret(Path(sys.argv[1])).hex(), flush=True)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_is_created_once_and_kept(tmp_path: Path) -> None:
    secret = load_or_create_secret(tmp_path)
    assert len(secret) == BYTES == 32
    assert load_or_create_secret(tmp_path) == secret
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_generated_secret_is_accepted_after_those_of_the_settings(tmp_path: Path) -> None:
    assert known_secrets((), tmp_path) == ()
    settings = Settings(secret_key=("a" * 32, "b" * 32), data_dir=tmp_path)
    assert server_secrets(settings.secret_key, settings.data_dir) == (b"a" * 32, b"b" * 32)
    assert list(tmp_path.iterdir()) == []
    (generated,) = server_secrets((), tmp_path)
    assert server_secrets(settings.secret_key, settings.data_dir) == (b"a" * 32, b"b" * 32, generated)


@pytest.mark.parametrize("content", [b"", b"abc", b"x" * 31, b"x" * 33, b"x" * 1_000_000])
def test_a_file_of_another_length_is_no_secret(tmp_path: Path, content: bytes) -> None:
    """Tokens are derived from it: with one that is known, whoever knows the id of a game has its tokens."""
    file = tmp_path / "secret"
    file.write_bytes(content)
    for settings in (Settings(data_dir=tmp_path), Settings(secret_key=("a" * 32,), data_dir=tmp_path)):
        with pytest.raises(InvalidSecretFile, match="is no secret, which has 32 bytes"):
            server_secrets(settings.secret_key, settings.data_dir)
    assert file.read_bytes() == content


def test_two_folders_have_two_secrets(tmp_path: Path) -> None:
    assert load_or_create_secret(tmp_path / "a") != load_or_create_secret(tmp_path / "b")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_its_owner_may_read_it(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "data" / "deep"
    before = os.umask(umask)
    try:
        load_or_create_secret(folder)
    finally:
        os.umask(before)
    assert mode(folder) == 0o700
    assert mode(folder / "secret") == 0o600


def test_several_processes_at_once_get_the_same_secret(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("now\n")
            process.stdin.flush()
        results = {process.communicate(timeout=TIMEOUT)[0].strip() for process in processes}
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert results == {load_or_create_secret(folder).hex()}
    assert [path.name for path in folder.iterdir()] == ["secret"]


def test_several_threads_at_once_get_the_same_secret(tmp_path: Path) -> None:
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        together = threading.Barrier(PROCESSES)

        def load(folder: Path, together: threading.Barrier) -> bytes:
            together.wait(TIMEOUT)
            return load_or_create_secret(folder)

        with ThreadPoolExecutor(PROCESSES) as pool:
            results = set(pool.map(load, [folder] * PROCESSES, [together] * PROCESSES))
        assert len(results) == 1
        assert {len(secret) for secret in results} == {BYTES}


def test_the_temporary_file_of_a_killed_process_is_not_used(tmp_path: Path) -> None:
    left = tmp_path / f"secret.{os.getpid()}"
    left.write_bytes(b"half")
    assert len(load_or_create_secret(tmp_path)) == BYTES
    assert left.read_bytes() == b"half"


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(OSError, match="data"):
        load_or_create_secret(tmp_path / "data")
