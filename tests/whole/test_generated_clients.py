"""Typed clients, generated from the document, have every operation, are checked by their compilers and play matches.

The programs in ``clients`` post a listed move as it stands, which their compilers accept only as long as a listed move
and the body of a move have the same type. Each game that they create is listed as that of the application whose key
their client was given, as clients take a token. Each of them also plays with a service that tells more than its
document says, as a later release of ``/v1`` may.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.engine.variants import variants
from tests.conftest import ClientTable
from tests.support import node_packages
from tests.support.contract import Contract, committed
from tests.support.lanes import QUICK_VARIANTS, in_lane
from tests.support.programs import finish, run
from tests.support.serving import ROOT, Service
from tests.support.sharing import shared_folder
from tests.support.waiting import PATIENCE
from tests.whole.generators import (
    GUIDE,
    LANGUAGES,
    NODE,
    PROGRAMS,
    PYTHON,
    compile_java,
    compile_kotlin,
    generate_all_languages,
    go,
    missing_operations,
    node_package,
    snake,
)
from tests.whole.newer_service import newer_service

pytestmark = [pytest.mark.nightly, pytest.mark.long]

DOCUMENT = ROOT / "openapi.yaml"
OPERATIONS = {operation["operationId"]: (path, method) for path, method, operation in committed().operations()}
COUNT = f"all {len(OPERATIONS)}"
COMPILERS = {"java": compile_java, "kotlin": compile_kotlin}
PLAYED_ON_THEIR_OWN = ("go", "typescript-fetch")
VARIANT = next(iter(variants()))


@pytest.fixture(scope="session")
def languages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of the clients that OpenAPI Generator writes, shared by all workers."""
    folder = shared_folder(request, tmp_path_factory, "languages")
    generate_all_languages(DOCUMENT, folder)
    return folder


@dataclass(frozen=True)
class Application:
    """An application of the service at ``url``, and what asks for what it has; at ``newer`` it tells more."""

    url: str
    newer: str
    key: str
    http: httpx.Client

    def score(self, match: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.get(f"/v1/games/{match['game']}/score").raise_for_status().json()
        return answer

    def games(self) -> list[str]:
        """The ids of its latest games."""
        answer = self.http.get("/v1/games", headers={"Authorization": f"Bearer {self.key}"}).raise_for_status()
        return [game["id"] for game in answer.json()["games"]]


@pytest.fixture
def application(http: httpx.Client, service: Service) -> Iterator[Application]:
    with newer_service(service.url) as newer:
        yield Application(service.url, newer.url, service.new_key(), http)


def check_match(match: dict[str, Any], application: Application) -> None:
    """The program has played a match to its end, and the application has it in its list, which follows soon."""
    score = application.score(match)
    assert score["status"] == "finished"
    assert match["winners"] == score["winners"]
    deadline = time.monotonic() + PATIENCE
    while match["game"] not in application.games():
        assert time.monotonic() < deadline, f"the game belongs to nobody: {match}"
        time.sleep(0.05)


def check_matches(lines: str, application: Application, games: Sequence[str]) -> str:
    """The program has played a match of each game, and has understood every answer; how many moves it has made."""
    matches = [json.loads(line) for line in lines.splitlines()]
    assert {match["variant"] for match in matches} == set(games)
    assert len(matches) == len(games)
    for match in matches:
        check_match(match, application)
        assert match["language"] == "de"
        assert match["options"] == [option.key for option in variants()[match["variant"]].options]
        assert match["totals"] == [standing["total"] for standing in application.score(match)["standings"]]
        assert match["away"] == [True, False]
        assert match["refused"] == ["not_due", "stale_version"]
    return f"{len(matches)} games, {sum(match['moves'] for match in matches)} moves"


def check_one_match(play: Callable[[str], str], application: Application) -> str:
    """The program plays a match at each of the two addresses; of what the first was, and how many moves it made."""
    match, with_newer = [json.loads(play(url)) for url in (application.url, application.newer)]
    check_match(match, application)
    check_match(with_newer, application)
    return f"{match['variant']}, {match['moves']} moves"


def typescript_project(name: str, folder: Path, node_modules: Path) -> None:
    """Lay out the program of a client, with the packages that its generator and compiler are in."""
    shutil.copytree(PROGRAMS / name, folder, dirs_exist_ok=True)
    shutil.copy(PROGRAMS / "tsconfig.json", folder)
    shutil.copy(DOCUMENT, folder)
    (folder / "node_modules").symlink_to(node_modules)


def check_types(folder: Path, client_table: ClientTable, generator: str) -> None:
    run(folder, *NODE, "node_modules/.bin/tsc")
    client_table(generator, "compiled", "tsc --strict")


@pytest.mark.parametrize("language", LANGUAGES)
def test_openapi_generator_generates_every_operation(language: str, languages: Path, client_table: ClientTable) -> None:
    assert missing_operations(languages / language, LANGUAGES[language], list(OPERATIONS)) == []
    client_table(f"OpenAPI Generator: {language}", "operations", COUNT)


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each not in PLAYED_ON_THEIR_OWN])
def test_the_client_compiles(language: str, languages: Path, tmp_path: Path, client_table: ClientTable) -> None:
    if reason := LANGUAGES[language].no_compiler:
        client_table(f"OpenAPI Generator: {language}", "compiled", f"skipped: {reason}")
        pytest.skip(reason)
    compiler = COMPILERS[language](languages / language, tmp_path)
    client_table(f"OpenAPI Generator: {language}", "compiled", compiler)


def test_the_client_in_go_compiles_and_plays(
    languages: Path, tmp_path: Path, application: Application, client_table: ClientTable
) -> None:
    shutil.copytree(languages / "go", tmp_path, dirs_exist_ok=True)
    shutil.copytree(PROGRAMS / "go", tmp_path, dirs_exist_ok=True)
    go(tmp_path, "build", "-o", "bin/", "./...")
    go(tmp_path, "vet", "./...")
    client_table("OpenAPI Generator: go", "compiled", "go build, go vet")

    def play(url: str) -> str:
        return run(tmp_path, "bin/play", url, application.key, VARIANT)

    client_table("OpenAPI Generator: go", "played", check_one_match(play, application))


def test_the_client_of_typescript_fetch_compiles_and_plays(
    languages: Path, tmp_path: Path, application: Application, client_table: ClientTable
) -> None:
    generator = "OpenAPI Generator: typescript-fetch"
    typescript_project("typescript-fetch", tmp_path, node_package("typescript").parent)
    shutil.copytree(languages / "typescript-fetch", tmp_path / "client")
    check_types(tmp_path, client_table, generator)

    def play(url: str) -> str:
        return run(tmp_path, *NODE, "play.mjs", url, application.key, VARIANT)

    client_table(generator, "played", check_one_match(play, application))


def test_the_client_of_hey_api_compiles_and_plays(
    tmp_path: Path, application: Application, client_table: ClientTable
) -> None:
    typescript_project("hey-api", tmp_path, node_package("@hey-api/openapi-ts").parent.parent)
    run(tmp_path, *NODE, "node_modules/.bin/openapi-ts", "--input", "openapi.yaml", "--output", "client")
    functions = re.findall(r"^export const (\w+) = <", (tmp_path / "client" / "sdk.gen.ts").read_text(), re.MULTILINE)
    assert sorted(functions) == sorted(OPERATIONS)
    client_table("hey-api", "operations", COUNT)
    check_types(tmp_path, client_table, "hey-api")

    def play(url: str) -> str:
        return run(tmp_path, *NODE, "play.mjs", url, application.key, VARIANT)

    client_table("hey-api", "played", check_one_match(play, application))


def test_the_functions_of_orval_compile_and_play(
    tmp_path: Path, application: Application, client_table: ClientTable
) -> None:
    typescript_project("orval", tmp_path, node_package("orval").parent)
    config = {"input": "openapi.yaml", "output": {"target": "client.ts", "client": "fetch", "baseUrl": application.url}}
    (tmp_path / "orval.config.mjs").write_text(f"export default {json.dumps({'domino': config})};")
    run(tmp_path, *NODE, "node_modules/.bin/orval", "--config", "orval.config.mjs")
    functions = re.findall(r"^export const (\w+) = async ", (tmp_path / "client.ts").read_text(), re.MULTILINE)
    assert sorted(functions) == sorted(OPERATIONS)
    client_table("orval (fetch)", "operations", COUNT)
    check_types(tmp_path, client_table, "orval (fetch)")
    written = (tmp_path / "client.js").read_text()
    assert application.url in written

    def play(url: str) -> str:
        (tmp_path / "client.js").write_text(written.replace(application.url, url))
        return run(tmp_path, *NODE, "play.mjs", application.key, VARIANT)

    client_table("orval (fetch)", "played", check_one_match(play, application))


def test_a_client_of_openapi_fetch_compiles_and_plays_every_game(
    tmp_path: Path, application: Application, client_table: ClientTable
) -> None:
    generator = "openapi-typescript, openapi-fetch"
    assert node_packages.NODE_MODULES.is_dir(), "make install-dev installs the packages of tools/page"
    typescript_project("openapi-fetch", tmp_path, node_packages.NODE_MODULES)
    run(tmp_path, *NODE, "node_modules/.bin/openapi-typescript", "openapi.yaml", "--output", "domino.ts")
    paths, _, _ = (tmp_path / "domino.ts").read_text().partition("export interface operations ")
    found = {
        name: (path, method)
        for path, methods in re.findall(r'^    "(/[^"]*)": \{(.*?)^    \};', paths, re.MULTILINE | re.DOTALL)
        for method, name in re.findall(r'^        (\w+): operations\["(\w+)"\];', methods, re.MULTILINE)
    }
    assert found == OPERATIONS
    client_table(generator, "operations", COUNT)
    check_types(tmp_path, client_table, generator)
    played = run(tmp_path, *NODE, "play.mjs", application.url, application.key)
    client_table(generator, "played", check_matches(played, application, list(variants())))
    check_match(json.loads(run(tmp_path, *NODE, "play.mjs", application.newer, application.key, VARIANT)), application)


@pytest.fixture(scope="module")
def python_client(tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]) -> Path:
    """The folder of the client that openapi-python-client writes, with all operations, and of its program."""
    folder = tmp_path_factory.mktemp("python")
    shutil.copytree(PROGRAMS / "python", folder, dirs_exist_ok=True)
    config = ("--meta", "none", "--config", "openapi-python-client.yaml", "--path", str(DOCUMENT))
    told = finish(
        folder, *PYTHON, "openapi_python_client", "generate", *config, "--output-path", "domino_client"
    ).stderr
    # It sends no text as a body, and says so of each operation: of records, which are texts.
    with_text = {
        f"{method.upper()} {path}"
        for path, method, operation in Contract(document).operations()
        for media_type in operation.get("requestBody", {}).get("content", {})
        if media_type.startswith("text/")
    }
    assert sorted(re.findall(r"^WARNING parsing (\S+ \S+) ", told, re.MULTILINE)) == sorted(with_text)
    functions = [file.stem for file in (folder / "domino_client" / "api").glob("*/*.py") if file.stem != "__init__"]
    # What takes nothing but text it leaves out: a program in Python posts a record by its HTTP library.
    assert sorted(functions) == sorted({*map(snake, OPERATIONS)} - {"replay_record", "verify_record"})
    return folder


@pytest.mark.gate
def test_a_client_of_openapi_python_client_plays(
    python_client: Path, application: Application, client_table: ClientTable
) -> None:
    """Of the dependency group ``dev``: it needs nothing that only the others are installed for."""
    client_table("openapi-python-client", "operations", COUNT)
    games = in_lane(list(variants()), quick=QUICK_VARIANTS)
    played = run(python_client, sys.executable, "play.py", application.url, application.key, *games)
    client_table("openapi-python-client", "played", check_matches(played, application, games))
    newer = run(python_client, sys.executable, "play.py", application.newer, application.key, VARIANT)
    check_match(json.loads(newer), application)


def test_the_client_of_openapi_python_client_compiles(python_client: Path, client_table: ClientTable) -> None:
    strictly = ("--strict", "--config-file=", f"--cache-dir={os.devnull}")
    run(python_client, *PYTHON, "mypy", *strictly, "play.py", "domino_client")
    client_table("openapi-python-client", "compiled", "mypy --strict")


@pytest.mark.gate
def test_the_guide_shows_how_these_programs_send_a_token() -> None:
    rows = re.findall(r"\(\.\./\.\./(tests/whole/clients/[^)]+)\)\) \| ``(.+?)``", GUIDE.read_text("utf-8"))
    programs = [*PROGRAMS.glob("*/play.*"), *PROGRAMS.glob("*/play/main.go")]
    assert sorted(ROOT / program for program, _ in rows) == sorted(programs)
    for program, code in rows:
        assert code in (ROOT / program).read_text("utf-8"), program
