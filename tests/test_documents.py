"""Documents name what exists: every path, link, module, command, setting, operation and test that a page mentions.

All Markdown pages at the root, in ``clients``, ``docs``, ``examples`` and ``reports`` are read. What stands in
backticks, and the commands in blocks of code, are looked up in the tree, the settings, the Makefile, the command line
and ``openapi.yaml``. There is one function for each kind of name; it returns the names that lead nowhere.
``EXCEPTIONS`` has those that are not names of this project.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from http import HTTPMethod
from importlib.util import find_spec
from pathlib import Path
from posixpath import join, normpath
from typing import Final

import pytest

from service import cli
from service.config import SETTINGS
from tests.support.contract import committed

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("clients", "docs", "examples", "reports")
PAGES: Final = sorted([*ROOT.glob("*.md"), *[page for name in FOLDERS for page in (ROOT / name).rglob("*.md")]])
RECORDS: Final = sorted((ROOT / "docs" / "adr").glob("0*.md"))
SMALL_RECORDS: Final = ROOT / "docs" / "adr" / "smaller-decisions.md"
SMALL_RECORD: Final = re.compile(r'^<a id="adr-(\d+)"></a>\n## \1\. (.+)\n\n((?:.+\n)+)', re.MULTILINE)

NOT_CLONED: Final = frozenset(
    {".cache", ".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv"}
    | {".venv-bench", ".venv-bench-system"}
    | {"__pycache__", "build", "data", "dist", "node_modules"}
)
"""Folders that are made by ``make``, by tests and by the service."""

BASES: Final = {
    ROOT / "docs" / "add-a-game.md": "service/engine",
    ROOT / "docs" / "architecture.md": "service/engine",
    ROOT / "docs" / "page.md": "service/client",
}
"""The folder that a page is about: it may name paths from there."""

EXCEPTIONS: Final[dict[str, dict[str, str]]] = {
    "paths": {
        "./secrets": "made by who runs the service",
        ".cache/strength": "made by make strength",
        ".venv/bin/python": "made by make install",
        "domino-session.json": "made by examples/text_player",
        "league.json": "made by examples/league",
        "DATA_DIR/secret": "made by the service",
        "data/": "made by the service",
        "dist/": "made by make clients, make wheel-compiled and make release",
        "domino-client/events.js": "a module of the package in clients/typescript",
        "dump.rdb": "made by Redis",
        "host[:port][/db]": "a part of a URL",
    },
    "operations": {
        "//metrics": "another spelling of /metrics",
        "/%6detrics": "another spelling of /metrics",
        "/data": "a folder of the image",
        "/docs": "a page for people, which the document leaves out",
        "/metrics": "on a port of its own, which the document leaves out",
        "/opt/domino": "a folder of the image",
        "/tmp": "a folder of the image",
        "/v1": "the beginning of the paths",
        "/v2": "what there might be one day",
        "GET /metrics": "on a port of its own, which the document leaves out",
    },
    "settings": {
        "BGREWRITEAOF": "a command of Redis",
        "BGSAVE": "a command of Redis",
        "SUFFIX": "stands for a value in commands",
        "HTTPS_PROXY": "read by other programs",
        "ID": "stands for a value in commands",
        "METRICS": "stands for a value in commands",
        "MISCONF": "an error of Redis",
        "NOREPLICAS": "an error of Redis",
        "OOM": "an error of Redis",
        "READONLY": "an error of Redis",
        "REF": "stands for a value in commands",
        "SSL_CERT_FILE": "read by OpenSSL",
        "WAIT": "a command of Redis",
        "ZRANGE": "a command of Redis",
        "ZREM": "a command of Redis",
    },
}
"""By kind: names that are not of this project, or not in a clone of it, each with the reason."""

FENCE: Final = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)")
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
FILE: Final = re.compile(
    r"[^\s`]*\w\.(?:css|html|js|json|lark|lua|md|mjs|png|py|rdb|svg|toml|ts|txt|webmanifest|yaml|yml)(?:#[\w-]+)?"
)
MEDIA_TYPE: Final = re.compile(r"(?:application|image|text|\*)/[\w.+*-]*")
PLACEHOLDER: Final = re.compile(r"<[^>]*>|\{[^}]*\}|…|\*+")
OPERATION: Final = re.compile(rf"(?:({'|'.join(HTTPMethod)}) )?(…?/[^\s?]*)(?:\?\S*)?")
NAME: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
"""A name in capitals with an underscore, which is a name of a variable wherever it stands."""
LONE_NAME: Final = re.compile(r"([A-Z][A-Z0-9_]+)(?:=\S*)?")
READ: Final = re.compile(r"""environ(?:\.\w+)?[\[(]["']([A-Z_]+)["']|process\.env\.([A-Z_]+)""")
"""Where a program reads a variable of the environment."""

Kind = Callable[[Path], Iterator[str]]


# What a page says


@cache
def text_of(page: Path) -> str:
    return page.read_text("utf-8")


@cache
def spans(page: Path) -> list[str]:
    """What stands in backticks, without line breaks."""
    return [re.sub(r"\s+", " ", each) for each in SPAN.findall(FENCE.sub("", text_of(page)))]


def blocks(page: Path, *languages: str) -> list[str]:
    """The blocks of code in these languages."""
    return [block for _, language, block in FENCE.findall(text_of(page)) if language in languages]


@cache
def commands(page: Path) -> list[str]:
    """What stands in backticks, and the lines that a shell reads."""
    return [*spans(page), *"\n".join(blocks(page, "console", "sh")).splitlines()]


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them, and those that are written."""
    text = FENCE.sub("", text_of(page))
    found = set(re.findall(r'<a id="([\w-]+)">', text))
    for heading in re.findall(r"^#{1,6} (.+?) *$", text, re.MULTILINE):
        base = anchor_of(heading)
        number = 0
        while (anchor := f"{base}-{number}" if number else base) in found:
            number += 1
        found.add(anchor)
    return found


def anchor_of(heading: str) -> str:
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def title_of(page: Path) -> str:
    return text_of(page).partition("\n")[0].removeprefix("# ")


def links(page: Path) -> list[str]:
    return LINK.findall(FENCE.sub("", text_of(page)))


# What there is


@cache
def tree() -> frozenset[str]:
    """The paths of the files and folders of a clone, from its root."""
    found = {"."}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_CLONED and not name.endswith(".egg-info")]
        here = Path(folder).relative_to(ROOT)
        found.update((here / name).as_posix() for name in (*folders, *files))
    return frozenset(found)


def read(pattern: str) -> str:
    """The text of all files of the tree whose path has this pattern, where ``*`` stands for any characters."""
    return "\n".join([text_of(ROOT / path) for path in sorted(tree()) if fnmatchcase(path, pattern)])


@cache
def node_packages() -> frozenset[str]:
    found: set[str] = set()
    for path in tree():
        if path.endswith("package.json"):
            wanted = json.loads(text_of(ROOT / path))
            found.update(wanted.get("dependencies", ()), wanted.get("devDependencies", ()))
    return frozenset(found)


@cache
def operations() -> frozenset[tuple[str, str]]:
    """The methods and paths of ``openapi.yaml``, beside it, and of the program in ``examples``, parameters as ``*``."""
    paths = committed().document["paths"]
    found = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    code = read("service/web/meta/routes.py") + read("examples/*.py")
    routes = re.findall(r'^@(?:app|blueprint)\.([a-z]+)\("(/[^"]*)"', code, re.MULTILINE)
    found |= {(method.upper(), path) for method, path in routes}
    return frozenset((method, PLACEHOLDER.sub("*", path)) for method, path in found)


@cache
def targets() -> frozenset[str]:
    """The targets of the Makefile."""
    return frozenset(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))


@cache
def variables() -> frozenset[str]:
    """The settings, and whatever else in capitals the files here read or define, and signals."""
    found = (
        {each.name for each in SETTINGS}
        | {f"{each.name}_FILE" for each in SETTINGS if each.kind.secret}
        | {each.name for each in signal.Signals}
        | {*HTTPMethod}
    )
    for pattern, places in {
        r"^([A-Z_]+) [?:]?=": "Makefile",
        r"\b([A-Z_]+)=": ".ci/*",
        r"\$\{([A-Z_]+)": "*compose*.yaml",
        r"\{\$([A-Z_]+)": "*/Caddyfile",
        r"^ARG ([A-Z_]+)": "Dockerfile",
        r"^([A-Z][A-Z_]+)(?:: [^=]+)? = ": "service/*.py",
    }.items():
        found.update(re.findall(pattern, read(places), re.MULTILINE))
    return frozenset(found | variables_read(read("*.py")))


def variables_read(text: str) -> set[str]:
    """The variables of the environment that the programs in this text read."""
    return {one or other for one, other in READ.findall(text)}


@cache
def command_line() -> argparse.ArgumentParser:
    return cli._parser()


@cache
def known_tests() -> frozenset[str]:
    return frozenset(re.findall(r"^def (test_\w+)", read("tests/*.py"), re.MULTILINE))


# Names that lead nowhere, by their kind


def wrong_paths(page: Path) -> Iterator[str]:
    """Paths and names of files, also with placeholders; packages of Node by their names."""
    for span in spans(page):
        if " " not in span and ("/" in span or FILE.fullmatch(span)) and not is_no_path(span):
            if span.startswith("@") and span in node_packages():
                continue
            if not is_path(page, span):
                yield span
    folders = "|".join({path.partition("/")[0] for path in tree() if "/" in path})
    for command in [each for each in commands(page) if " " in each]:
        for path in re.findall(rf"(?<![\w./$-])(?:{folders})/[\w./*-]*\w", command):
            if not is_path(page, path) and not is_path(page, f"{path}.py"):  # flask --app folder/module
                yield path


def is_no_path(span: str) -> bool:
    """Whether this is a URL, a part of an address, a type of media, a network or the value of a variable."""
    if "://" in span or span.startswith(("/", "…")) or re.match("[A-Z_]+=", span) or MEDIA_TYPE.fullmatch(span):
        return True
    try:
        ipaddress.ip_network(span)
    except ValueError:
        return False
    return True


def is_path(page: Path, name: str) -> bool:
    """Whether a path exists from the root, the folder of the page, or that which the page is about.

    Without a folder, it may be any file of that name, a program of the page itself, or the end of an operation.
    """
    path, _, anchor = name.rstrip("/").partition("#")
    pattern = PLACEHOLDER.sub("*", path)
    folders = ["", Path(os.path.relpath(page.parent, ROOT)).as_posix(), BASES.get(page, "")]
    if not re.search(r"\w", pattern):
        return False
    found = [each for folder in folders for each in matches(normpath(join(folder, pattern)))]
    if not found and "/" not in path:
        found = [each for each in tree() if fnmatchcase(each.rpartition("/")[2], pattern)]
        programs = re.findall(r"^<!-- script: (\S+) -->$", text_of(page), re.MULTILINE)
        if path in programs or any([known.endswith(f"/{path}") for _, known in operations()]):
            return True
    return bool(found) and (not anchor or any([anchor in anchors(ROOT / each) for each in found]))


@cache
def matches(pattern: str) -> list[str]:
    """The paths of the tree that have this pattern, in which ``*`` stands for characters of one name."""
    if not re.search(r"[*?[]", pattern):
        return [pattern] if pattern in tree() else []
    parts = pattern.split("/")
    return [
        each for each in tree() if each.count("/") == len(parts) - 1 and all(map(fnmatchcase, each.split("/"), parts))
    ]


def wrong_links(page: Path) -> Iterator[str]:
    """Links to files of the project, and to places in them."""
    for link in links(page):
        if re.match("https?:|mailto:", link):
            continue
        name, _, anchor = link.partition("#")
        target = normpath(join(Path(os.path.relpath(page.parent, ROOT)).as_posix(), name)) if name else ""
        if (name and target not in tree()) or (anchor and anchor not in anchors(ROOT / target if name else page)):
            yield link


def wrong_modules(page: Path) -> Iterator[str]:
    """Modules of the service and what is in them, also without ``service``; modules that are run by ``python -m``."""
    for span in spans(page):
        first, *rest = span.split(".")
        if rest and re.fullmatch(r"[a-z_]+(?:\.[A-Za-z_]\w*)+", span) and not FILE.fullmatch(span):
            if first == "service":
                first, *rest = rest
            elif not {f"service/{first}", f"service/{first}.py"} & tree():
                continue
            if not is_module(f"service/{first}", rest):
                yield span
    for command in commands(page):
        for module in re.findall(r"python3? -m ([\w.]+)", command):
            try:
                found = find_spec(module)
            except ModuleNotFoundError:
                found = None
            if found is None:
                yield f"python -m {module}"


def is_module(path: str, names: list[str]) -> bool:
    """Whether this is a module or a package that has, one in the other, these modules, classes and functions."""
    if f"{path}.py" in tree():
        text = text_of(ROOT / f"{path}.py")
        return all(
            [re.search(rf"^ *(?:(?:def|class) {name}\b|{name}\b[^=\n]*=)", text, re.MULTILINE) for name in names]
        )
    return path in tree() and (not names or is_module(f"{path}/{names[0]}", names[1:]))


def wrong_targets(page: Path) -> Iterator[str]:
    """Targets of the Makefile."""
    for command in commands(page):
        for words in re.findall(r"(?:^|[\s;&(])make(?: -\w+)*((?: [a-z][a-z-]*)+)", command):
            yield from [f"make {target}" for target in words.split() if target not in targets()]


def wrong_commands(page: Path) -> Iterator[str]:
    """Commands of ``domino-service``, and their options."""
    for command in commands(page):
        for words in re.findall(r"(?:domino-service|python3? -m service)((?: [^\s>|&;#)]+)*)", command):
            parser = command_line()
            for word in words.split():
                choices = [each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
                if choices and word in choices[0]:
                    parser = choices[0][word]
                elif (choices and re.fullmatch("[a-z]+", word)) or (
                    word.startswith("--") and word not in parser._option_string_actions
                ):
                    yield f"domino-service{words}"


def wrong_settings(page: Path) -> Iterator[str]:
    """Settings and other variables of the environment, also before a command; not those that the page's code has."""
    shown = blocks(page, "sh", "console", "text", "")
    shell = "\n".join(shown)
    known = variables() | variables_read(text_of(page))
    known |= set(re.findall(r"^\s*(?:\$ )?(?:export )?([A-Z_]+)=(?:\$\(.*|\S*)$", shell, re.MULTILINE))
    known |= set(re.findall(r"\$\{?([A-Z_]+)", shell))
    for span in spans(page):
        lone = LONE_NAME.fullmatch(span)
        yield from [name for name in ([lone[1]] if lone else NAME.findall(span)) if name not in known]
    for block in shown:
        before_commands = " ".join(re.findall(r"^\s*(?:\$ )?((?:[A-Z_]+=\S* )+)\S", block, re.MULTILINE))
        for name in (*NAME.findall(block), *re.findall(r"(?:^| )([A-Z_]+)=", before_commands)):
            if name not in known:
                yield name


def wrong_operations(page: Path) -> Iterator[str]:
    """Operations and paths of the API, of the page and of the program in ``examples``; ``…`` may be the beginning."""
    views = set(re.findall(r"^ \* +(?:#/\S* +)?#/([a-z]+)", read("service/client/shell/routes.js"), re.MULTILINE))
    for span in spans(page):
        asked = OPERATION.fullmatch(span)
        if asked is None:
            continue
        method, path = asked[1], asked[2]
        if path.startswith("/client/") and f"service{path}" in tree():
            continue
        if path.startswith("/#/") and path.split("/")[2] in views:
            continue
        found = [each for each, known in operations() if is_same_path(known, path)]
        if not found or (method and method not in found):
            yield span


def is_same_path(known: str, path: str) -> bool:
    """Whether a path with ``*`` for its parameters is meant by one that names them, or gives them values.

    ``…`` may stand for its beginning.
    """
    parts, meant = known.split("/"), PLACEHOLDER.sub("*", path).split("/")
    if path.startswith("…"):
        parts, meant = parts[1 - len(meant) :], meant[1:]
    return len(parts) == len(meant) and all(
        [one in (other, "*") or other == "*" for one, other in zip(parts, meant, strict=True)]
    )


def wrong_tests(page: Path) -> Iterator[str]:
    """Names of tests."""
    yield from [span for span in spans(page) if re.fullmatch(r"test_\w+", span) and span not in known_tests()]


KINDS: Final[dict[str, Kind]] = {
    "paths": wrong_paths,
    "links": wrong_links,
    "modules": wrong_modules,
    "targets": wrong_targets,
    "commands": wrong_commands,
    "settings": wrong_settings,
    "operations": wrong_operations,
    "tests": wrong_tests,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_of_a_kind_leads_somewhere(kind: str) -> None:
    """Name all others with their pages. No exception stays that no page needs."""
    exceptions = EXCEPTIONS.get(kind, {}).keys()
    found = [(page.relative_to(ROOT).as_posix(), name) for page in PAGES for name in KINDS[kind](page)]
    wrong = [f"{page}: {name}" for page, name in found if name not in exceptions]
    assert not wrong, "\n".join(wrong)
    assert exceptions <= {name for _, name in found}


def test_every_program_for_authors_of_clients_is_in_a_test() -> None:
    """Where a test does not run or compile it, nobody sees that it is wrong."""
    pages = [text_of(page) for name in ("backends", "guide") for page in sorted((ROOT / "docs" / name).glob("*.md"))]
    found = re.findall(
        r"(?:^<!-- script: (\S+) -->\n)?^```(?!console|html|json|sh|text)\w+$", "\n".join(pages), re.MULTILINE
    )
    tests = [
        file.read_text("utf-8") for folder in ("support", "whole") for file in (ROOT / "tests" / folder).glob("*.py")
    ]
    assert found
    assert "" not in found, "a program without a name"
    assert [program for program in found if not any([f'"{program}"' in test for test in tests])] == []


def test_a_name_of_each_kind_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    """And those beside it that do lead somewhere are not."""
    page = tmp_path / "page.md"
    page.write_text(
        """# A page

        `service/web/app.py`, `service/web/limiting.py`, `keys.py`, `no_keys.py`, `service/engine/variants/<name>.py`,
        `service/engine/games/<name>.py`, `docs/rules.md#rule-3-5`, `docs/rules.md#chapter-99`, `tests/laws`,
        `tests/lawz`, `application/json`, `10.0.0.0/8`, `@redocly/cli`, `@nobody/nothing`, `board.json`, `chess.json`.
        `service.web.app`, `web.limiting`, `games.store.repository.GameRepository`, `games.store.repository.Nothing`,
        `python -m bench.nothing`, `make check
        test`, `make tset`, `domino-service apps list`, `domino-service demo`, `domino-service replay FILE --painting`,
        `MAX_STREAMS`, `STREAMS`, `MAX_STREAM=5`, `SIGHUP`, `GET /v1/games/{id}`, `PUT /v1/games/{id}`,
        `GET …/board.svg`, `PUT …/moves/token`, `/v1/lobbies`, `GET /v1/games?limit=5`, `/#/rules/block`,
        `/#/rulez/block`, `/client/game/match.js`, `/client/chess.js`, `test_every_page_is_in_an_index`,
        `test_every_page_is_in_no_index`.
        [here](#a-page), [nowhere](#another-page).

        ```console
        $ STREAMS=5 HOST=0.0.0.0 make run test-none
        $ python -m service serv
        $ pytest tests/laws/test_nothing.py tests/laws/test_tiles.py
        ```
        """.replace("        ", ""),
        "utf-8",
    )
    assert {kind: list(names(page)) for kind, names in KINDS.items()} == {
        "paths": [
            "service/web/limiting.py",
            "no_keys.py",
            "service/engine/games/<name>.py",
            "docs/rules.md#chapter-99",
            "tests/lawz",
            "@nobody/nothing",
            "chess.json",
            "tests/laws/test_nothing.py",
        ],
        "links": ["#another-page"],
        "modules": ["web.limiting", "games.store.repository.Nothing", "python -m bench.nothing"],
        "targets": ["make tset", "make test-none"],
        "commands": ["domino-service demo", "domino-service replay FILE --painting", "domino-service serv"],
        "settings": ["STREAMS", "MAX_STREAM", "STREAMS"],
        "operations": ["PUT /v1/games/{id}", "PUT …/moves/token", "/v1/lobbies", "/#/rulez/block", "/client/chess.js"],
        "tests": ["test_every_page_is_in_no_index"],
    }


# What has one form, or a row for each


def test_decision_records_have_one_form_and_a_row_in_their_list() -> None:
    rows = []
    for record in RECORDS:
        number, (title, *lines) = int(record.name[:4]), text_of(record).splitlines()
        assert title.startswith(f"# {number}. "), record
        assert lines[:2] == ["", "* Status: accepted"] or re.match(r"\* Status: replaced by \[\d+\]", lines[1]), record
        assert lines[2].startswith("* Date: "), record
        date.fromisoformat(lines[2].removeprefix("* Date: "))
        sections = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
        assert sections == ["Context", "Options", "Decision", "Consequences", "When to decide again"], record
        rows.append((number, record.name, title.partition(". ")[2]))
    for number, title, text in SMALL_RECORD.findall(text_of(SMALL_RECORDS)):
        date.fromisoformat(text[:10])
        assert "*Decide again* when" in text.replace("\n", " "), title
        rows.append((int(number), f"{SMALL_RECORDS.name}#adr-{number}", title))
    index = text_of(SMALL_RECORDS.with_name("README.md"))
    listed = [
        (int(number), *row) for number, *row in re.findall(r"^\| \[(\d+)\]\((.*?)\) \| (.*) \|$", index, re.MULTILINE)
    ]
    assert listed == sorted(rows)
    assert [number for number, _, _ in listed] == list(range(1, len(rows) + 1))


def test_every_folder_with_tests_has_a_row() -> None:
    table = text_of(ROOT / "docs" / "testing.md").partition("\n## Folders\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    folders = {path.rpartition("/")[0] for path in tree() if fnmatchcase(path, "tests/*/test_*.py")}
    assert folders <= set(re.findall("`(.*?)`", " ".join(rows)))


def test_every_page_is_in_an_index() -> None:
    """In the README, in ``docs/architecture.md``, or in the index of its folder."""
    indices = [ROOT / "README.md", ROOT / "docs" / "architecture.md", ROOT / "reports" / "README.md"]
    indices += sorted((ROOT / "docs").glob("*/README.md"))
    linked = {(index.parent / link.partition("#")[0]).resolve() for index in indices for link in links(index)}
    pages = [page for name in ("docs", "reports") for page in sorted((ROOT / name).rglob("*.md"))]
    assert [page for page in pages if page not in linked] == []


def test_a_question_is_answered_in_three_files_at_most() -> None:
    table = text_of(ROOT / "docs" / "architecture.md").partition("\n## Where to look\n")[2]
    rows = re.findall(r"^\| ([^|]+\?) \| (.+) \|$", table, re.MULTILINE)
    assert len(rows) > 20
    files = {question: re.findall(r"`[^`]*/[^`]*`|\]\(", answer) for question, answer in rows}
    assert [question for question, found in files.items() if not 1 <= len(found) <= 3] == []


def test_no_word_of_the_glossary_is_defined_twice() -> None:
    words = re.findall(r"^\| ([^|]+?) \| (?!meaning)", text_of(ROOT / "docs" / "glossary.md"), re.MULTILINE)
    assert len(words) > 40
    assert sorted(words) == sorted(set(words))
