"""A person plays with computer players over HTTP, in a run with all its processes."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

from tests.support.processes import free_ports
from tests.support.serving import Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import connect, variants
from tests.whole.test_metrics import samples

pytestmark = pytest.mark.gate


def play_as_a_phone_does(http: httpx.Client, created: Json) -> Json:
    """Wait for the turn, make the first move that is listed, until the match is finished; returns the last view."""
    (seat,) = created["seats"]
    headers = {"Authorization": f"Bearer {seat['token']}"}
    path = f"/v1/games/{created['game']['id']}"
    view: Json = http.get(path, headers=headers).raise_for_status().json()
    while view["status"] != "finished":
        if seat["seat"] in view["to_act"]:
            body = {**view["legal_moves"][0], "version": view["version"]}
            view = http.post(f"{path}/moves", json=body, headers=headers).raise_for_status().json()
        else:
            query = {"after": view["version"], "wait": 20}
            view = http.get(path, params=query, headers=headers).raise_for_status().json()
    return view


@pytest.mark.parametrize("variant", ["homo-homini-lupus", "fido", "domino"])
def test_a_person_plays_a_match_with_bots(variant: str, http: httpx.Client) -> None:
    bounds = next(each["players"] for each in variants(http) if each["id"] == variant)
    levels = ["greedy", "random", "greedy"][: max(bounds["min"], min(4, bounds["max"])) - 1]
    players = [{"name": "Ada"}, *[{"bot": level} for level in levels]]
    body = {"variant": variant, "players": players, "pace": 0}
    created = http.post("/v1/games", json=body).raise_for_status().json()
    assert play_as_a_phone_does(http, created)["winners"]


def test_the_metrics_of_the_web_show_what_the_other_processes_do(tmp_path: Path) -> None:
    with Service(tmp_path, WORKERS="1", METRICS_PORT=str(free_ports(1)[0])) as service, connect(service.url) as http:
        players = [{"bot": "greedy"}, {"bot": "random"}]
        created = http.post("/v1/games", json={"variant": "domino", "players": players}).raise_for_status().json()
        deadline = time.monotonic() + PATIENCE
        while http.get(f"/v1/games/{created['game']['id']}").json()["status"] != "finished":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        while True:  # a move is counted as one of the game's first, and then as one of the bot
            shown = samples(service.metrics_url)
            moves = shown["domino_bot_moves_total", "greedy"] + shown["domino_bot_moves_total", "random"]
            if moves == shown["domino_moves_total", "domino"]:
                break
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert shown["domino_bot_decision_seconds_count", "random"] > 5
        assert shown["domino_reminder_lag_seconds_count", "bots_alone"] > 10
        assert abs(shown["domino_clock_offset_seconds",]) < 5
