"""The pages for backends are true: their sessions and programs are run, one after the other, as a reader would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Figures
from tests.support.processes import await_port, free_ports
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE, until
from tests.whole.table import connect
from tests.whole.test_readme import SCRIPT, lines_printed_by, sessions

pytestmark = pytest.mark.nightly

PAGES = [ROOT / "docs" / "backends" / f"{name}.md" for name in ("first-match", "messages", "players")]
"""Those with sessions or programs, in the order in which they are read."""
SESSIONS = ("service", "endpoint", "game", "links", "list", "match", "rematch", "open", "help", "delete")
TEXT = "\n".join([page.read_text("utf-8") for page in PAGES])
PROGRAMS: dict[str, str] = dict(SCRIPT.findall(TEXT))


@contextmanager
def program(name: str, command: Sequence[str], folder: Path, **environ: str) -> Iterator[Callable[[], str]]:
    """A program of the page that runs in a folder; called, it returns what it has printed."""
    (folder / name).write_text(PROGRAMS[name])
    log = folder / "printed.txt"
    with log.open("wb") as output:
        run = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environ}, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            yield log.read_text
        finally:
            run.kill()
            run.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("page")
    with Service(folder / "data", WEBHOOK_NETWORKS="127.0.0.0/8") as service:
        yield service


@pytest.fixture
def application(running: Service) -> Iterator[httpx.Client]:
    with connect(running.url) as client:
        client.headers["Authorization"] = f"Bearer {running.new_key()}"
        yield client


def test_the_sessions_lead_from_a_key_to_a_finished_match_and_to_nothing(running: Service, figures: Figures) -> None:
    folder = running.folder.parent
    for name in (".venv", "club"):
        (folder / name).symlink_to(sys.prefix)
    (folder / "hooks.py").write_text(PROGRAMS["hooks.py"])
    page = sessions(*PAGES)
    assert tuple(page) == SESSIONS
    steps = [f'{page[name]}\necho "# {name}" $(date +%s)\n' for name in SESSIONS]
    script = "HOOKS=\ntrap 'kill $HOOKS' EXIT\n" + "".join(steps)
    began = time.time()
    lines = lines_printed_by(script, folder, running.url, PORT=str(free_ports(1)[0]))
    printed: dict[str, list[str]] = {}
    minutes: dict[str, float] = {}
    for name in SESSIONS:
        end = next(place for place, line in enumerate(lines) if line.startswith(f"# {name} "))
        minutes[name] = (int(lines[end].split()[2]) - began) / 60
        printed[name], lines = lines[:end], lines[end + 1 :]
    told = {"game": "to the first push", "match": "to the finished match", "delete": "to the end"}
    figures("minutes that the commands of docs/backends took", {told[name]: minutes[name] for name in told})
    assert printed["service"] == ["Checkers Club"]
    assert printed["endpoint"] == ["webhook.ping"]
    (pushed,) = printed["game"]
    assert re.fullmatch(r"push to user-[12]: it is your turn", pushed)
    ada, bo = printed["links"]
    assert ada.startswith(f"{running.url}/#/seat/")
    assert ada != bo
    friend, *waiting = printed["list"]
    assert friend == "Bo"
    assert pushed.split()[2] not in "".join(waiting)
    assert sum([each == '"ref":"match-17"' for each in waiting]) == 1
    assert sum([each.startswith("nothing waits for user-") for each in waiting]) == 1
    finished, winners = printed["match"]
    assert finished == "game.finished"
    assert json.loads(winners)
    announced, players = printed["rematch"]
    assert announced == "game.created"
    assert [each["ref"] for each in json.loads(players)] == ["user-2", "user-1"]
    game, taken_for = printed["open"]
    assert len(game) == 24
    assert taken_for == "user-2"
    assert printed["help"] == ["0", "Boris", "true"]
    assert printed["delete"] == ["Player 1", "410"]


def test_every_program_of_the_page_is_run() -> None:
    shown = re.findall(r"^```(?:js|python)$", TEXT, re.MULTILINE)
    assert len(PROGRAMS) == len(shown) == 2


def test_the_endpoint_takes_what_is_signed_and_nothing_else(application: httpx.Client, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/hooks"
    made = application.post("/v1/webhooks", json={"url": url, "events": ["game.turn"]}).raise_for_status().json()
    command = [sys.executable, "-m", "flask", "--app", "hooks", "run", "--port", str(port)]
    with program("hooks.py", command, tmp_path, HOOK_SECRET=made["secret"]) as printed:
        await_port(port)
        path = f"/v1/webhooks/{made['id']}"
        application.patch(path, json={"status": "active"}).raise_for_status()
        until(lambda: application.get(path).json()["status"] == "active", printed)
        players: list[dict[str, Any]] = [{"name": "Ada", "ref": "ada"}, {"name": "Bo", "ref": "bo"}]
        created = application.post("/v1/games", json={"variant": "domino", "players": players}).raise_for_status()
        ref = players[created.json()["game"]["turn"]["seat"]]["ref"]
        until(lambda: f"push to {ref}: it is your turn" in printed(), printed)
        signed = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
        for headers in (signed, {}):
            answer = httpx.post(url, json={"type": "game.finished", "data": {}}, headers=headers, timeout=PATIENCE)
            assert answer.status_code == 401


def test_the_reader_of_the_feed_goes_on_where_it_was(
    application: httpx.Client, running: Service, tmp_path: Path
) -> None:
    key = application.headers["Authorization"].removeprefix("Bearer ")
    players = [{"name": "Ada", "ref": "ada"}, {"bot": "greedy"}]
    body = {"variant": "domino", "options": {"limit": 1}, "pace": 0, "players": players}

    def play(printed: Callable[[], str]) -> str:
        """A match; Ada begins to move when she was told."""
        created = application.post("/v1/games", json=body).raise_for_status().json()
        game: str = created["game"]["id"]
        headers = {"Authorization": f"Bearer {created['seats'][0]['token']}"}
        while (view := application.get(f"/v1/games/{game}", headers=headers).json())["status"] != "finished":
            if view["legal_moves"]:
                until(lambda: "push to ada" in printed(), printed)
                application.post(f"/v1/games/{game}/moves", json=view["legal_moves"][0], headers=headers)
        return game

    cursor = tmp_path / "cursor.txt"
    for _ in range(2):
        with program("feed.py", [sys.executable, "feed.py"], tmp_path, DOMINO=running.url, KEY=key) as printed:
            game = play(printed)
            until(lambda game=game: f"finished {game}\n" in printed(), printed)  # type: ignore[misc]
            assert set(printed().splitlines()) <= {"push to ada", "push to None", f"finished {game}"}
            newest = application.get("/v1/feed?after=latest").raise_for_status().json()["cursor"]
            until(lambda newest=newest: cursor.read_text() == newest, printed)  # type: ignore[misc]
