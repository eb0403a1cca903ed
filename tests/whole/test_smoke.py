"""The real command from its start to its stop: what the quick lane has of a whole service."""

from __future__ import annotations

from pathlib import Path

from service.engine.variants import variants
from tests.support.serving import Service
from tests.whole.table import Table, connect


def test_a_match_is_played_on_the_command_and_still_there_after_a_restart(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        with connect(service.url) as http:
            assert "Domino" in http.get("/", headers={"Accept": "text/html"}).text
            assert {each["id"] for each in http.get("/v1/variants").json()["variants"]} == set(variants())
            table = Table.create(http, "fido", seed="a rainy evening", options={"rounds": 1})
            views = list(table.play(1))
            score = http.get(f"{table.path}/score").json()
            assert views[-1]["status"] == "finished"
            assert score["winners"] == views[-1]["winners"]
        assert service.stop() == 0
        service.start()
        with connect(service.url) as http:
            assert http.get(f"{table.path}/score").json() == score
        assert service.stop() == 0
