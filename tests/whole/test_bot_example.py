"""The bot of ``examples/bot``, as it stands, plays matches on a whole service."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.support.processes import Process, await_port, free_ports
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE, until
from tests.whole.table import connect

pytestmark = pytest.mark.nightly

ENGINE = {"name": "Deep Six", "ref": "engine"}


class Club(NamedTuple):
    """An application whose bot runs: a client with its key, one of a player, its endpoint, and where the bot is."""

    owner: httpx.Client
    player: httpx.Client
    webhook: str
    bot: str

    def create(self, variant: str, players: list[Json], **more: Any) -> Json:
        body = {"variant": variant, "players": players, "pace": 0, "seed": "a bot", **more}
        created: Json = self.owner.post("/v1/games", json=body).raise_for_status().json()
        return created

    def view(self, created: Json) -> Json:
        view: Json = self.owner.get(f"/v1/games/{created['game']['id']}").raise_for_status().json()
        return view

    def was_told(self, kind: str, view: Json) -> bool:
        """Whether the bot was told this of the newest version of a game, and has done what it does then."""
        deliveries = self.owner.get(f"{self.webhook}/deliveries").raise_for_status().json()["deliveries"]
        wanted = {"type": kind, "game_id": view["id"], "version": view["version"], "http_status": 204}
        return any(wanted.items() <= each.items() for each in deliveries)

    def events(self, created: Json) -> list[Json]:
        path = f"/v1/games/{created['game']['id']}/events"
        events: list[Json] = self.owner.get(path, params={"limit": 1000}).raise_for_status().json()["events"]
        return events


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    folder = tmp_path_factory.mktemp("club")
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "flask", "--app", str(ROOT / "examples/bot/bot.py"), "run", "--port", str(port)]
    with (
        Service(folder / "data", WORKERS="1", WEBHOOK_NETWORKS="127.0.0.0/8") as service,
        connect(service.url) as owner,
        connect(service.url) as player,
    ):
        key = service.new_key()
        owner.headers["Authorization"] = f"Bearer {key}"
        url = f"http://127.0.0.1:{port}/"
        wanted = {"url": url, "events": ["game.turn", "game.round_over"]}
        made = owner.post("/v1/webhooks", json=wanted).raise_for_status().json()
        own = {"DOMINO": service.url, "DOMINO_KEY": key, "BOT_SECRET": made["secret"]}
        with Process(command, folder / "bot.log", **own):
            await_port(port)
            path = f"/v1/webhooks/{made['id']}"
            owner.patch(path, json={"status": "active"}).raise_for_status()
            until(lambda: owner.get(path).json()["status"] == "active")
            yield Club(owner, player, path, url)


def test_a_person_plays_a_match_with_the_bot_and_deals(club: Club) -> None:
    created = club.create("draw", [{"name": "Ada"}, ENGINE, ENGINE, ENGINE], options={"target": 60})
    path, ada = f"/v1/games/{created['game']['id']}", {"Authorization": f"Bearer {created['seats'][0]['token']}"}
    view = club.player.get(path, headers=ada).raise_for_status().json()
    deadline = time.monotonic() + PATIENCE
    while view["status"] != "finished":
        assert time.monotonic() < deadline
        if view["status"] == "round_over":
            until(lambda view=view: club.was_told("game.round_over", view))  # type: ignore[misc]
            assert club.view(created)["status"] == "round_over"
        if view["legal_moves"]:
            view = club.player.post(f"{path}/moves", json=view["legal_moves"][0], headers=ada).raise_for_status().json()
        else:
            query = {"after": view["version"], "wait": 20}
            view = club.player.get(path, params=query, headers=ada).raise_for_status().json()
    assert view["winners"]
    assert view["round"] > 1
    assert [each["kind"] for each in view["players"]] == ["human"] * 4
    assert not [each for each in club.events(created) if each["type"] == "timed_out"]


def test_the_bot_deals_where_only_computer_players_and_who_is_away_are_with_it(club: Club) -> None:
    created = club.create("block", [ENGINE, {"bot": "greedy"}], options={"target": 60})
    away = club.create("block", [ENGINE, {"name": "Ada"}, {"bot": "greedy"}], options={"target": 60})
    path = f"/v1/games/{away['game']['id']}/players/1/presence"
    club.owner.put(path, json={"away": True}).raise_for_status()
    for each in (created, away):
        until(lambda each=each: club.view(each)["status"] == "finished")  # type: ignore[misc]
        assert club.view(each)["round"] > 1


def test_what_the_service_has_not_signed_has_no_effect(club: Club) -> None:
    created = club.create("domino", [ENGINE, {"open": True}])
    data = {"game": created["game"]["id"], "waiting_for": [{"seat": 0, "ref": "engine"}]}
    signed = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    for headers in (signed, {}):
        body = json.dumps({"type": "game.turn", "data": data})
        assert httpx.post(club.bot, content=body, headers=headers, timeout=PATIENCE).is_error
    assert [each["type"] for each in club.events(created)] == ["created"]
