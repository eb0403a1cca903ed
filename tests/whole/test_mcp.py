"""The official client of the Model Context Protocol plays matches through ``/mcp``, under both kinds of revisions."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import pytest
from mcp.client.client import Client

from service.engine.variants import variants
from tests.support import lanes
from tests.support.serving import Service

pytestmark = pytest.mark.gate

MODES = ("2026-07-28", "auto", "legacy")
MOST_CALLS = 5000


async def play(url: str, mode: str, variant: str) -> tuple[str, int, dict[str, Any]]:
    """The agreed revision, how many tools were called, and the score at the end of a match."""
    random = Random(f"{mode} {variant}")  # not a secret
    async with Client(url, mode=mode) as client:
        calls = 0

        async def call(name: str, **arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            assert calls <= MOST_CALLS
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result
            return json.loads(result.content[0].text)  # type: ignore[union-attr]  # it is a text

        assert {tool.name for tool in (await client.list_tools()).tools} >= {"start_game", "look", "play"}
        fewest = (await call("explain_rules", variant=variant))["players"]["min"]
        players = [{"name": f"P{seat}"} for seat in range(fewest)]
        made = await call("start_game", variant=variant, players=players, seed=f"{variant} by mcp")
        game, tokens = made["game"]["id"], {each["seat"]: each["token"] for each in made["seats"]}
        view = made["game"]
        while view["status"] != "finished":
            seat = view["to_act"][0]
            seen = await call("look", game=game, token=tokens[seat])
            view = await call("play", game=game, token=tokens[seat], move=random.choice(seen["legal_moves"]))
        return client.protocol_version, calls, await call("score", game=game)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("variant", lanes.in_lane(sorted(variants()), gate=["dominospiel"]))
def test_the_official_client_plays_a_match(variant: str, mode: str, service: Service) -> None:
    agreed, calls, score = asyncio.run(play(f"{service.url}/mcp", mode, variant))
    assert agreed == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert calls > 10
    assert score["standings"]
