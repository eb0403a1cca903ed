"""Hints and reviews in a run with all its processes: asked for over HTTP, computed by a bot worker."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support.contract import Contract
from tests.support.table import Json
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

Headers = dict[str, str]


def when_there(http: httpx.Client, path: str, headers: Headers, contract: Contract) -> Json:
    """Ask again as long as the answer is 202; returns the other one."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = http.get(path, headers=headers)
        contract.check(answer)
        if answer.status_code != 202:
            found: Json = answer.raise_for_status().json()
            return found
        assert int(answer.headers["Retry-After"]) >= 1
        assert time.monotonic() < deadline


def played(http: httpx.Client, path: str, headers: Headers) -> Iterator[Json]:
    """The views on each turn of the only person, who then makes the first legal move; the last view is the end."""
    view: Json = http.get(path, headers=headers).raise_for_status().json()
    while view["status"] != "finished":
        if view["legal_moves"]:
            yield view
            view = http.post(f"{path}/moves", json=view["legal_moves"][0], headers=headers).raise_for_status().json()
        else:
            query = {"after": view["version"], "wait": 20}
            view = http.get(path, params=query, headers=headers).raise_for_status().json()
    yield view


def test_a_person_gets_hints_and_a_review(http: httpx.Client, contract: Contract) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"bot": "random"}], "options": {"limit": 1}, "pace": 0}
    created = http.post("/v1/games", json=body).raise_for_status().json()
    path = f"/v1/games/{created['game']['id']}"
    headers = {"Authorization": f"Bearer {created['seats'][0]['token']}", "Accept-Language": "de"}
    hinted = 0
    for view in played(http, path, headers):
        if view["status"] == "playing" and hinted < 3:
            hint = when_there(http, f"{path}/hint", headers, contract)
            assert hint["version"] == view["version"]
            listed = [each["move"] for each in hint["moves"]]
            assert listed
            assert all(move in view["legal_moves"] for move in listed)
            assert hint["text"].endswith(".")
            hinted += 1
    assert hinted
    over = http.get(f"{path}/hint", headers=headers)
    contract.check(over)
    assert (over.status_code, over.json()["code"]) == (409, "game_over")
    begun = http.post(f"{path}/review", headers=headers)
    contract.check(begun)
    assert (begun.status_code, begun.url.join(begun.headers["Location"]).path) == (202, f"{path}/review")
    review = when_there(http, f"{path}/review", headers, contract)
    assert [each["seat"] for each in review["players"]] == [0, 1]
    decisions = review["decisions"]
    assert sum(each["decisions"] for each in review["players"]) == len(decisions) > 0
    for each in decisions:
        named = each["best"] != each["move"]
        assert named == each["text"].startswith("Es gab einen besseren Zug"), each
        assert not named or each["given_away"] > 2 * each["error"] - 0.02, each  # as both are rounded
