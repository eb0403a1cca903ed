"""A browser, the service, and pages that are watched.

A test takes ``page``, or ``open_page`` for another device or for several; both fail the test at its end if a page wrote
a warning, threw an error or asked another machine, unless ``expect_console`` announced it. ``axe`` checks a page.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.accessibility import Axe, violations
from tests.browser.installation import NODE, NotInstalledError, axe_source, find_browser
from tests.browser.pages import ONLY_LOOPBACK, TIMEOUT_MS, ExpectConsole, OpenPage, Pages
from tests.support.serving import Service
from tests.whole.table import connect

_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    if report.skipped and isinstance(report.longrepr, tuple):
        report.longrepr = (str(Path(__file__).parent), 1, report.longrepr[2])  # one place: shown in one line
    return report


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for the tests of this folder that a worker runs.

    Not for the session: Playwright keeps an event loop in the main thread, next to which no other can run.
    """
    try:
        found = find_browser(tmp_path_factory.mktemp("browser"))
    except NotInstalledError as error:
        _do_without(error)
    expect.set_options(timeout=TIMEOUT_MS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYWRIGHT_NODEJS_PATH", str(NODE))  # its own one needs libatomic, which a bare system lacks
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(
                executable_path=found.executable, env={**os.environ, **found.environ}, args=[ONLY_LOOPBACK]
            )
            yield running
            running.close()


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service: two workers over a real server."""
    with Service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="package")
def service_url(service: Service) -> str:
    return service.url


@pytest.fixture
def http(service_url: str) -> Iterator[httpx.Client]:
    with connect(service_url) as client:
        yield client


@pytest.fixture
def pages(browser: Browser, service_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pages]:
    """All pages of a test; tests use the three fixtures below."""
    pages = Pages(browser, service_url)
    yield pages
    if request.node.stash.get(_FAILED, False):
        for file in pages.photograph(tmp_path):
            print("kept:", file)
    faults = pages.close()
    assert not faults, "\n".join(faults)


@pytest.fixture
def open_page(pages: Pages) -> OpenPage:
    """Open a page on a new device: ``open_page("/", locale="de", viewport=PHONE, scheme="dark", touch=True)``."""
    return pages.open


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """The page at ``/``, at a desk, in English."""
    return open_page()


@pytest.fixture
def expect_console(pages: Pages) -> ExpectConsole:
    """Announce a message of the console, by a pattern: ``expect_console("status of 409")``."""
    return pages.expect_console


@pytest.fixture(scope="package")
def axe(browser: Browser) -> Axe:
    """The violations of a page's accessibility: ``assert axe(page) == []``."""
    try:
        return partial(violations, source=axe_source())
    except NotInstalledError as error:
        _do_without(error)


def _do_without(error: NotInstalledError) -> NoReturn:
    """Skip the tests for want of a browser, but not where they are required."""
    message = (
        f"no browser: {error}. Run `make install-dev` where the registry of npm can be reached, or install Chromium"
    )
    if os.environ.get("CI") == "true" or os.environ.get("BROWSER") == "required":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
