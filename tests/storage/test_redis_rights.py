"""A user of Redis with the rights of the guide for operators can do all that the service does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.serving import ROOT, Service
from tests.support.waiting import until
from tests.whole.table import connect

GUIDE = ROOT / "docs" / "operations" / "redis.md"
SCRIPTS = ROOT / "service" / "redis" / "scripts"
OF_A_CLUSTER = {"cluster", "asking"}
OF_SENTINELS = {"sentinel"}
PASSWORD = "s3cret"


def documented() -> list[str]:
    """The words of the command in the guide."""
    block = GUIDE.read_text().partition("<!-- rights -->")[2].split("```")[1]
    return block.removeprefix("text").replace(">password", f">{PASSWORD}").split()


@pytest.mark.gate
def test_every_command_that_is_sent_is_a_right_of_the_guide() -> None:
    granted = {word[1:].partition("|")[0] for word in documented() if word.startswith("+")}
    scripts = "".join([path.read_text() for path in SCRIPTS.glob("*.lua")])
    sent = set(re.findall(r"redis\.p?call\('([A-Z]+)'", scripts))
    for path in (ROOT / "service").rglob("*.py"):
        sent |= set(re.findall(r'(?:(?<!after=)\(|command=)b"([A-Z]+)"', path.read_text()))  # after= has its options
    assert len(sent) > 40
    assert {each.lower() for each in sent} - granted - OF_A_CLUSTER - OF_SENTINELS == set()


@pytest.mark.nightly
def test_nothing_is_refused_to_a_user_with_the_rights_of_the_guide(tmp_path: Path) -> None:
    with RealServer(tmp_path / "server") as server:
        admin: Any = server.admin
        admin.execute_command(*documented())
        admin.execute_command("ACL", "LOG", "RESET")
        url = server.url.replace("unix://", f"unix://domino:{PASSWORD}@")
        play(url, tmp_path)
        assert admin.execute_command("ACL", "LOG") == []


def play(url: str, folder: Path) -> None:
    """Use what is stored: games with and without an application, clocks, lists, streams, limits, deletion."""
    shared: dict[str, Any] = {"SECRET_KEY": "s" * 40, "WEBHOOK_NETWORKS": "127.0.0.0/8"}
    commands = [Background(command, url, folder, **shared) for command in ("bots", "scheduler", "messenger")]
    try:
        with Service(folder / "d", REDIS_URL=url, CREATES_PER_MINUTE="100", **shared) as service:
            key = service.new_key()
            with connect(service.url) as http:
                until(lambda: http.get("/readyz").status_code == 200)
                own = {"Authorization": f"Bearer {key}"}
                body = {"variant": "domino", "options": {"limit": 50}, "pace": 0, "players": [{"bot": "greedy"}] * 2}
                games = [http.post("/v1/games", json=body, headers=who).json()["game"]["id"] for who in ({}, own)]
                opened = {"variant": "domino", "clock": {"turn": 5}, "players": [{"name": "A"}, {"open": True}]}
                waiting = http.post("/v1/games", json={**opened, "listed": True}, headers=own)
                hook = {"url": "http://127.0.0.1:1/", "events": ["game.finished"]}
                made = http.post("/v1/webhooks", json=hook, headers={**own, "Idempotency-Key": "a-key-of-an-endpoint"})
                assert made.status_code == 201, made.text
                for path in ("/v1/games", "/v1/events", "/v1/webhooks", "/v1/lobby"):
                    http.get(path, headers=own)
                until(lambda: all(http.get(f"/v1/games/{game}").json()["status"] == "finished" for game in games))
                assert http.get(f"/v1/games/{games[0]}/events?after=0").status_code == 200
                http.delete(f"/v1/games/{games[1]}", headers=own)
                assert waiting.status_code in (201, 422)
    finally:
        for each in commands:
            each.stop()
