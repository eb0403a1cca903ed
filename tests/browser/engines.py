"""Other engines than Chromium, where they are installed: Firefox, and the WebKit of GTK.

Both are told the same few commands of WebDriver, one by its own socket (Marionette), the other over HTTP, so that they
need neither a package nor a driver of another version. Playwright has engines of its own instead, which are not in any
registry. This module knows nothing of the service.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from tests.support.processes import free_ports

START_SECONDS = 60
COMMAND_SECONDS = 60
STOP_SECONDS = 10
WAIT_SECONDS = 20
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Home": "\ue011", "End": "\ue010"} | {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
"""Named keys, as WebDriver writes them; any other key is the character that it types."""

MINI_BROWSERS = ("webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0")


class MissingError(Exception):
    """The engine is not installed; the message says what is missing."""


class Connection(Protocol):
    """Sends a command of WebDriver: by its name in Marionette, and its path below the session over HTTP."""

    def send(self, name: str, path: str, parameters: Mapping[str, Any]) -> Any:
        """The value that the command gives."""


class Engine:
    """One window of a browser."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def open(self, url: str) -> None:
        """Open an address, and wait until it has loaded."""
        self._connection.send("WebDriver:Navigate", "url", {"url": url})

    def evaluate(self, body: str, *arguments: object) -> Any:
        """What the body of an asynchronous function returns; ``arguments`` are its variable of that name."""
        script = f"""
            const done = arguments[arguments.length - 1];
            (async function () {{ {body} }}).apply(null, arguments)
                .then((value) => done({{ value: value ?? null }}), (error) => done({{ error: String(error) }}));"""
        parameters = {"script": script, "args": list(arguments)}
        result = self._connection.send("WebDriver:ExecuteAsyncScript", "execute/async", parameters)
        assert "error" not in result, result["error"]
        return result["value"]

    def wait_for(self, selector: str) -> None:
        """Wait until there is such an element."""
        look = """const until = performance.now() + 1000 * arguments[1];
            while (!document.querySelector(arguments[0])) {
              if (performance.now() > until) throw Error(`there is no ${arguments[0]}: ${document.body.innerText}`);
              await new Promise((resolve) => setTimeout(resolve, 20));
            }"""
        self.evaluate(look, selector, WAIT_SECONDS)

    def click(self, selector: str) -> None:
        """Press and release the mouse on the middle of an element."""
        self.wait_for(selector)
        find = """const found = document.querySelector(arguments[0]);
            found.scrollIntoView({ block: "center", behavior: "instant" });
            return found;"""
        element = self.evaluate(find, selector)
        steps = [
            {"type": "pointerMove", "origin": element, "x": 0, "y": 0},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps})

    def press(self, key: str) -> None:
        """Press and release a key: a character, or one of ``KEYS``."""
        value = KEYS.get(key, key)
        steps = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def _act(self, source: Mapping[str, Any]) -> None:
        self._connection.send("WebDriver:PerformActions", "actions", {"actions": [source]})


@contextmanager
def firefox(folder: Path) -> Iterator[Engine]:
    """Firefox without a window, its profile in ``folder``. Raises ``MissingError``."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        raise MissingError("there is no firefox-esr or firefox on the PATH; on Debian: apt install firefox-esr")
    (port,) = free_ports(1)
    folder.joinpath("user.js").write_text(f'user_pref("marionette.port", {port});\n', "utf-8")
    command = [program, "--headless", "--no-remote", "--marionette", "--profile", str(folder)]
    with _running(command, {"HOME": str(folder)}, folder / "log"), _connected(port) as connection:
        connection.send("WebDriver:NewSession", "", {})
        yield Engine(connection)
        connection.send("Marionette:Quit", "", {"flags": ["eForceQuit"]})


@contextmanager
def webkit(folder: Path) -> Iterator[Engine]:
    """The small browser of WebKitGTK, in a screen of its own. Raises ``MissingError``."""
    driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    if driver is None or screen is None:
        raise MissingError("there is no WebKitWebDriver with Xvfb; on Debian: apt install webkit2gtk-driver xvfb")
    browsers = [path for name in MINI_BROWSERS for path in Path("/usr/lib").glob(f"*/{name}/MiniBrowser")]
    if not browsers:
        raise MissingError(f"there is no MiniBrowser in {' or '.join(MINI_BROWSERS)} below /usr/lib")
    (port,) = free_ports(1)
    options = {"binary": str(browsers[0]), "args": ["--automation"]}
    with (
        _display(screen, folder) as display,
        _running([driver, f"--port={port}"], {"DISPLAY": display, "HOME": str(folder)}, folder / "log"),
        closing(_Http(f"http://127.0.0.1:{port}", {"webkitgtk:browserOptions": options})) as connection,
    ):
        yield Engine(connection)


ENGINES = {"firefox": firefox, "webkit": webkit}


class _Http:
    """WebDriver over HTTP."""

    def __init__(self, url: str, capabilities: Mapping[str, Any]) -> None:
        transport = httpx.HTTPTransport(retries=8)  # with growing pauses, until it listens
        self._client = httpx.Client(base_url=url, timeout=COMMAND_SECONDS, transport=transport)
        self._session = ""
        wanted = {"capabilities": {"alwaysMatch": capabilities}}
        self._session = f"/session/{self._post('/session', wanted)['sessionId']}"

    def send(self, name: str, path: str, parameters: Mapping[str, Any]) -> Any:
        return self._post(f"{self._session}/{path}", parameters)

    def close(self) -> None:
        self._client.delete(self._session)
        self._client.close()

    def _post(self, path: str, parameters: Mapping[str, Any]) -> Any:
        answer = self._client.post(path, json=parameters)
        assert answer.is_success, answer.text
        return answer.json()["value"]


class _Marionette:
    """Marionette, the protocol of Firefox: JSON after its length in bytes and a colon."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._answers = connection.makefile("rb")
        self._read()  # a greeting

    def send(self, name: str, path: str, parameters: Mapping[str, Any]) -> Any:
        message = json.dumps([0, 1, name, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        assert error is None, f"{name}: {error['error']}: {error['message']}"
        return result.get("value", result)

    def close(self) -> None:
        self._answers.close()

    def _read(self) -> Any:
        digits = b""
        while (byte := self._answers.read(1)) != b":":
            assert byte, "Firefox has closed the connection"
            digits += byte
        return json.loads(self._answers.read(int(digits)))


@contextmanager
def _connected(port: int) -> Iterator[_Marionette]:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), COMMAND_SECONDS)
            break
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "Firefox does not listen"
            time.sleep(0.1)
    with connection, closing(_Marionette(connection)) as marionette:
        yield marionette


@contextmanager
def _display(program: str, folder: Path) -> Iterator[str]:
    """A screen without a monitor; its name."""
    read, write = os.pipe()
    command = [program, "-displayfd", str(write), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    with os.fdopen(read) as number, _running(command, {}, folder / "screen.log", pass_fds=(write,)):
        os.close(write)
        yield f":{number.readline().strip()}"


@contextmanager
def _running(
    command: Sequence[str], environ: Mapping[str, str], log: Path, pass_fds: Sequence[int] = ()
) -> Iterator[None]:
    """A process, which is stopped by its process id, if it has not ended by itself."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=pass_fds,
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
