"""The work of a request is bounded whatever it contains: counted in function calls, elements and bytes, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.web.http.body import MAX_BODY_BYTES
from tests.api.client import Api

pytestmark = pytest.mark.gate

JSON = "application/json"
SEATS = '{"name":"Ada"},{"name":"Bo"}'
MAX_CALLS = 20_000
"""Calls of Python functions for one request: a creation with arranged deals for a hundred rounds needs more."""
MAX_RESPONSE_BYTES = 64 * 1024


def fill(start: str, element: str, end: str) -> str:
    """``start``, as many of ``element`` as a body may have, separated by commas, and ``end``."""
    count = (MAX_BODY_BYTES - len(start) - len(end)) // (len(element.format(0)) + 7)
    return start + ",".join([element.format(index) for index in range(count)]) + end


WRONG_TILES = ",".join(["0"] * 190)
WRONG_DEAL = f'{{"hands":[[{WRONG_TILES}],[{WRONG_TILES}]],"stock":[{WRONG_TILES}]}}'
GAME = f'{{"variant":"domino","players":[{SEATS}],'
BODIES = {
    "players that are empty": fill('{"variant":"domino","players":[', "{{}}", "]}"),
    "players that are numbers": fill('{"variant":"domino","players":[', "0", "]}"),
    "players with a field": fill('{"variant":"domino","players":[', '{{"a":0}}', "]}"),
    "deals that are empty": fill(GAME + '"deals":[', "{{}}", "]}"),
    "deals of wrong tiles": GAME + f'"deals":[{",".join([WRONG_DEAL] * 100)}]}}',
    "a stock of empty texts": fill(GAME + '"deals":[{"hands":[[],[]],"stock":[', '""', "]}]}"),
    "a hand of numbers": fill(GAME + '"deals":[{"stock":[],"hands":[[],[', "0", "]]}]}"),
    "hands of numbers": fill(GAME + '"deals":[{"stock":[],"hands":[', "0", "]}]}"),
    "fields": fill("{", '"k{0}":0', "}"),
    "long fields": "{" + ",".join([f'"{"k" * 4000}{index}":0' for index in range(60)]) + "}",
    "fields of a player": fill('{"variant":"domino","players":[{', '"k{0}":0', "}]}"),
    "fields of the rules": fill(GAME + '"options":{', '"k{0}":0', "}}"),
    "fields of a deal": fill(GAME + '"deals":[{', '"k{0}":0', "}]}"),
    "fields of a record": fill(GAME + '"continues":{', '"k{0}":0', "}}"),
    "a long name": '{"variant":"domino","players":[{"name":"' + "x" * 250_000 + '"}]}',
    "a long seed": GAME + '"seed":"' + "x" * 250_000 + '"}',
    "a long end": '{"action":"play","tile":"0-0","end":"' + "x" * 250_000 + '"}',
    "lists": '{"players":' + "[" * 120_000 + "]" * 120_000 + "}",
    "objects": '{"a":' * 40_000 + "0" + "}" * 40_000,
    "lists of lists": fill('{"players":[', "[" * 30 + "]" * 30, "]}"),
    "lists after a string": fill('{"name":"\\\\","players":[', "[]", "]}"),
    "quotes": '{"name":"' + '\\"' * 100_000 + "[" * 3000,
    "floats": fill('{"seed":[', "1.5e3", "]}"),
    "long integers": fill('{"seed":[', "123456789012345678901", "]}"),
}


def calls(action: Callable[[], TestResponse]) -> tuple[TestResponse, int]:
    """The response, and how many Python functions were called for it."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        response = action()
    finally:
        sys.setprofile(None)
    return response, count


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_of_faults_costs_little(body: str, api: Api) -> None:
    table = api.create("domino", 2)
    paths = ("/v1/games", f"{table.path}/players", f"{table.path}/players/0/token")
    assert len(body) <= MAX_BODY_BYTES
    for path in (*paths, f"{table.path}/moves"):
        response, count = calls(
            lambda: api.client.post(
                path,  # noqa: B023 # it is called at once
                data=body,
                content_type=JSON,
                headers={"Authorization": f"Bearer {table.tokens[0]}"},
            )
        )
        assert response.status_code in (400, 409, 422), path
        assert count < MAX_CALLS, path
        assert len(response.data) < MAX_RESPONSE_BYTES, path
