"""The commands on applications, by the arguments and settings of an operator, beside a server on a data folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import httpx
import pytest

from service.devserver.embedded import EmbeddedServer
from tests.support.programs import run_command
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate


KEY = re.compile(r"app_[A-Za-z0-9_-]{24}_[A-Za-z0-9_-]{43}\n")


class Operator:
    """Runs commands with these settings."""

    def __init__(self, **settings: str) -> None:
        self._environ = {
            **{name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATA_DIR")},
            **settings,
        }

    def apps(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_command("apps", *arguments, environ=self._environ)

    def apps_as_process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "service", "apps", *arguments)
        return subprocess.run(
            command, cwd=ROOT, env=self._environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def make(self, *arguments: str) -> tuple[str, str, str]:
        """Return the key that a command prints, with the id of its application and its suffix."""
        made = self.apps(*arguments)
        assert made.returncode == 0, made.stderr
        assert KEY.fullmatch(made.stdout), made.stdout
        key = made.stdout.strip()
        return key, key[4:28], key[-6:]

    def list(self) -> str:
        listed = self.apps("list")
        assert (listed.returncode, listed.stderr) == (0, "")
        return listed.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture(scope="module")
def operator(server: EmbeddedServer) -> Operator:
    return Operator(DATA_DIR=str(server.folder))


def test_the_key_alone_is_on_standard_output(operator: Operator) -> None:
    made = operator.apps_as_process("create", "  Café  Club ")
    assert KEY.fullmatch(made.stdout)
    assert "Café  Club" in made.stderr
    assert made.stdout.strip() not in made.stderr
    assert operator.apps_as_process("rotate", "no id").returncode == 1


def test_the_list_has_every_application_and_no_key(operator: Operator) -> None:
    keys = [operator.make("create", name) for name in ("One", "Two")]
    listed = operator.list()
    for (key, app, suffix), name in zip(keys, ("One", "Two"), strict=True):
        (line,) = [each for each in listed.splitlines() if each.startswith(app)]
        assert line.endswith(f"  {suffix}  {name}")
        assert key[29:] not in listed
    assert listed.index(keys[0][1]) < listed.index(keys[1][1])


@pytest.mark.nightly
def test_a_rotated_key_stays_valid_for_a_while_or_is_revoked_at_once(operator: Operator) -> None:
    _, app, first = operator.make("create", "Rotating")
    _, same, second = operator.make("rotate", app)
    assert same == app
    assert re.search(rf"{first} \(until [0-9TZ:.-]+\), {second}  Rotating", operator.list())
    _, _, third = operator.make("rotate", app, "--overlap", "0")
    assert f"  {third}  Rotating" in operator.list()
    assert second not in operator.list()


def test_one_key_is_revoked_or_all_of_them(operator: Operator) -> None:
    _, app, first = operator.make("create", "Revoked")
    _, _, second = operator.make("rotate", app, "--overlap", "600")
    revoked = operator.apps("revoke", app, first)
    assert (revoked.returncode, revoked.stdout) == (0, "")
    assert revoked.stderr.endswith(f": {second}\n")
    assert operator.apps("revoke", app).stderr.endswith(": none\n")
    assert "  none  Revoked" in operator.list()
    operator.make("rotate", app)


@pytest.mark.nightly
def test_a_deleted_application_is_gone(operator: Operator) -> None:
    _, app, _ = operator.make("create", "Deleted")
    deleted = operator.apps("delete", app)
    assert (deleted.returncode, deleted.stdout) == (0, "")
    assert app not in operator.list()
    assert operator.apps("rotate", app).returncode == 1


WRONG_COMMANDS: list[tuple[tuple[str, ...], int, str]] = [
    (("create", "\u200b"), 2, "invisible"),
    (("create", "a\nb"), 2, "control"),
    (("create", ""), 2, ""),
    (("create", "x" * 61), 2, "60"),
    (("rotate", "A" * 24), 1, "no such application"),
    (("rotate", "no id"), 1, "no such application"),
    (("rotate", "A" * 24, "--overlap", "-1"), 2, "is not a number"),
    (("rotate", "A" * 24, "--overlap", "1e3"), 2, "is not a number"),
    (("revoke", "}{"), 1, "no such application"),
    (("delete", ""), 1, "no such application"),
    ((), 2, "required"),
    (("rename", "x"), 2, "invalid choice"),
    (("limit", "A" * 24, "--requests", "5"), 1, "no such application"),
    (("limit", "A" * 24), 2, "name a limit"),
    (("limit", "A" * 24, "--requests", "1e3"), 2, "not a number"),
    (("limit", "A" * 24, "--stored", "1000001"), 2, "not a number"),
]
"""Arguments, the exit status, and words of the message."""


@pytest.mark.nightly
def test_a_wrong_command_says_what_is_wrong_and_changes_nothing(operator: Operator) -> None:
    operator.make("create", "Kept")
    before = operator.list()
    for arguments, status, words in WRONG_COMMANDS:
        done = operator.apps(*arguments)
        assert (done.returncode, done.stdout) == (status, ""), arguments
        assert words in done.stderr, arguments
        assert "Traceback" not in done.stderr, arguments
    assert operator.list() == before


def test_a_wrong_suffix_is_refused(operator: Operator) -> None:
    _, app, _ = operator.make("create", "Mistyped")
    done = operator.apps("revoke", app, "______")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such key" in done.stderr


def test_the_server_of_redis_url_is_used_where_it_is_set(server: EmbeddedServer, tmp_path: Path) -> None:
    _, app, _ = Operator(REDIS_URL=server.url, DATA_DIR=str(tmp_path)).make("create", "By URL")
    assert app in Operator(DATA_DIR=str(server.folder)).list()
    assert list(tmp_path.iterdir()) == []


def test_a_data_folder_with_a_long_path_is_found(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 20)
    with EmbeddedServer(folder):
        Operator(DATA_DIR=str(folder)).make("create", "Long")


def test_without_a_running_service_nothing_is_started(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    done = Operator(DATA_DIR=str(folder)).apps("create", "Nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert str(folder) in done.stderr
    assert not folder.exists()


def test_a_store_that_does_not_answer_is_told(tmp_path: Path) -> None:
    done = Operator(REDIS_URL=f"unix://{tmp_path}/none.sock").apps("create", "Nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not answer" in done.stderr


def logged(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """The line that a command has written into the log."""
    (line,) = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return {name: line[name] for name in line if name not in ("time", "level", "logger")}


@pytest.mark.nightly
def test_an_application_gets_limits_of_its_own_and_the_usual_ones_again(operator: Operator) -> None:
    _, app, suffix = operator.make("create", "Limited")
    done = operator.apps("limit", app, "--requests", "600", "--stored", "0")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Limited has 600 requests/min, any MiB/day: everywhere after 10 s" in done.stderr
    message = "the limits of an application were changed by the operator"
    assert logged(done) == {"message": message, "app": app, "requests": 600, "games": None, "stored": 0}
    assert re.search(rf"^{app}  \S+  {suffix}  600 requests/min, any MiB/day  Limited$", operator.list(), re.MULTILINE)
    operator.apps("limit", app, "--games", "7", "--stored")
    assert re.search(rf"^{app}  \S+  {suffix}  600 requests/min, 7 games/min  Limited$", operator.list(), re.MULTILINE)
    operator.apps("suspend", app)
    operator.apps("resume", app)
    assert "7 games/min  Limited" in operator.list()
    done = operator.apps("limit", app, "--requests", "--games")
    assert "Limited has the usual limits" in done.stderr
    assert re.search(rf"^{app}  \S+  {suffix}  Limited$", operator.list(), re.MULTILINE)


@pytest.mark.nightly
def test_a_limit_is_applied_by_all_workers_of_a_running_service(server: EmbeddedServer, operator: Operator) -> None:
    key, app, _ = operator.make("create", "Served")
    with (
        Service(server.folder, REDIS_URL=server.url, WORKERS="2", APP_REQUESTS_PER_MINUTE="60000") as service,
        httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE) as http,
    ):

        def told() -> set[str]:
            # Each request is a connection of its own, so that both workers answer some of them.
            answers = [http.get("/v1/app", headers={"Connection": "close"}) for _ in range(20)]
            return {answer.headers["RateLimit-Policy"] for answer in answers}

        assert told() == {'"app";q=60000;w=60'}
        assert operator.apps("limit", app, "--requests", "50000").returncode == 0
        deadline = monotonic() + PATIENCE
        while told() != {'"app";q=50000;w=60'}:
            assert monotonic() < deadline
        assert operator.apps("limit", app, "--requests", "1").returncode == 0
        while http.get("/v1/app").status_code != 429:
            assert monotonic() < deadline


def test_what_is_done_to_an_application_is_in_the_log(operator: Operator) -> None:
    made = operator.apps("create", "Logged")
    app = made.stdout[4:28]
    assert logged(made) == {"message": "an application was made by the operator", "app": app}
    for arguments, message in (
        (("rotate", app), "a key of an application was made"),
        (("revoke", app, made.stdout.strip()[-6:]), "a key of an application was revoked"),
        (("revoke", app), "all keys of an application were revoked"),
        (("delete", app), "an application was deleted"),
    ):
        assert logged(operator.apps(*arguments)) == {"message": f"{message} by the operator", "app": app}


def test_a_suspended_application_is_refused_until_it_is_resumed_and_the_log_says_so(operator: Operator) -> None:
    _, app, suffix = operator.make("create", "Club")
    suspended = operator.apps("suspend", app)
    assert suspended.returncode == 0
    assert "an application was suspended by the operator" in suspended.stderr
    assert app in suspended.stderr
    assert re.search(rf"^{app}  \S+  suspended  Club$", operator.list(), re.MULTILINE)
    assert operator.apps("suspend", app).returncode == 0
    assert operator.apps("resume", app).returncode == 0
    assert re.search(rf"^{app}  \S+  {suffix}  Club$", operator.list(), re.MULTILINE)
    assert operator.apps("suspend", "A" * 24).returncode == 1
