"""The official client of the Model Context Protocol plays through ``clients/mcp``, over both of its transports."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import httpx
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client

from clients.mcp.domino_mcp import TOOLS, build_server
from service.engine.variants import variants
from tests.support.processes import free_ports
from tests.support.serving import ROOT, Service
from tests.support.waiting import until
from tests.whole.table import TLS, Table

pytestmark = pytest.mark.gate

PROGRAM: Final = ROOT / "clients" / "mcp" / "domino_mcp.py"
MAX_CALLS: Final = 5000


@pytest.fixture(scope="module")
def address(service: Service) -> Iterator[str]:
    """The address of a server over HTTP."""
    (port,) = free_ports(1)
    command = [sys.executable, str(PROGRAM), "--service", service.url, "--port", str(port)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}/mcp"
        try:
            until(lambda: answers(url) or process.poll() is not None)
            assert process.poll() is None
            yield url
        finally:
            process.terminate()


def answers(url: str) -> bool:
    try:
        return httpx.post(url, json={}, verify=TLS).status_code > 0
    except httpx.TransportError:
        return False


async def play(client: Client, variant: str) -> dict[str, Any]:
    """Play a match by tools alone; return its score."""
    random = Random(variant)  # not a secret
    calls = 0

    async def call(name: str, **arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        assert calls <= MAX_CALLS
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        return json.loads(result.content[0].text)  # type: ignore[union-attr]  # it is a text

    assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
    assert variant in {each["id"] for each in (await call("list_games"))["variants"]}
    fewest = (await call("explain_rules", variant=variant))["players"]["min"]
    players = [{"name": f"P{seat}"} for seat in range(fewest)]
    made = await call("start_game", variant=variant, players=players, seed=f"{variant} by mcp")
    game, tokens = made["game"]["id"], {each["seat"]: each["token"] for each in made["seats"]}
    view = made["game"]
    while view["status"] != "finished":
        seat = view["to_act"][0]
        seen = await call("look", game_id=game, token=tokens[seat])
        view = await call("play", game_id=game, token=tokens[seat], move=random.choice(seen["legal_moves"]))
    assert calls > 10
    return dict(await call("score", game_id=game))


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["2026-07-28", "auto", "legacy"])
@pytest.mark.parametrize("variant", sorted(variants()))
def test_a_match_is_played_over_http(variant: str, mode: str, address: str) -> None:
    async def match() -> tuple[str, dict[str, Any]]:
        async with Client(address, mode=mode) as client:
            return client.protocol_version, await play(client, variant)

    agreed, score = asyncio.run(match())
    assert agreed == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert score["standings"]


def test_a_match_is_played_over_stdin_and_stdout(service: Service) -> None:
    async def match() -> dict[str, Any]:
        child = StdioServerParameters(command=sys.executable, args=[str(PROGRAM), "--service", service.url])
        async with Client(child) as client:
            return await play(client, "dominospiel")

    assert asyncio.run(match())["standings"]


def called(service: Service, name: str, headers: dict[str, str] | None = None, **arguments: Any) -> tuple[str, bool]:
    """Call a tool; return its text, and whether it is an error."""

    async def call() -> tuple[str, bool]:
        requests = httpx.AsyncClient(base_url=service.url, headers=headers, verify=TLS)
        async with requests, Client(build_server(requests)) as client:
            result = await client.call_tool(name, arguments)
            return result.content[0].text, bool(result.is_error)  # type: ignore[union-attr]  # it is a text

    return asyncio.run(call())


def same(answer: str) -> dict[str, Any]:
    """An answer without what tells one request from another."""
    return {key: value for key, value in json.loads(answer).items() if key not in ("instance", "request_id")}


def test_a_tool_returns_what_the_operation_answers(service: Service, http: httpx.Client) -> None:
    table = Table.create(http, "domino", 2, seed="mcp")
    token, path = table.tokens[0], f"/v1/games/{table.id}"
    for name, arguments, expected, bearer in (
        ("list_games", {"language": "es"}, "/v1/variants", None),
        ("explain_rules", {"variant": "no such?game"}, "/v1/variants/no%20such%3Fgame", None),
        ("look", {"game_id": table.id}, f"{path}?text=true", None),
        ("look", {"game_id": table.id, "token": token, "language": "de"}, f"{path}?text=true", token),
        ("look", {"game_id": table.id, "after": "1&x=2"}, f"{path}?text=true&after=1%26x%3D2", None),
        ("score", {"game_id": table.id, "token": token}, f"{path}/score", token),
    ):
        headers = {"Accept-Language": str(arguments.get("language", "en"))}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        answer = http.get(expected, headers=headers)
        text, is_error = called(service, name, None, **arguments)
        assert is_error == answer.is_error, name
        assert same(text) == same(answer.text), name


def test_a_seat_sees_its_own_hand_alone_and_a_key_of_the_connection_counts_without_a_token(
    service: Service, http: httpx.Client
) -> None:
    table = Table.create(http, "domino", 2, seed="mcp")
    hands = [
        json.loads(called(service, "look", game_id=table.id, token=token)[0])["you"]["hand"]
        for token in table.tokens.values()
    ]
    assert not set(hands[0]) & set(hands[1])
    of_connection = {"Authorization": f"Bearer {table.tokens[1]}"}
    assert json.loads(called(service, "look", of_connection, game_id=table.id)[0])["you"]["hand"] == hands[1]
    shown = json.loads(called(service, "look", of_connection, game_id=table.id, token=table.tokens[0])[0])
    assert shown["you"]["hand"] == hands[0]
    assert "you" not in json.loads(called(service, "look", game_id=table.id)[0])


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("look", {}, "Missing: game_id."),
        ("play", {"game_id": "g", "move": {}}, "Missing: token."),
        ("look", {"game_id": 5}, "game_id has to be a text"),
        ("look", {"game_id": ""}, "game_id has to be a text"),
        ("look", {"game_id": "g/events"}, "game_id has to be a text without a slash"),
        ("look", {"game_id": "g", "token": "a\r\nX-Evil: b"}, "token has to be a text of printable"),
        ("look", {"game_id": "g", "seat": 1}, "Unknown: seat."),
        ("list_games", {"language": "x\n"}, "language has to be a text of printable"),
        ("cheat", {}, "Unknown tool."),
    ],
)
def test_a_wrong_call_is_explained(name: str, arguments: dict[str, Any], said: str, service: Service) -> None:
    text, is_error = called(service, name, **arguments)
    assert is_error
    assert text.startswith(said)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://localhost:6274"}, 200),
    ],
)
def test_a_page_of_another_origin_does_not_play_here(headers: dict[str, str], status: int, address: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {"Accept": "application/json, text/event-stream", **headers}
    assert httpx.post(address, json=message, headers=accepted, verify=TLS).status_code == status
