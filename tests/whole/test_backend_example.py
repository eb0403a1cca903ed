"""The backend of ``examples/backend``, as it stands, lets two users play a match on a whole service."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import httpx
import pytest
from standardwebhooks import Webhook

from tests.support.processes import Process, await_port, free_ports
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import connect

pytestmark = pytest.mark.gate

FLASK = [sys.executable, "-m", "flask", "--app", str(ROOT / "examples" / "backend" / "backend.py")]

T = TypeVar("T")


def awaited(find: Callable[[], T | None]) -> T:
    """What is found in time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = find()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come")


class User:
    """A user of the backend, with an app that plays at the service."""

    def __init__(self, backend: httpx.Client, service: httpx.Client, name: str) -> None:
        self.name = name
        created = backend.post("/users", json={"name": name}).raise_for_status().json()
        self.id: str = created["user"]
        self.device: str = created["device"]
        self._backend = backend
        self._service = service

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._backend.request(method, path, json=body, headers={"X-Device": self.device}).raise_for_status()
        return answer.json() if answer.content else None

    def pushed(self, game: str) -> list[tuple[int, str]]:
        return [(each["version"], each["text"]) for each in self.ask("GET", "/pushes") if each["game"] == game]

    def move(self, game: str) -> None:
        """Make the first legal move."""
        seat = self.ask("POST", f"/games/{game}/seat")
        headers = {"Authorization": f"Bearer {seat['token']}"}
        (move, *_) = self._service.get(f"/v1/games/{game}", headers=headers).json()["legal_moves"]
        self._service.post(f"/v1/games/{game}/moves", json=move, headers=headers).raise_for_status()


class Club:
    """The backend, with the service beside it, and the two users of a test."""

    def __init__(self, backend: httpx.Client, service: httpx.Client, key: str, data: Path) -> None:
        self.backend = backend
        self.service = service
        self.owner = {"Authorization": f"Bearer {key}"}
        self.data = data
        self.users: list[User] = []

    def admit(self) -> list[User]:
        """Take two new users in the place of those before."""
        self.users = [User(self.backend, self.service, f"{name} {token_hex(4)}") for name in ("Ada", "Bo")]
        return self.users

    def view(self, game: str) -> Json:
        view: Json = self.service.get(f"/v1/games/{game}").raise_for_status().json()
        return view

    def listed(self, query: str) -> list[Json]:
        games: list[Json] = (
            self.service.get(f"/v1/games?{query}", headers=self.owner).raise_for_status().json()["games"]
        )
        return games

    def play(self, game: str) -> dict[int, list[tuple[int, str]]]:
        """Play to the end; whoever is to act does so when a push notification has told it. Returns those expected."""
        expected: dict[int, list[tuple[int, str]]] = {0: [], 1: []}
        before: list[int] = []
        while (view := self.view(game))["status"] != "finished":
            text = "It is your turn." if view["status"] == "playing" else "The round is over: deal the next one."
            if view["to_act"] != before:
                for seat in view["to_act"]:
                    expected[seat].append((view["version"], text))
            before = view["to_act"]
            seat = before[0]
            awaited(lambda seat=seat: self.seated(game, seat).pushed(game) == expected[seat])  # type: ignore[misc]
            self.seated(game, seat).move(game)
        for seat, pushes in expected.items():
            pushes.append((view["version"], "You have won." if seat in view["winners"] else "You have lost."))
        return expected

    def seated(self, game: str, seat: int) -> User:
        """The user in this seat."""
        return next(each for each in self.users if each.ask("POST", f"/games/{game}/seat")["seat"] == seat)


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    tmp_path = tmp_path_factory.mktemp("club")
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    with (
        Service(tmp_path / "data", WORKERS="1", WEBHOOK_NETWORKS="127.0.0.0/8") as service,
        connect(service.url) as http,
        httpx.Client(base_url=url, timeout=PATIENCE) as backend,
    ):
        key = service.new_key()
        own = {"DOMINO": service.url, "DOMINO_KEY": key, "BACKEND_DATA": str(tmp_path / "backend.sqlite")}
        with Process([*FLASK, "run", "--port", str(port)], tmp_path / "backend.log", **own):
            await_port(port)
            register = Process([*FLASK, "register", f"{url}/hooks"], tmp_path / "register.log", **own)
            assert register.process.wait(PATIENCE) == 0, register.log.read_text()
            made = Club(backend, http, key, tmp_path / "backend.sqlite")
            awaited(lambda: http.get("/v1/webhooks", headers=made.owner).json()["webhooks"][0]["status"] == "active")
            yield made


def test_two_users_play_a_match_and_one_is_deleted(club: Club) -> None:
    ada, bo = club.admit()
    game = ada.ask("POST", "/games", {"options": {"limit": 20}})["game"]
    awaited(lambda: bo.ask("GET", "/lobby") == {"games": [game]})
    assert bo.ask("POST", f"/games/{game}/players") == {"game": game}
    awaited(lambda: bo.ask("GET", "/lobby") == {"games": []})

    # Every turn, every deal and the end were pushed, each once, to who was to act.
    expected = club.play(game)
    for seat, pushes in expected.items():
        user = club.seated(game, seat)
        awaited(lambda user=user, pushes=pushes: user.pushed(game) == pushes)  # type: ignore[misc]

    # Each user's list has the match, finished, and nothing waits.
    for user in club.users:
        (listed,) = user.ask("GET", "/games")["games"]
        assert (listed["id"], listed["status"], listed["winners"]) == (game, "finished", club.view(game)["winners"])
        assert user.ask("GET", "/games?to_act=true") == {"games": []}

    # Bo loses the phone: a new token, without the old one.
    old = bo.ask("POST", f"/games/{game}/seat")["token"]
    new = bo.ask("POST", f"/games/{game}/seat?new=true")["token"]
    statuses = [
        club.service.get(f"/v1/games/{game}", headers={"Authorization": f"Bearer {each}"}) for each in (old, new)
    ]
    assert [each.status_code for each in statuses] == [401, 200]

    # A rematch is begun by the players alone; the backend tells both of it, and gives tokens for it.
    rematch = club.service.post(f"/v1/games/{game}/rematch", headers={"Authorization": f"Bearer {new}"})
    again = rematch.raise_for_status().json()["game"]["id"]
    on_turn = club.seated(again, club.view(again)["turn"]["seat"])
    awaited(lambda: [text for _, text in on_turn.pushed(again)] == ["There is a rematch.", "It is your turn."])
    (other,) = [user for user in club.users if user is not on_turn]
    assert [text for _, text in other.pushed(again)] == ["There is a rematch."]
    on_turn.move(again)

    # Ada is deleted: of her nothing is left, here or there, and a computer player goes on for her.
    seats = {each: next(seat for seat in (0, 1) if club.seated(each, seat) is ada) for each in (game, again)}
    ada.ask("DELETE", "/users/me")
    awaited(lambda: club.service.get(f"/v1/players/{ada.id}", headers=club.owner).status_code == 404)
    for each, seat in seats.items():
        assert club.view(each)["players"][seat]["name"] == f"Player {seat + 1}"
    assert club.view(again)["players"][seats[again]]["away"] is True
    with sqlite3.connect(club.data) as data:
        dump = "\n".join(data.iterdump())
    assert bo.id in dump
    assert [each for each in (ada.id, ada.device, ada.name) if each in dump] == []


def test_a_backend_that_was_away_is_told_what_it_missed(club: Club) -> None:
    """It opens its endpoint again when it starts, whatever the service makes of it."""
    (webhook,) = club.service.get("/v1/webhooks", headers=club.owner).json()["webhooks"]
    path = f"/v1/webhooks/{webhook['id']}"
    club.service.patch(path, json={"status": "disabled"}, headers=club.owner).raise_for_status()
    run = [sys.executable, str(ROOT / "examples" / "backend" / "backend.py")]
    own = {"DOMINO": str(club.service.base_url), "DOMINO_KEY": club.owner["Authorization"].split()[1]}
    with Process(run, club.data.with_suffix(".log"), **own, BACKEND_DATA=str(club.data)) as started:
        assert started.process.wait(PATIENCE) == 0, started.log.read_text()
    assert club.service.get(path, headers=club.owner).json()["status"] == "active"


def test_the_example_takes_signed_messages_alone_and_acts_once_on_each(club: Club) -> None:
    ada, _ = club.admit()
    turn = {
        "type": "game.turn",
        "data": {"game_id": "g1", "version": 3, "to_act": [0], "waiting_for": [{"seat": 0, "ref": ada.id}]},
    }
    body = json.dumps(turn)
    now = datetime.now(UTC)
    with sqlite3.connect(club.data) as data:
        ((secret,),) = data.execute("SELECT secret FROM webhooks").fetchall()
    named = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp()))}
    forged = {**named, "webhook-signature": Webhook(f"whsec_{b64encode(bytes(32)).decode()}").sign("msg_1", now, body)}
    for headers in (forged, named, {}):
        assert club.backend.post("/hooks", content=body, headers=headers).status_code == 401
    assert ada.pushed("g1") == []
    signed = {**named, "webhook-signature": Webhook(secret).sign("msg_1", now, body)}
    for _ in range(2):
        assert club.backend.post("/hooks", content=body, headers=signed).status_code == 204
    assert ada.pushed("g1") == [(3, "It is your turn.")]
