"""The packages of ``clients``, built and installed as anybody would: their types are checked, and they play and follow.

The bots are those of their READMEs, with another address. Nothing comes from a registry: what the packages depend on is
that of ``make install-dev``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import httpx
import pytest
from packaging.requirements import Requirement

from tests.support.node_packages import NODE_MODULES
from tests.support.programs import SECONDS, run
from tests.support.serving import ROOT, Service
from tests.whole.table import Table
from tests.whole.test_event_reader import Reader, check
from tests.whole.test_streams import everything
from tests.whole.web_proxy import WebProxy
from tools.build_clients import NODE, NPM, PIP_OPTIONS, PYTHON

pytestmark = pytest.mark.nightly

PROGRAMS = Path(__file__).parent / "client_packages"
SCRIPT = re.compile(r"^<!-- script: ([a-z.]+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8000"
DEPENDENCIES = ("openapi-fetch", "openapi-typescript-helpers")
SHORT = {"limit": 1}


class Built(NamedTuple):
    tarball: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    said = run(ROOT, *PYTHON, "tools.build_clients", str(folder)).splitlines()
    assert sorted(map(Path, said)) == sorted(folder.iterdir())
    return Built(*map(Path, said))


def programs_with_bot(language: str, folder: Path, service: Service) -> None:
    """Copy the programs, and the bot of the README with the address of the service, into the folder."""
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    ((name, text),) = SCRIPT.findall((ROOT / "clients" / language / "README.md").read_text("utf-8"))
    assert text.count(ADDRESS) == 1
    (folder / name).write_text(text.replace(ADDRESS, service.url), "utf-8")


@pytest.fixture(scope="module")
def typescript(built: Built, service: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the tarball is installed, and all programs are compiled."""
    folder = tmp_path_factory.mktemp("typescript")
    packed = [run(folder, *NPM, "pack", "--silent", str(NODE_MODULES / name)).strip() for name in DEPENDENCIES]
    install = ("install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
    run(folder, *NPM, *install, str(built.tarball), *[f"./{name}" for name in packed])
    programs_with_bot("typescript", folder, service)
    run(folder, *NODE, str(NODE_MODULES / "typescript" / "bin" / "tsc"))
    return folder


class Installed(NamedTuple):
    folder: Path
    packages: str

    def run(self, *command: str) -> str:
        return run(self.folder, *command, PYTHONPATH=self.packages)


@pytest.fixture(scope="module")
def python(built: Built, service: Service, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel is installed, beside what it depends on, and the types of all programs are checked."""
    folder = tmp_path_factory.mktemp("python")
    packages = tmp_path_factory.mktemp("packages")
    run(folder, *PYTHON, "pip", "install", *PIP_OPTIONS, "--target", str(packages), str(built.wheel))
    programs_with_bot("python", folder, service)
    installed = Installed(folder, str(packages))
    installed.run(*PYTHON, "mypy", "--strict", "--config-file=", *[path.name for path in folder.glob("*.py")])
    return installed


def test_the_tarball_has_the_version_of_the_service_and_types_for_all_of_it(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.tarball) as archive:
        names = set(archive.getnames())
        archive.extract("package/package.json", tmp_path, filter="data")
    package: dict[str, Any] = json.loads((tmp_path / "package" / "package.json").read_text("utf-8"))
    stems = ("document", "events", "index")
    code = {f"package/dist/{stem}{end}" for stem in stems for end in (".js", ".d.ts")}
    assert names == {"package/package.json", "package/README.md", "package/LICENSE"} | code
    assert package["version"] == version("domino-service")
    assert package["dependencies"].keys() == {"openapi-fetch"}
    assert {f"package/{path[2:]}" for each in package["exports"].values() for path in each.values()} < code


def test_the_wheel_has_the_version_of_the_service_and_each_operation(built: Built, document: dict[str, Any]) -> None:
    with ZipFile(built.wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        said = message_from_bytes(archive.read(metadata))
    assert said["Version"] == version("domino-service")
    assert {Requirement(each).name for each in said.get_all("Requires-Dist", [])} == {"attrs", "httpx"}
    assert {name.partition("/")[0] for name in names} == {"domino_client", metadata.partition("/")[0]}
    assert {"domino_client/py.typed", metadata.replace("METADATA", "licenses/LICENSE")} <= set(names)
    methods = [method for path in document["paths"].values() for method in path.values() if "operationId" in method]
    wanted = {re.sub("([A-Z])", r"_\1", method["operationId"]).lower() for method in methods}
    assert wanted == {Path(name).stem for name in names if re.match(r"domino_client/api/\w+/[a-z]", name)}


def check_match(printed: str, http: httpx.Client) -> None:
    """The bot has played a match to its end, and knows who has won."""
    game, _, winners = printed.partition(" ")
    score = http.get(f"/v1/games/{game}/score").raise_for_status().json()
    assert (score["status"], score["winners"]) == ("finished", json.loads(winners))
    events = http.get(f"/v1/games/{game}/events?limit=1000").json()["events"]
    assert {event["seat"] for event in events if event["type"] == "played"} == {0, 1}


def test_the_bot_in_typescript_plays_a_match(typescript: Path, http: httpx.Client) -> None:
    check_match(run(typescript, *NODE, "bot.mjs"), http)


def test_the_bot_in_python_plays_a_match(python: Installed, http: httpx.Client) -> None:
    check_match(python.run(sys.executable, "bot.py"), http)


def test_the_whole_python_package_passes_mypy(python: Installed) -> None:
    python.run(*PYTHON, "mypy", "--strict", "--config-file=", f"{python.packages}/domino_client")


def test_a_game_made_with_the_key_of_an_application_is_its_own(
    typescript: Path, python: Installed, service: Service, http: httpx.Client
) -> None:
    keys = [service.new_key(name) for name in ("TypeScript", "Python")]
    made = [
        run(typescript, *NODE, "owner.mjs", service.url, keys[0]).strip(),
        python.run(sys.executable, "owner.py", service.url, keys[1]).strip(),
    ]
    for key, game in zip(keys, made, strict=True):
        listed = http.get("/v1/games", headers={"Authorization": f"Bearer {key}"}).json()["games"]
        assert [each["id"] for each in listed] == [game]


def cuts(seed: int) -> Callable[[], int]:
    """After how many bytes an answer is cut off."""
    rng = random.Random(seed)
    return lambda: rng.choice((1, 400, 900, 15_000))


@pytest.mark.parametrize("view", [True, False])
def test_the_typescript_reader_resumes_after_cuts(typescript: Path, http: httpx.Client, view: bool) -> None:
    table = Table.create(http, "domino", 2, options=SHORT, seed="cuts")
    module = typescript / "node_modules" / "domino-client" / "dist" / "index.js"
    with WebProxy(str(http.base_url), cuts(1)) as proxy:
        with Reader(module, proxy.url, table, 1, view=view) as reader:
            for _ in table.play(seed=1):
                pass
            check(reader.end(), table, 1, view=view)
        assert len(proxy.paths) > 3


class Follower(AbstractContextManager["Follower"]):
    """A program that follows what it is asked for at ``url`` with a reader for Python."""

    def __init__(self, python: Installed, url: str, token: str, what: str, which: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "follow.py", url, token, what, which],
            cwd=python.folder,
            env={**os.environ, "PYTHONPATH": python.packages},
            stdout=subprocess.PIPE,
            text=True,
        )

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> list[Any]:
        """All that it has printed; it ends by itself."""
        printed, _ = self._process.communicate(timeout=SECONDS)
        return [json.loads(line) for line in printed.splitlines()]


def test_the_python_readers_of_a_game_resume_after_cuts(python: Installed, http: httpx.Client) -> None:
    table = Table.create(http, "domino", 2, options=SHORT, seed="cuts")
    with WebProxy(str(http.base_url), cuts(2)) as proxy:
        with (
            Follower(python, proxy.url, table.tokens[1], "events", table.id) as events,
            Follower(python, proxy.url, table.tokens[1], "views", table.id) as views,
        ):
            for _ in table.play(seed=1):
                pass
            *received, end = events.end()
            *shown, last, end_of_views = views.end()
        assert len(proxy.paths) > 4
    assert (end, end_of_views) == ("end", "end")
    assert received == [[each["version"], each["type"], each["data"]] for each in everything(table, 1)]
    assert last == [table.view()["version"], "finished", 1]
    versions = [version for version, _, _ in shown]
    assert versions == sorted(set(versions))
    assert {(status, seat) for _, status, seat in shown} <= {("playing", 1), ("round_over", 1)}


def test_a_view_that_is_lost_after_its_events_is_asked_for_again(python: Installed, http: httpx.Client) -> None:
    table = Table.create(http, "domino", 2, options=SHORT, seed="lost")
    for _ in table.play(seed=5):
        pass
    whole = http.get(f"{table.path}/events?view=true", headers={"Accept": "application/x-ndjson"}).content
    pieces = iter([len(whole) - 100, len(whole)])
    with (
        WebProxy(str(http.base_url), lambda: next(pieces)) as proxy,
        Follower(python, proxy.url, "", "views", table.id) as views,
    ):
        assert views.end() == [[table.view()["version"], "finished", None], "end"]
        assert len(proxy.paths) == 2


def new_game(http: httpx.Client, key: str) -> Table:
    """A game of the application that has this key."""
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "options": SHORT}
    created = http.post("/v1/games", json=body, headers={"Authorization": f"Bearer {key}"})
    return Table(http, created.raise_for_status().json())


def test_the_python_reader_of_the_feed_resumes_after_cuts(
    python: Installed, service: Service, http: httpx.Client
) -> None:
    key = service.new_key("Feed")
    with WebProxy(str(http.base_url), cuts(3)) as proxy:
        with Follower(python, proxy.url, key, "feed", "2") as feed:
            tables = [new_game(http, key) for _ in range(2)]
            for table in tables:
                for _ in table.play(seed=1):
                    pass
            *received, end = feed.end()
        assert len(proxy.paths) > 2
    assert end == "end"
    for table in tables:
        told = [[version, kind] for game, version, kind in received if game == table.id]
        assert told == [[each["version"], each["type"]] for each in everything(table)]


def test_a_python_reader_ends_with_a_finished_match_and_raises_a_refusal_that_stays(
    python: Installed, service: Service, http: httpx.Client
) -> None:
    table = Table.create(http, "domino", 2, options=SHORT)
    for _ in table.play(seed=1):
        pass
    for what, token, expected in (("events", "", "end"), ("views", "", "end"), ("views", "wrong", "unauthorized")):
        with Follower(python, service.url, token, what, table.id) as follower:
            assert follower.end()[-1] == expected
