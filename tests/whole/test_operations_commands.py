"""The commands of ``docs/operations`` do what the pages say: each block is run here or in the tests that name it.

``test_moderating.py``, ``test_restore.py`` and ``test_traces.py`` run those of their pages.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import pytest
import redis

from service.redis import keys
from tests.storage.servers import RealServer
from tests.support.processes import Process, free_ports
from tests.support.prometheus import program
from tests.support.waiting import PATIENCE, until
from tests.whole.operating import PAGES, Application, Operator, Site, script
from tests.whole.table import TLS, Table, connect
from tests.whole.test_readme import TESTS

pytestmark = pytest.mark.nightly

SHELLS: Final = ("", "bash", "console", "sh", "shell", "zsh")
"""What a block of commands may be called; those that are run are ``sh``."""
NO_SHELLS: Final = ("caddyfile", "json", "nginx", "text", "yaml")
PROGRAMS: Final = (
    "apt|certbot|curl|docker|domino-service|games|gunicorn|helm|kill|kubectl|make|nft|openssl|pip|podman|promtool|python3?"
    "|redis-cli|redis-server|ssh|sudo|systemctl"
)
COMMAND: Final = re.compile(rf"^\s*(?:\$ )?(?:[A-Z_]+=\S* )*(?:{PROGRAMS}) \S", re.MULTILINE)
SPAN: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)")
MARK: Final = re.compile(r"<!-- (session|not run): (\S.*) -->")
MENTIONED: Final = {
    "docker": "needs a daemon of Docker; tests/deployment reads its files",
    "domino-service --help": "tests/test_config.py",
    "games delete": "a word for the command, which moderate.md has",
    "games list": "a word for the command, which moderate.md has",
    "kubectl rollout": "needs a cluster of Kubernetes",
    "make -s apps": "the command of configure.md",
    "make bench": "needs an idle machine; tests/bench runs its parts",
    "make faults": "takes half an hour; tests/tools/test_faults.py runs its parts",
    "make run": "domino-service serve, which most tests of this folder run",
    "make wheel-compiled": "tests/whole/test_compiled_wheel.py runs its tool",
    "nft add element": "needs root",
    "redis-cli unlink": "tests/storage has the shares",
}
"""Commands in sentences that are in no block, by how they begin: what runs them, or why nothing does."""


class Block(NamedTuple):
    """A block of code of a page: its language, its lines, and the last line above it."""

    language: str
    text: str
    above: str


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of code of a page."""
    above = ""
    lines = iter(page.read_text("utf-8").splitlines())
    for line in lines:
        if line.lstrip().startswith("```"):
            text: list[str] = []
            for inner in lines:
                if inner.strip() == "```":
                    break
                text.append(inner)
            yield Block(line.strip().removeprefix("```").partition(" ")[0], "\n".join(text), above)
        above = line


def is_run(session: str) -> bool:
    """Whether a test of this folder runs this session."""
    return any([re.search(rf'\b(?:run|script|serve)\("{session}"', test) for test in TESTS])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_commands_is_run_or_says_above_it_why_not(page: Path) -> None:
    for block in blocks(page):
        assert block.language in SHELLS + NO_SHELLS, "neither commands nor known to be none"
        if block.language in SHELLS:
            mark = MARK.fullmatch(block.above)
            assert mark is not None, f"neither run nor marked:\n{block.text}"
            assert block.language == "sh", "only sh is run"
            assert mark[1] == "not run" or is_run(mark[2]), f"no test runs {mark[2]}"
        else:
            assert not COMMAND.search(block.text), f"commands in a block of {block.language}:\n{block.text}"


def test_every_command_in_a_sentence_is_in_a_block_or_has_a_reason() -> None:
    shown = "\n".join([block.text for page in PAGES for block in blocks(page) if block.language == "sh"])
    found: set[str] = set()
    for page in PAGES:
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        found.update(re.sub(r"\s+", " ", span) for span in SPAN.findall(text) if COMMAND.match(span))
    reasons = {command: [each for each in MENTIONED if command.startswith(each)] for command in found}
    assert [command for command, why in reasons.items() if not why and command not in shown] == []
    assert {each for why in reasons.values() for each in why} == set(MENTIONED)


# A service with a Redis of its own, as deploy.md starts it


def answers(url: str) -> bool:
    """Whether this is answered with 200."""
    try:
        return httpx.get(url, timeout=PATIENCE, verify=TLS).status_code == 200
    except httpx.TransportError:
        return False


class Deployment:
    """The commands of deploy.md on one Redis, each in a process of its own."""

    def __init__(self, folder: Path, server: RealServer) -> None:
        self._folder = folder
        self.operator = Operator(folder / "bin", REDIS_URL=server.url, SECRET_KEY="s" * 40, WORKERS="1")
        self.url = ""

    def start(self, command: str, path: str, **environ: str) -> Process:
        """Start a command, and wait until it answers at this URL."""
        log = self._folder / f"{command.rpartition(' ')[2]}.log"
        process = Process(["sh", "-euc", f"exec {command}"], log, **self.operator.environ, **environ)
        until(lambda: answers(path), log.read_text)
        return process

    def serve(self, session: str) -> Process:
        """Start the web server by this session."""
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        return self.start(script(session), f"{self.url}/readyz", PORT=str(port))

    def start_others(self) -> list[Process]:
        """Start the processes beside the web server."""
        commands = script("workers").splitlines()
        return [
            self.start(command, f"http://127.0.0.1:{port}/healthz", METRICS_PORT=str(port))
            for command, port in zip(commands, free_ports(len(commands)), strict=True)
        ]


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with RealServer(tmp_path / "redis") as server:
        yield Deployment(tmp_path, server)


def stop(processes: Sequence[Process]) -> list[int]:
    """The exit statuses of these processes after SIGTERM."""
    for each in processes:
        each.process.send_signal(signal.SIGTERM)
    return [each.process.wait(PATIENCE) for each in processes]


def test_all_processes_are_started_and_the_web_server_is_reloaded(deployment: Deployment) -> None:
    with ExitStack() as running:
        web = running.enter_context(deployment.serve("serve"))
        others = [running.enter_context(each) for each in deployment.start_others()]
        assert len(others) == 3
        started = web.log.read_text().count("Booting worker")
        deployment.operator.run("reload", SERVICE=str(web.process.pid))
        until(lambda: web.log.read_text().count("Booting worker") > started, web.log.read_text)
        with connect(deployment.url) as http:
            table = Table.create(http, "domino", [{"bot": "greedy"}, {"bot": "random"}], pace=0, options={"limit": 1})
            until(lambda: table.view()["status"] == "finished", table.view)
        assert stop([web, *others]) == [0, 0, 0, 0]


def test_gunicorn_is_started_directly(deployment: Deployment) -> None:
    with deployment.serve("gunicorn") as web:
        assert web.log.read_text().count("Booting worker") == 8
        assert stop([web]) == [0]


# A service that runs, and its operator beside it


def test_keys_of_applications_are_made_and_revoked(site: Site, application: Application) -> None:
    suffix = application.http.get("/v1/app").raise_for_status().json()["keys"][0]["suffix"]
    printed = site.operator.run("apps", ID=application.id, SUFFIX=suffix)
    (row,) = [line for line in printed.splitlines() if line.startswith(f"{application.id}  ")]
    assert row.split("  ")[2:] == [suffix, "Club"]
    assert re.search(f"^app_{application.id}_", printed, re.MULTILINE), "the new key"
    for told in ("Checkers Club", "revoked; valid keys of Club", "Club is suspended", "deleted with its endpoints"):
        assert told in printed
    assert application.http.get("/v1/app").status_code == 401


def test_health_metrics_and_versions_are_asked_for(site: Site) -> None:
    assert site.operator.run("health").count('"ok"') == 2
    metrics = site.operator.run("metrics")
    for line in (
        "domino_ready 1.0",
        r'domino_backlog_age_seconds\{kind="bots"\} \S+',
        r"domino_store_memory_bytes \S+",
    ):
        assert re.search(f"^{line}$", metrics, re.MULTILINE)
    found = re.fullmatch(
        r'\{.*"version":"(.+?)".*\}\s*domino_build_info\{version="(.+?)"\} 1.0\s', site.operator.run("versions")
    )
    assert found is not None
    assert found[1] == found[2]


def test_the_alerts_are_tested(site: Site) -> None:
    site.operator.add_program(program("promtool"))
    assert re.search(r"rules_test\.yml\s+SUCCESS", site.operator.run("rules"))


def test_the_settings_of_redis_are_those_that_are_wanted(site: Site) -> None:
    assert site.operator.run("redis").splitlines() == ["maxmemory-policy", "noeviction", "appendonly", "yes"]


def test_what_is_in_use_is_shown(site: Site) -> None:
    site.create("203.0.113.7")
    printed = site.operator.run("in-use")
    assert 1 <= len(re.findall(r"^[\w-]{24}  +\d+  .* domino$", printed, re.MULTILINE)) <= 3
    for line in (r"domino-service: [1-3] games, \d+ bytes", r"used_memory:\d+\r?", r"maxmemory:\d+\r?", r"\d+"):
        assert re.search(f"^{line}$", printed, re.MULTILINE), line


def test_lists_are_rebuilt(site: Site, application: Application) -> None:
    game = application.create([{"name": "Ada"}, {"name": "Bo"}])

    def listed() -> list[str]:
        return [each["id"] for each in application.http.get("/v1/games").raise_for_status().json()["games"]]

    until(listed)
    with redis.Redis.from_url(site.operator.environ["REDIS_URL"], protocol=2) as client:
        assert client.delete(keys.part(b"index", application.id), *keys.totals(application.id)) == 3
    assert listed() == []
    printed = site.operator.run("reindex", ID=application.id)
    assert len(re.findall("^domino-service: done: ", printed, re.MULTILINE)) == 2
    assert listed() == [game.id]


def test_files_of_redis_have_no_deleted_game(site: Site, application: Application) -> None:
    name = "Ada of whom nothing is to stay"
    game = application.create([{"name": name}, {"name": "Bo"}])
    files = site.service.folder / "appendonlydir"
    until(lambda: is_in(files, name))
    assert application.http.delete(game.path).status_code == 204
    assert is_in(files, name)
    site.operator.run("forget")
    until(lambda: not is_in(files, name))


def is_in(folder: Path, name: str) -> bool:
    """Whether a file of this folder has the name in it."""
    return any([name.encode() in file.read_bytes() for file in folder.iterdir()])
