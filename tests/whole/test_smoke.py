"""The real command from its start to its stop: what the quick lane has of a whole service."""

from __future__ import annotations

from pathlib import Path

import httpx

from service.engine.variants import variants
from tests.support.serving import Service
from tests.support.table import Json
from tests.whole.table import Table, connect


def seek(http: httpx.Client, name: str) -> Json:
    """Seek a table of four."""
    sought: Json = (
        http.post("/v1/seeks", json={"variant": "block", "players": 4, "name": name}).raise_for_status().json()
    )
    return sought


def test_a_match_and_a_stranger_are_still_there_after_a_restart(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        with connect(service.url) as http:
            assert "Domino" in http.get("/", headers={"Accept": "text/html"}).text
            assert {each["id"] for each in http.get("/v1/variants").json()["variants"]} == set(variants())
            table = Table.create(http, "fido", seed="a rainy evening", options={"rounds": 1})
            views = list(table.play(1))
            score = http.get(f"{table.path}/score").json()
            assert views[-1]["status"] == "finished"
            assert score["winners"] == views[-1]["winners"]
            ada = seek(http, "Ada")
        assert service.stop() == 0
        service.start()
        with connect(service.url) as http:
            assert http.get(f"{table.path}/score").json() == score
            bo = seek(http, "Bo")
            path = f"/v1/games/{ada['game']['id']}"
            assert (bo["game"]["id"], bo["opened"]) == (ada["game"]["id"], False)
            headers = [{"Authorization": f"Bearer {each['token']}"} for each in (ada, bo)]
            for seat in (2, 3):
                http.put(f"{path}/players/{seat}", json={"bot": "casual"}, headers=headers[0]).raise_for_status()
            shown = [http.get(path, headers=each).json() for each in headers]
            assert [(each["status"], each["you"]["seat"]) for each in shown] == [("playing", 0), ("playing", 1)]
            assert all(each["you"]["hand"] for each in shown)
        assert service.stop() == 0
