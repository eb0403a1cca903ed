"""A browser beside a service of its own, for what looks at the page without a test.

Owns how both are started and stopped. Does not depend on what is looked at.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.installation import NODE, find_browser
from tests.support.serving import Service


@contextmanager
def browser_and_service() -> Iterator[tuple[Browser, str]]:
    """Yield the browser of the tests, and the URL of a service with nothing in it."""
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(NODE)
    with tempfile.TemporaryDirectory() as folder:
        found = find_browser(Path(folder))
        with Service(Path(folder, "data")) as service, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found.executable, env={**os.environ, **found.environ})
            yield browser, service.url
            browser.close()
