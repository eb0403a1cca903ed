"""What all tests share: the lane of a run, recorded files, tests that must run, and what is shown after the run."""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import pytest
import redis

from service.redis.connection import connect
from tests.storage.servers import RealServer
from tests.support import lanes, order
from tests.support.processor_time import ProcessorTime
from tests.support.released import Release, built_once
from tests.support.sharing import shared_folder

# Each process of a run would else build forty parsers for formats of JSON Schema that no schema here has: 4 s.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type] # None stands for what cannot be imported

Figures = Callable[[str, Mapping[str, float]], None]
ClientTable = Callable[[str, str, str], None]

_FIGURES = "figures"
_CLIENTS = "clients"
_CLIENT_COLUMNS = ("operations", "compiled", "played")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="rewrite perft files and recorded matches")
    parser.addoption("--require", metavar="FOLDER", help="fail unless a test of this folder has passed")
    parser.addoption("--lane", choices=lanes.LANES, default="nightly", help="which tests run, and with how many cases")


def pytest_configure(config: pytest.Config) -> None:
    lanes.choose(config.getoption("--lane"))
    config.pluginmanager.register(ProcessorTime())


def pytest_report_header() -> str:
    return f"lane: {lanes.current()} (make test, make gate and make nightly run the three)"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files without a test for this lane, which are not even imported."""
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    return True if is_test and not lanes.may_have_tests(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(trylast=True)  # when all others are deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other lanes; several workers begin with the longest tests."""
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        of_item = lanes.lanes_of([mark.name for mark in item.iter_markers()])
        (chosen if lanes.current() in of_item else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen
    if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
        items[:] = order.longest_first(items, int(workers), rank=order.rank, file=lambda item: item.path)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without the cyclic collector, and exempt them from it: they live as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def rewriting(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture
def same_as_file(rewriting: bool) -> Callable[[Path, str], None]:
    """Compare a text with a file line by line; with ``--rewrite`` write the file."""

    def compare(path: Path, text: str) -> None:
        if rewriting:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing; pytest --rewrite writes it"
        assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()

    return compare


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release, built once for all workers of the run."""
    return built_once(shared_folder(request, tmp_path_factory, "release"))


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """A server for all tests of a pytest worker that do not disturb it."""
    with RealServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def shared_client(shared_server: RealServer) -> Iterator[redis.Redis]:
    client = connect(shared_server.url)
    yield client
    client.close()


@pytest.fixture
def empty_server(shared_client: redis.Redis) -> Iterator[redis.Redis]:
    """The shared server, of which a test may use all keys."""
    shared_client.flushall()
    yield shared_client
    shared_client.flushall()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Report figures under a title; those of all tests and workers are added up and shown after the run."""

    def report(title: str, counted: Mapping[str, float]) -> None:
        request.node.user_properties.append((_FIGURES, [title, dict(counted)]))

    return report


@pytest.fixture
def client_table(request: pytest.FixtureRequest) -> ClientTable:
    """Fill in a cell of the table of generated clients, by generator and column; it is shown after the run."""

    def fill_in(generator: str, column: str, text: str) -> None:
        assert column in _CLIENT_COLUMNS
        request.node.user_properties.append((_CLIENTS, [generator, column, text]))

    return fill_in


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _missing(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _missing(config: pytest.Config) -> str | None:
    """The folder of which a test has to pass, if none has."""
    folder: str | None = config.getoption("--require")
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if folder is None or reporter is None:  # without a reporter this is a worker, which sees only a part
        return None
    passed = any(report.nodeid.startswith(f"{folder}/") for report in reporter.getreports("passed"))
    return None if passed else folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if folder := _missing(terminalreporter.config):
        terminalreporter.section("missing", red=True)
        terminalreporter.line(f"no test of {folder} has passed")
    _show_figures(terminalreporter)
    _show_clients(terminalreporter)


def _show_figures(terminalreporter: pytest.TerminalReporter) -> None:
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == _FIGURES:
                for what, number in value[1].items():
                    sums[value[0]][what] += number
    if sums:
        terminalreporter.section("figures")
    for title, counted in sums.items():
        terminalreporter.line(
            f"{title}: " + ", ".join(f"{round(number, 2):.12g} {what}" for what, number in counted.items())
        )


def _show_clients(terminalreporter: pytest.TerminalReporter) -> None:
    """A row of the table tells what tests that have not failed found out about the clients of one generator."""
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for outcome in ("passed", "skipped"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                if name == _CLIENTS:
                    cells[value[0]][value[1]] = value[2]
    if cells:
        terminalreporter.section("generated clients")
        for row in (("generator", *_CLIENT_COLUMNS), ("---",) * (len(_CLIENT_COLUMNS) + 1)):
            terminalreporter.line(f"| {' | '.join(row)} |")
    for generator, found in sorted(cells.items()):
        terminalreporter.line(f"| {' | '.join([generator, *(found.get(column, '–') for column in _CLIENT_COLUMNS)])} |")
