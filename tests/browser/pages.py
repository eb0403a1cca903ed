"""Pages for tests, and what they must not do: write warnings, throw errors, or ask anybody but this machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebError

DESK = (1280, 800)
PHONE = (390, 844)
NARROW = (320, 640)
"""Viewports, width and height in CSS pixels; the last one is the narrowest that WCAG 2.2 wants to work (1.4.10)."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

TIMEOUT_MS = 20_000
"""How long an action waits for its element; only a failing test waits that long. It is less than the 25 seconds of a
long poll and the 30 between two attempts of a page, so that what comes only by these is noticed."""
LONG_MS = 60_000
"""The same for what takes longer: the next attempt of a page, workers that start again, moves and hints of others."""

LAN_HOST = "domino.test"
"""Another name of this machine. As in a home's network over plain HTTP, pages of it are no secure context: they have no
clipboard, no ``crypto.subtle`` and no ``crypto.randomUUID``."""

ONLY_LOOPBACK = f"--host-resolver-rules=MAP {LAN_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""An argument of Chromium: every other host is unknown. Interception would switch off the cache of HTTP."""

_THIS_MACHINE = {"127.0.0.1", "localhost", LAN_HOST}


class OpenPage(Protocol):
    """The type of the fixture ``open_page``."""

    def __call__(
        self,
        path: str | None = "/",
        *,
        url: str | None = None,
        locale: str = "en-GB",
        viewport: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        motion: Literal["no-preference", "reduce"] = "reduce",
        contrast: Literal["none", "active"] = "none",
        touch: bool = False,
    ) -> Page:
        """A page in a context of its own, that is a device: no storage, cache or language is shared.

        ``path`` is opened in it, unless it is None. ``url`` is that of another service, or another name of the service
        of all tests: ``service_url.replace("127.0.0.1", LAN_HOST)``. ``viewport`` is in CSS pixels. ``contrast``
        ``active`` are forced colours. With ``touch`` it is a phone: fingers, no mouse, and the meta element for the
        viewport counts. A second tab of the same device is ``page.context.new_page()``.
        """


class Pages:
    """Opens pages of the service at ``url``, and finds fault with them when they are closed."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser = browser
        self._url = url
        self._contexts: list[BrowserContext] = []
        self._expected: list[str] = []
        self._faults: list[str] = []

    def open(
        self,
        path: str | None = "/",
        *,
        url: str | None = None,
        locale: str = "en-GB",
        viewport: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        motion: Literal["no-preference", "reduce"] = "reduce",
        contrast: Literal["none", "active"] = "none",
        touch: bool = False,
    ) -> Page:
        context = self._browser.new_context(
            base_url=url or self._url,
            locale=locale,
            timezone_id="Europe/Berlin",
            viewport={"width": viewport[0], "height": viewport[1]},
            color_scheme=scheme,
            reduced_motion=motion,
            forced_colors=contrast,
            has_touch=touch,
            is_mobile=touch,
            service_workers="block",
        )
        context.set_default_timeout(TIMEOUT_MS)
        context.on("console", self._read_console)
        context.on("weberror", self._read_error)
        context.on("request", self._read_request)
        self._contexts.append(context)
        page = context.new_page()
        if path is not None:
            page.goto(path)
        return page

    def expect_console(self, pattern: str) -> None:
        """Expect messages of the console that the pattern is found in; that none comes is then a fault."""
        self._expected.append(pattern)

    def photograph(self, folder: Path) -> list[Path]:
        """What is open now, as pictures and in words, for somebody who looks for the cause of a failure."""
        files = []
        for number, page in enumerate(page for context in self._contexts for page in context.pages):
            picture, words = folder / f"page-{number}.png", folder / f"page-{number}.txt"
            page.screenshot(path=picture)
            words.write_text(f"{page.url}\n\n{page.locator('body').aria_snapshot()}\n", "utf-8")
            files += [picture, words]
        return files

    def close(self) -> list[str]:
        """Close all pages; what they did that no test may overlook."""
        for context in self._contexts:
            context.close()
        unexpected = [fault for fault in self._faults if not any(re.search(each, fault) for each in self._expected)]
        missing = [each for each in self._expected if not any(re.search(each, fault) for fault in self._faults)]
        return unexpected + [f"expected in the console, but did not come: {each}" for each in missing]

    def _read_console(self, message: ConsoleMessage) -> None:
        if message.type in ("warning", "error", "assert"):
            self._faults.append(f"console {message.type}: {message.text} ({message.location['url']})")

    def _read_error(self, error: WebError) -> None:
        self._faults.append(f"uncaught: {error.error.stack or error.error}")

    def _read_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname not in _THIS_MACHINE:
            self._faults.append(f"a request to another machine: {request.url}")


ExpectConsole = Callable[[str], None]
"""The type of the fixture ``expect_console``."""
