"""A client generated from the OpenAPI document plays whole matches."""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from service.engine.variants import variants
from tests.support.serving import Service
from tests.support.table import MOST_MOVES
from tests.whole.table import PATIENCE

GENERATING_SECONDS = 60
CONFIG = """\
package_name_override: generated_domino_client
post_hooks: []
content_type_overrides:
  application/yaml: application/json
"""


@pytest.fixture(scope="module")
def package(http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a package that openapi-python-client has made, to be imported."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.yaml").write_bytes(http.get("/openapi.yaml").content)
    (folder / "config.yaml").write_text(CONFIG)
    made = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", "openapi.yaml", "--config", "config.yaml", "--output-path", "generated_domino_client"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=GENERATING_SECONDS,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    yield "generated_domino_client"
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "generated_domino_client"]:
        del sys.modules[name]


class Generated:
    """The generated package, by the names of the document's operations and schemas."""

    def __init__(self, package: str, url: str) -> None:
        self._package = package
        self.models: Any = importlib.import_module(f"{package}.models")
        self._clients: Any = importlib.import_module(f"{package}.client")
        self._url = url
        self.open_clients = ExitStack()

    def client(self, token: str | None = None) -> Any:
        settings = {"base_url": self._url, "timeout": httpx.Timeout(PATIENCE), "raise_on_unexpected_status": True}
        made = (
            self._clients.Client(**settings)
            if token is None
            else self._clients.AuthenticatedClient(token=token, **settings)
        )
        return self.open_clients.enter_context(made)

    def call(self, tag: str, operation: str, *path: str, **arguments: Any) -> Any:
        module = importlib.import_module(f"{self._package}.api.{tag}.{operation}")
        return module.sync_detailed(*path, **arguments)


@pytest.fixture
def generated(package: str, service: Service) -> Iterator[Generated]:
    generated = Generated(package, service.url)
    with generated.open_clients:
        yield generated


@pytest.mark.parametrize("variant", list(variants()))
def test_the_generated_client_plays_a_whole_match(variant: str, generated: Generated) -> None:
    models = generated.models
    anybody = generated.client()
    offered = generated.call("variants", "list_variants", client=anybody).parsed
    seats = next(each for each in offered.variants if each.id == variant).players.min_
    created = generated.call(
        "games",
        "create_game",
        client=anybody,
        body=models.GameIn.from_dict({"variant": variant, "players": [{"name": f"P{seat}"} for seat in range(seats)]}),
    )
    assert created.status_code == 201
    game = created.parsed.game
    clients = {each.seat: generated.client(each.token) for each in created.parsed.seats}
    rng = random.Random(4)
    for _ in range(MOST_MOVES):
        if game.status == "finished":
            break
        seat = game.turn.seat if game.status == "playing" else next(each.seat for each in game.players if each.in_)
        listed = generated.call("moves", "get_moves", game.id, client=clients[seat]).parsed
        made = generated.call("moves", "make_move", game.id, client=clients[seat], body=rng.choice(listed.moves))
        assert made.status_code == 201, made.content
        game = made.parsed
        assert isinstance(game, models.Game)
    assert game.status == "finished"
    score = generated.call("games", "get_score", game.id, client=anybody).parsed
    assert {each.seat: each.total for each in score.standings} == {each.seat: each.total for each in game.players}
    assert score.winners == game.winners


def test_the_generated_client_parses_a_refusal(generated: Generated) -> None:
    refused = generated.call("games", "get_game", "none", client=generated.client())
    assert refused.status_code == 404
    assert isinstance(refused.parsed, generated.models.Problem)
    assert refused.parsed.code == "not_found"


def test_the_generated_client_parses_every_variant(generated: Generated) -> None:
    for variant in variants():
        answer = generated.call("variants", "get_variant", variant, client=generated.client(), accept_language="de")
        assert answer.parsed.language == "de"
        assert answer.parsed.to_dict()["options"]["properties"]
