"""An application lets its bot play with people over HTTP, in a run with all its processes."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from tests.support.processes import free_ports
from tests.support.remote_bots import Process, await_port, flask_bot
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import connect
from tests.whole.test_computer_players import play_as_a_phone_does

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose remote players may be on this machine, and at which anybody may register an application."""
    folder = tmp_path_factory.mktemp("service")
    with Service(folder, APPS="open", WEBHOOK_NETWORKS="127.0.0.0/8") as service:
        yield service


@pytest.fixture
def application(running: Service) -> Iterator[httpx.Client]:
    """A client with the key of a new application."""
    with connect(running.url) as client:
        created = client.post("/v1/apps", json={"name": "A backend"}).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {created['key']}"
        yield client


def create(application: httpx.Client, variant: str, players: list[Json]) -> Json:
    body = {"variant": variant, "players": players, "pace": 0}
    created: Json = application.post("/v1/games", json=body).raise_for_status().json()
    return created


@pytest.mark.parametrize("variant", ["homo-homini-lupus", "menschenwolf", "fido", "dominospiel", "domino"])
def test_a_person_plays_a_match_with_the_bot_of_an_application(
    variant: str, application: httpx.Client, running: Service, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    remote = {"name": "Deep Six", "url": f"http://127.0.0.1:{port}/"}
    players = [{"name": "Ada"}, remote, remote, remote]
    created = create(application, variant, players)
    (secret,) = {seat["secret"] for seat in created["seats"][1:]}
    with Process(flask_bot(port), tmp_path / "bot.log", BOT_SECRET=secret), connect(running.url) as ada:
        await_port(port)
        view = play_as_a_phone_does(ada, {**created, "seats": created["seats"][:1]})
        assert view["winners"]
        assert [each["kind"] for each in view["players"]] == ["human", "remote", "remote", "remote"]
        text = ada.get(f"/v1/games/{view['id']}/record", headers={"Accept": "text/plain"}).text
        verified = ada.post("/v1/verifications", json={"record": text}).raise_for_status().json()
        assert verified["findings"] == []
        assert secret not in text
        assert remote["url"] not in ada.get(f"/v1/games/{view['id']}").text + text


class Thoughtful(http.server.BaseHTTPRequestHandler):
    """A bot that answers 204, and posts its move later with its token."""

    service = ""
    tokens: dict[int, str] = {}  # noqa: RUF012 # one for each test
    knows_tokens = threading.Event()
    verified: list[str] = []  # noqa: RUF012 # as above
    secret = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message: Any = Webhook(self.secret).verify(body, dict(self.headers))
        if message["type"] == "webhook.challenge":
            self.answer_challenge(message["data"]["challenge"].encode())
            return
        self.verified.append(self.headers["webhook-id"])
        self.send_response(204)
        self.end_headers()
        threading.Timer(0.02, self.play, [message["data"]]).start()

    def answer_challenge(self, challenge: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(challenge)))
        self.end_headers()
        self.wfile.write(challenge)

    def play(self, data: Any) -> None:
        assert self.knows_tokens.wait(PATIENCE)
        request = urllib.request.Request(
            f"{self.service}/v1/games/{data['game']}/moves",
            json.dumps(data["view"]["legal_moves"][0]).encode(),
            {"Authorization": f"Bearer {self.tokens[data['seat']]}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_a_bot_that_moves_by_itself_is_asked_once_for_each_move(application: httpx.Client, running: Service) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thoughtful)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/"
        # The bot has its secret before it is asked: it is that of the first game of the application.
        first = create(application, "domino", [{"name": "Deep Six", "url": url}, {"open": True}])
        Thoughtful.secret = first["seats"][0]["secret"]
        Thoughtful.service = running.url
        created = create(application, "domino", [{"name": "Ada"}, {"name": "Deep Six", "url": url}])
        Thoughtful.tokens = {each["seat"]: each["token"] for each in created["seats"]}
        Thoughtful.knows_tokens.set()
        with connect(running.url) as ada:
            view = play_as_a_phone_does(ada, {**created, "seats": created["seats"][:1]})
        assert view["winners"]
        assert len(Thoughtful.verified) == len(set(Thoughtful.verified)) > 5
    finally:
        server.shutdown()
        server.server_close()


def test_the_guide_shows_the_bot_that_is_played_here() -> None:
    bot = (ROOT / "examples/bot/bot.py").read_text()
    assert f"```python\n{bot}```" in (ROOT / "docs/guide/bots.md").read_text()


def test_the_secret_is_as_the_public_library_expects_it(application: httpx.Client) -> None:
    players: list[Json] = [{"name": "Deep Six", "url": "http://127.0.0.1:9/"}, {"open": True}]
    created = create(application, "domino", players)
    secret = created["seats"][0]["secret"]
    assert secret.startswith("whsec_")
    assert len(b64encode(Webhook(secret)._whsecret)) == 44
    assert create(application, "fido", [*players, {"open": True}])["seats"][0]["secret"] == secret
    other = create(application, "domino", [{**players[0], "url": "http://127.0.0.1:9/b"}, {"open": True}])
    assert other["seats"][0]["secret"] != secret
