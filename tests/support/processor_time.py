"""The processor time of a test run, by folder, beside the budgets in ``tests/budgets.toml``.

A run reports what is over its budget and never fails by it: seconds depend on the machine. What a lane may cost is held
by the sum of the budgets (``tests/test_lanes.py``). The time of a test is that of its worker and of the processes that
ended meanwhile; a process that outlives its test is counted where it ends.
"""

from __future__ import annotations

import os
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.lanes import LANES, Lane, current

BUDGETS: Final = Path(__file__).parent.parent / "budgets.toml"
_SECONDS: Final = "processor seconds"
_BEGAN: Final = pytest.StashKey[float]()


def budgets() -> dict[Lane, dict[str, int]]:
    """Return the processor seconds that each lane may take, by folder."""
    read = tomllib.loads(BUDGETS.read_text("utf-8"))
    return {lane: read[lane] for lane in LANES}


def folder_of(nodeid: str) -> str:
    """Return the folder of a test below ``tests``, or ``tests`` for a file in none."""
    _, folder, *below = nodeid.partition("::")[0].split("/")
    return folder if below else "tests"


def used() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


class ProcessorTime:
    """A plugin that measures each test where it runs, and adds up all of them where the run is reported."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._by_folder: dict[str, float] = defaultdict(float)
        self._of_workers = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        item.stash[_BEGAN] = used()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append((_SECONDS, used() - item.stash[_BEGAN]))
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[_SECONDS] = used()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self._of_workers += getattr(node, "workeroutput", {}).get(_SECONDS, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            (seconds,) = [value for name, value in report.user_properties if name == _SECONDS]
            assert isinstance(seconds, float)
            self._by_folder[folder_of(report.nodeid)] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(_SECONDS)
        for line in self._lines():
            terminalreporter.line(line)

    def _lines(self) -> Iterator[str]:
        lane = current()
        allowed = budgets()[lane]
        for folder, seconds in sorted(self._by_folder.items()):
            budget = allowed.get(folder, 0)
            yield f"{folder:14} {seconds:7.1f} of {budget:4}{'  over its budget' if seconds > budget else ''}"
        tests = sum(self._by_folder.values())
        total = self._of_workers or used()
        yield f"{'start, collect':14} {total - tests:7.1f} of {allowed['start']:4}"
        yield f"{lane:14} {total:7.1f} of {sum(allowed.values()):4}"
