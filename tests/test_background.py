"""The processes beside gunicorn in a run without REDIS_URL: restarted, stopped with the rest, never left over."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from service.config import SETTINGS
from tests.support.serving import ALONE
from tests.support.supervised import Run, all_gone, run

pytestmark = pytest.mark.gate

USUAL = {setting.name: setting.default for setting in SETTINGS if setting.name in ALONE}

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc and ends a child with its parent")


def background(it: Run) -> dict[str, int]:
    """The process ids of the children of the supervisor that are a bot worker or a scheduler, by number and command."""
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            continue
        if parent == it.process.pid and words[1:3] == [b"-m", b"service"]:
            found[f"{words[3].decode()}{len(found)}"] = int(entry.name)
    return found


def commands(it: Run) -> list[str]:
    return sorted(name.rstrip("0123456789") for name in background(it))


@linux_only
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (USUAL, ["bots", "messenger", "scheduler"]),
        ({"BOT_WORKERS": "2", "SCHEDULERS": "0", "MESSENGERS": "1"}, ["bots", "bots", "messenger"]),
        ({"BOT_WORKERS": "0", "SCHEDULERS": "0", "MESSENGERS": "0"}, []),
    ],
)
def test_as_many_run_as_the_settings_say_and_all_end_with_the_service(
    settings: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    with run(tmp_path, **settings) as it:
        it.port()
        it.until(lambda: commands(it) == expected)
        children = background(it)
        assert it.stop() == 0
        assert all_gone(children)
        assert "Traceback" not in it.output()


@linux_only
def test_one_that_is_killed_is_restarted(tmp_path: Path) -> None:
    with run(tmp_path, **USUAL) as it:
        it.port()
        it.until(lambda: commands(it) == ["bots", "messenger", "scheduler"])
        before = background(it)

        for pid in before.values():
            os.kill(pid, signal.SIGKILL)
        it.until(
            lambda: (
                commands(it) == ["bots", "messenger", "scheduler"]
                and not set(background(it).values()) & {*before.values()}
            )
        )
        assert "the process `bots` ended by itself (killed by SIGKILL); restarting it" in it.output()
        assert it.stop() == 0


@linux_only
def test_they_end_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    with run(tmp_path, **USUAL) as it:
        it.port()
        it.until(lambda: commands(it) == ["bots", "messenger", "scheduler"])
        children = background(it)
        it.process.kill()
        assert all_gone(children, 10.0)
