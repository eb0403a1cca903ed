"""``make demo``: its results fit on a screen, and one match is printed move by move."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import pytest

from service.engine.variants import variants
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.nightly


def demo(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    address = urlsplit(service.url)
    return run_demo({"HOST": str(address.hostname), "PORT": str(address.port)}, *arguments)


def run_demo(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "examples/play_demo.py", *arguments],
        cwd=ROOT,
        env={**environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("arguments", [(), ("--bots",)])
def test_the_results_of_all_matches_fit_on_a_screen(
    arguments: tuple[str, ...], service: Service, http: httpx.Client
) -> None:
    done = demo(service, *arguments)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for variant in http.get("/v1/variants").json()["variants"]:
        assert sum(line.startswith(f"{variant['name']}: won by ") for line in lines) == 1
    assert done.stdout.count("won by") == len(variants())
    assert ("Rosa" in done.stdout) == bool(arguments)


def test_one_match_is_printed_move_by_move(service: Service) -> None:
    done = demo(service, "fido", "--bots", "greedy")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("═══") == 2
    assert done.stdout.count(" Sum ") > 20
    assert "\n    Rosa opened with" in done.stdout or "\n    Rosa played" in done.stdout
    assert "Final standings" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_service_is_started_where_none_runs() -> None:
    done = run_demo({"PORT": "1"}, "dominospiel", "--bots")
    assert done.returncode == 0, done.stderr
    assert "playing on one started for the demo" in done.stdout
    assert "Final standings" in done.stdout


def test_an_unknown_level_is_named_with_those_there_are(service: Service) -> None:
    done = demo(service, "fido", "--bots", "perfect")
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("'perfect'", "random, beginner, casual, greedy, expert"))


def test_an_unknown_variant_is_named_with_those_there_are(service: Service) -> None:
    done = demo(service, "FIDO")
    assert done.returncode == 2
    assert all(variant in done.stderr for variant in ("FIDO", *variants()))
