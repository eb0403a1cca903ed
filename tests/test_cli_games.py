"""The commands on stored games, by the arguments and settings of an operator, beside a server on a data folder."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.bootstrap.secret_file import load_or_create_secret
from service.devserver.embedded import EmbeddedServer
from service.games.commands.create import network_digest
from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.errors import Gone
from service.games.store.idempotency import Idempotency
from service.games.store.notifications import RedisEventFeed
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import open_topology
from tests.support.games import build_games
from tests.support.programs import run_command
from tests.support.serving import Service
from tests.support.stores.redis_stores import redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate


PEOPLE = tuple([SeatRequest("human", name) for name in ("Ada", "Bo")])
SMALL = GameRequest("domino", PEOPLE, {}, network="192.0.2.7")
LARGE = SMALL._replace(variant="fido", seats=(*PEOPLE, SeatRequest("human", "Cy" * 20)), options={"set": 18})


class Games:
    """The games of a server, and the commands on them."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.url, self.folder = server.url, server.folder
        topology = open_topology(server.url)
        self.client: Any = connect(server.url)
        self.secret = load_or_create_secret(server.folder)
        self.feed = RedisEventFeed(topology)
        self.hosted: GamesFacade = build_games(redis_store(topology, 1000), self.feed, [self.secret], 1000)
        self._environ = {
            **{name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATA_DIR")},
            "DATA_DIR": str(server.folder),
        }

    def create(self, request: GameRequest = SMALL) -> str:
        return self.hosted.commands.create(request).answer.view.id

    def is_gone(self, game: str) -> bool:
        try:
            self.hosted.access.authenticate(game, None)
        except Gone:
            return True
        return False

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_command("games", *arguments, environ=self._environ)

    def listed(self, *arguments: str) -> list[str]:
        """The ids of the games that are listed."""
        done = self.run("list", "--json", *arguments)
        assert done.returncode == 0, done.stderr
        return [json.loads(line)["id"] for line in done.stdout.splitlines()]


@pytest.fixture
def games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    with EmbeddedServer(tmp_path_factory.mktemp("data")) as server:
        games = Games(server)
        yield games
        games.feed.close()


def test_games_are_listed_by_size_age_tenant_and_whether_anybody_has_moved(games: Games) -> None:
    small, large = games.create(), games.create(LARGE)
    opened = games.hosted.commands.create(SMALL._replace(network="192.0.2.8")).answer
    moved, tokens = opened.view.id, [each.token for each in opened.seats]
    for token in tokens:
        access = games.hosted.access.authenticate(moved, token)
        for move in games.hosted.queries.legal_moves(access).moves[:1]:
            games.hosted.commands.make_move(access, MoveCommand(move))
    assert games.listed()[0] == large
    assert set(games.listed()) == {small, large, moved}
    assert games.listed("--sort", "age") == [small, large, moved]
    assert games.listed("--limit", "1") == [large]
    assert games.listed("--older", "1") == []
    assert set(games.listed("--unmoved")) == {small, large}
    assert set(games.listed("--address", "192.0.2.7")) == {small, large}
    tenant = network_digest(Idempotency([games.secret]), "192.0.2.8")
    assert games.listed("--tenant", tenant) == [moved]
    line = games.run("list", "--address", "192.0.2.8")
    assert f"{moved} " in line.stdout
    assert f" {tenant} " in line.stdout
    assert "192.0.2" not in line.stdout


def test_games_are_deleted_by_id_or_by_what_they_have_in_common_and_the_log_says_so(games: Games) -> None:
    small, large, owned = games.create(), games.create(LARGE), games.create(SMALL._replace(app="club", network=""))
    done = games.run("delete", small)
    assert (done.returncode, games.is_gone(small), games.is_gone(large)) == (0, True, False)
    (logged,) = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert logged["game"] == small
    assert network_digest(Idempotency([games.secret]), "192.0.2.7") not in done.stderr
    assert "Ada" not in done.stdout + done.stderr
    asked = games.run("delete", "--unmoved")
    assert (asked.returncode, games.is_gone(large)) == (1, False)
    assert "2 games would be deleted" in asked.stderr
    done = games.run("delete", "--unmoved", "--yes")
    assert done.returncode == 0
    assert '"app":"club"' in done.stderr.replace(" ", "")
    assert (games.is_gone(large), games.is_gone(owned)) == (True, True)
    assert games.listed() == []


def test_no_command_looks_through_the_keys_of_the_store(games: Games) -> None:
    game = games.create()
    games.client.config_resetstat()
    assert games.listed() == games.listed("--address", "192.0.2.7") == [game]
    assert games.run("show", game).returncode == 0
    assert games.run("delete", "--unmoved", "--yes").returncode == 0
    used = {name.removeprefix("cmdstat_") for name in games.client.info("commandstats")}
    assert "hscan" in used
    assert not used & {"scan", "keys"}
    assert games.is_gone(game)


def test_the_stream_of_a_game_that_is_deleted_ends(games: Games) -> None:
    with (
        Service(games.folder, REDIS_URL=games.url, WORKERS="1") as service,
        httpx.Client(base_url=service.url, timeout=PATIENCE) as http,
    ):
        asked = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}
        game = http.post("/v1/games", json=asked).raise_for_status().json()["game"]["id"]
        path = f"/v1/games/{game}"
        follow = http.stream("GET", f"{path}/events", headers={"Accept": "application/x-ndjson"}, timeout=PATIENCE)
        with follow as stream:
            lines = (json.loads(line) for line in stream.iter_lines() if line)
            assert next(lines)["type"] == "created"
            assert games.run("delete", game).returncode == 0
            assert [each["type"] for each in lines][-1] == "deleted"
        assert http.get(path).status_code == 410


def test_games_are_found_by_the_id_of_their_application_or_by_the_address(games: Games) -> None:
    owned, nobodys = games.create(SMALL._replace(app="club", network="")), games.create()
    tenant = network_digest(Idempotency([games.secret]), "192.0.2.7")
    for chosen in (("--tenant", tenant), ("--address", "192.0.2.7")):
        assert games.listed(*chosen) == [nobodys], chosen
    assert games.listed("--tenant", "club") == [owned]
    assert games.listed("--tenant", "") == []


def test_a_game_that_cannot_be_deleted_leaves_the_others_to_be(games: Games) -> None:
    damaged, other = games.create(), games.create()
    key = keys.state(damaged)
    games.client.set(key, (games.client.get(key) or b"").replace(b"Ada", b"Ida"))
    done = games.run("delete", damaged, other)
    assert (done.returncode, games.is_gone(other)) == (1, True)
    assert f"{damaged}: cannot be read: damaged" in games.run("list").stderr
    assert f"{damaged}: cannot be read: damaged" in done.stderr


def test_a_command_without_a_choice_or_for_what_is_not_there_deletes_nothing(games: Games) -> None:
    game = games.create()
    assert games.run("delete", "--yes").returncode == 2
    assert games.run("delete", "AAAAAAAAAAAAAAAAAAAAAAAA").returncode == 1
    assert games.run("list", "--address", "no address").returncode == 2
    assert not games.is_gone(game)


def test_a_game_is_shown_with_its_players_and_without_anything_hidden(games: Games) -> None:
    game = games.create()
    shown = games.run("show", game)
    assert shown.returncode == 0
    (line,) = shown.stdout.splitlines()
    told = json.loads(line)
    assert (told["id"], told["variant"], told["status"], told["moved"]) == (game, "domino", "playing", False)
    assert told["players"] == [{"kind": "human", "name": "Ada"}, {"kind": "human", "name": "Bo"}]
    assert set(told) == {
        "id", "bytes", "updated_at", "tenant", "moved", "status", "variant", "created_at", "version", "round",
        "players",
    }  # fmt: skip
    missing = games.run("show", game, "nowhere")
    assert (missing.returncode, missing.stdout) == (1, shown.stdout)
    assert "nowhere: no such game" in missing.stderr
