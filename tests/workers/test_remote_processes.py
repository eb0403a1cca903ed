"""Remote players as real processes, asked over HTTP: those of ``examples/bot``, and others that misbehave."""

from __future__ import annotations

import socket
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import orjson
import pytest

from service.engine.presence import TimedOut
from service.storage.confirmed_urls import RedisConfirmedUrls
from service.storage.redis.topology import open_topology
from service.workers.remote_turns import ANSWER_SECONDS
from tests.api.saved_games import shortest
from tests.backends.endpoints import Listener
from tests.outgoing.endpoints import Behaviour, Endpoint, answer, endless, raw
from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.processes import free_ports
from tests.support.remote_bots import Process, await_port, flask_bot, node_bot
from tests.support.remote_games import APP, wanted
from tests.support.stores.redis_stores import redis_calls
from tests.support.waiting import until
from tests.vectors.verifiers import node_or_skip
from tests.workers.tables import VARIANTS, Hosted, fewest, on_redis

pytestmark = pytest.mark.gate


@pytest.fixture
def hosted(server: RealServer) -> Hosted:
    return on_redis(server.url)


def _messenger(server: RealServer, folder: Path) -> Background:
    """A messenger that may ask on loopback."""
    return Background("messenger", server.url, folder, WEBHOOK_NETWORKS="127.0.0.0/8")


@pytest.fixture
def services(server: RealServer, tmp_path: Path) -> Iterator[None]:
    """The processes that ask remote players, and that play for them."""
    with _messenger(server, tmp_path), Background("bots", server.url, tmp_path):
        yield


def secret_for(hosted: Hosted, url: str) -> str:
    """The secret for this URL, as an application gets it with each game."""
    created = hosted.create(wanted("domino", "xp", url))
    secret = created.seats[0].secret
    assert secret is not None
    return f"whsec_{b64encode(secret).decode()}"


def new(
    hosted: Hosted, variant: str, seats: str, url: str, *, seed: str = "seed", options: dict[str, int] | None = None
) -> str:
    """A match, without ``options`` a short one."""
    return hosted.create(wanted(variant, seats, url, seed=seed, options=options or shortest(variant))).view.id


def is_finished(hosted: Hosted, game: str) -> bool:
    return hosted.game(game).status == "finished"


def given_up(hosted: Hosted, game: str) -> int:
    return sum(isinstance(event, TimedOut) for event in hosted.events(game))


@pytest.mark.parametrize("language", ["python", "node"])
def test_the_examples_play_whole_matches(
    language: str, hosted: Hosted, services: None, server: RealServer, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/"
    command = flask_bot(port) if language == "python" else node_bot(node_or_skip())
    environ = {"BOT_SECRET": secret_for(hosted, url), "PORT": str(port)}
    with Process(command, tmp_path / "bot.log", **environ):
        await_port(port)
        games = []
        for variant in VARIANTS if language == "python" else ["domino"]:
            others = fewest(variant) - 1
            games += [new(hosted, variant, "x" + seats * others, url) for seats in "gx"]
        for game in games:
            until(partial(is_finished, hosted, game))
        assert [given_up(hosted, game) for game in games] == [0] * len(games)


def test_a_remote_player_with_another_secret_refuses_to_answer_and_loses_its_turns(
    hosted: Hosted, services: None, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/"
    with Process(flask_bot(port), tmp_path / "bot.log", BOT_SECRET=secret_for(hosted, f"{url}another")):
        await_port(port)
        game = new(hosted, "domino", "xg", url)
        until(lambda: given_up(hosted, game) > 0)


NOT_A_MOVE: dict[str, Behaviour] = {
    "illegal": answer(body=b'{"action": "pass"}'),
    "garbage": answer("200 OK", b"<html>", "Content-Type: text/html"),
    "no content type": answer(body=b"[1]"),
    "huge": answer(body=b" " * 1_000_000),
    "500": answer("500 Internal Server Error", b"{}"),
    "no HTTP": raw(b"hello", close=True),
    "endless head": endless(b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 100),
    "nothing": lambda _: False,
}


def test_who_does_not_answer_a_challenge_is_sent_no_game(hosted: Hosted, services: None) -> None:
    """Neither one that echoes all that it gets, nor one that answers everything with success."""

    def repeat(sock: socket.socket) -> object:
        return answer(body=echo.requests[-1].split(b"\r\n\r\n", 1)[1])(sock)

    echo = Endpoint(repeat)
    stranger = Endpoint(answer(body=b"{}"))
    try:
        for endpoint in (echo, stranger):
            game = new(hosted, "domino", "xg", _url(endpoint))
            until(lambda game=game: given_up(hosted, game) > 0)  # type: ignore[misc] # as above
            assert len(endpoint.requests) >= 2
            assert all(b'"type":"webhook.challenge"' in request for request in endpoint.requests)
            assert not any(b'"game"' in request for request in endpoint.requests)
    finally:
        for endpoint in (echo, stranger):
            endpoint.close()


def test_after_three_answers_that_are_no_moves_a_computer_player_makes_the_turn(
    hosted: Hosted, services: None, server: RealServer
) -> None:
    elsewhere = Endpoint(answer(body=b"{}"))
    redirect = answer("307 Temporary Redirect", b"", f"Location: http://127.0.0.1:{elsewhere.port}/")
    endpoints = {name: Endpoint(behaviour) for name, behaviour in {**NOT_A_MOVE, "a redirect": redirect}.items()}
    try:
        confirmed = RedisConfirmedUrls(redis_calls(open_topology(server.url)))
        for endpoint in endpoints.values():  # that these URLs have answered is from before
            confirmed.confirm(APP, _url(endpoint), round(time.time() * 1000))
        games = {name: new(hosted, "domino", "xg", _url(endpoint)) for name, endpoint in endpoints.items()}
        for name, game in games.items():
            until(lambda game=game: given_up(hosted, game) > 1)  # type: ignore[misc] # the second one is later
            ids = [_header(request, b"webhook-id") for request in endpoints[name].requests[:4]]
            assert [ids.count(each) for each in ids] == [3, 3, 3, 1], name
        assert elsewhere.accepted == 0
    finally:
        for endpoint in (elsewhere, *endpoints.values()):
            endpoint.close()


def asked(listener: Listener) -> list[bytes]:
    """The requests for moves."""
    return [each for each in list(listener.requests) if b'"webhook.challenge"' not in each]


def _url(endpoint: Endpoint) -> str:
    return f"http://127.0.0.1:{endpoint.port}/"


def _header(request: bytes, name: bytes) -> bytes:
    lines = request.split(b"\r\n\r\n")[0].split(b"\r\n")
    (value,) = [line.partition(b": ")[2] for line in lines if line.lower().startswith(name + b":")]
    return value


def _has_moved_on(hosted: Hosted, game: str, version: int) -> bool:
    return hosted.game(game).version > version


def test_a_late_answer_does_not_count_and_the_next_try_may(hosted: Hosted, services: None) -> None:
    def late(sock: socket.socket) -> bool:
        time.sleep(ANSWER_SECONDS + 0.5)
        with suppress(OSError):
            _play(asked(endpoint)[0], sock)
        return True

    endpoint = Listener(late, lambda sock: _play(asked(endpoint)[1], sock), lambda _: True)
    try:
        began = time.monotonic()
        game = new(hosted, "domino", "xx", _url(endpoint))
        until(partial(_has_moved_on, hosted, game, 2))
        assert time.monotonic() - began >= ANSWER_SECONDS
        assert len({_header(request, b"webhook-id") for request in asked(endpoint)[:2]}) == 1
        assert hosted.game(game).version == 3
        assert given_up(hosted, game) == 0
    finally:
        endpoint.close()


def _play(request: bytes, sock: socket.socket) -> bool:
    """Answer this request with the first legal move in it."""
    message = orjson.loads(request.split(b"\r\n\r\n", 1)[1])
    return bool(answer(body=orjson.dumps(message["data"]["view"]["legal_moves"][0]))(sock))


def test_a_remote_player_that_is_dead_delays_no_other(hosted: Hosted, services: None, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/"
    silent = Listener(lambda _: True)
    try:
        with Process(flask_bot(port), tmp_path / "bot.log", BOT_SECRET=secret_for(hosted, url)):
            await_port(port)
            dead = [new(hosted, "domino", "xx", _url(silent), seed=f"{n}") for n in range(40)]
            until(lambda: silent.answered >= 16)
            game = new(hosted, "domino", "xg", url)
            until(partial(is_finished, hosted, game))
            assert given_up(hosted, game) == 0
        assert silent.answered <= 16 * 3
        assert {hosted.game(each).version for each in dead} == {2}
    finally:
        silent.close()


def test_workers_that_are_killed_again_and_again_make_every_move_once(
    hosted: Hosted, server: RealServer, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/"
    with (
        Process(flask_bot(port), tmp_path / "bot.log", BOT_SECRET=secret_for(hosted, url)),
        _messenger(server, tmp_path),
    ):
        await_port(port)
        lasting = {"limit": 1000}  # so that the messenger that is not killed cannot play them to their end
        games = [new(hosted, "domino", "xx", url, seed=f"{number}", options=lasting) for number in range(4)]
        for _ in range(3):
            with _messenger(server, tmp_path) as killed:
                before = hosted.game(games[0]).version
                until(partial(_has_moved_on, hosted, games[0], before + 3))
                killed.kill()
        assert all(given_up(hosted, game) == 0 for game in games)
        versions = [
            [event.version for event in hosted.games.access._repository.history(hosted.game(game))] for game in games
        ]
        assert all(each == list(range(1, len(each) + 1)) for each in versions)
