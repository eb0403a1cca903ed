"""Metrics are summed over all workers; the log is one JSON object a line."""

from __future__ import annotations

import json
import re
import signal
from os import kill
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.serving import Service
from tests.whole.table import Table, connect


def samples(url: str) -> dict[tuple[str, ...], float]:
    """The metrics, requested on a new connection, so that any worker may answer."""
    answer = httpx.get(f"{url}/metrics").raise_for_status()
    assert answer.headers["Content-Type"].startswith("text/plain")
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_two_workers_answer_for_both_also_for_one_that_died(tmp_path: Path) -> None:
    with Service(tmp_path, WORKERS="2") as service:
        for _ in range(40):
            assert httpx.get(f"{service.url}/v1/variants").status_code == 200
        asked = ("domino_http_requests_total", "GET", "/v1/variants", "200")
        assert {samples(service.url)[asked] for _ in range(10)} == {40}
        with connect(service.url) as http:
            table = Table.create(http, "domino", 2)
            streaming = {"Accept": "text/event-stream"}
            with http.stream("GET", f"{table.path}/events", headers=streaming) as stream:
                assert stream.status_code == 200
                assert samples(service.url)["domino_open_streams",] == 1
            for _ in table.play(1):
                pass
        counted = samples(service.url)
        assert counted["domino_game_status_transitions_total", "finished"] == 1
        assert (
            counted["domino_redis_command_duration_seconds_count", "commit"]
            == counted["domino_moves_total", "domino"]
            > 10
        )
        # The events of a finished game are compacted in the background, so it may take a while.
        compacted = ("domino_redis_command_duration_seconds_count", "compact")
        assert any(samples(service.url).get(compacted) == 2 for _ in range(200)), "they are read, and replaced"
        kill(service.workers()[0], signal.SIGKILL)
        assert samples(service.url)[asked] == 40


def test_every_line_of_the_workers_is_json_and_names_no_path(tmp_path: Path) -> None:
    with Service(tmp_path) as service, connect(service.url) as http:
        table = Table.create(http, "domino", 2)
        answer = http.get(f"{table.path}/score?wanted=1", headers={"X-Request-ID": "from-a-test"})
        assert answer.headers["X-Request-ID"] == "from-a-test"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    said = [line for line in service.lines if not line.startswith("{")]
    assert all(re.match(r"(Serving|Try it:|Ctrl-C|Stopping)", line) for line in said), said
    lines = [json.loads(line) for line in service.lines if line.startswith("{")]
    assert {"service.web.middleware", "gunicorn.error"} <= {line["logger"] for line in lines}
    (read,) = [line for line in lines if line.get("request_id") == "from-a-test"]
    assert (read["route"], read["status"]) == ("/v1/games/<game>/score", 200)
    assert not any(table.id in line or "wanted" in line for line in service.lines)
