"""Whose share a game counts in: that of the network of its creator, or of its application."""

from __future__ import annotations

import pytest

from service.games.commands.move import MoveCommand
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.facade import GamesFacade
from service.games.model.game import Game
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

NETWORK = "192.0.2.77"
PEOPLE = (SeatRequest("human", "Ada"), SeatRequest("human", "Bo"))
REQUEST = GameRequest("domino", PEOPLE, {"limit": 10}, "seed", network=NETWORK)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(1000)


@pytest.fixture
def games(store: MemoryStore) -> GamesFacade:
    return build_games(store, store, (b"a secret",), 1000)


def created(games: GamesFacade, request: GameRequest) -> Game:
    return games.access.authenticate(games.commands.create(request).answer.view.id, None).game


def test_games_of_one_network_have_one_tenant(games: GamesFacade) -> None:
    first, second = created(games, REQUEST), created(games, REQUEST)
    other = created(games, REQUEST._replace(network="192.0.2.78"))
    assert first.tenant == second.tenant != other.tenant


def test_nothing_of_the_address_is_stored(store: MemoryStore, games: GamesFacade) -> None:
    game = created(games, REQUEST)
    stored = store.read(game.id)
    assert stored is not None
    assert game.tenant.encode() in stored.state
    assert NETWORK.encode() not in stored.state
    with_other_secret = build_games(store, store, (b"another secret",), 1000)
    assert created(with_other_secret, REQUEST).tenant != game.tenant


def test_an_application_holds_its_games(games: GamesFacade) -> None:
    game = created(games, REQUEST._replace(app="an application"))
    assert (game.tenant, game.network) == ("an application", "")


def test_a_rematch_has_the_same_tenant(games: GamesFacade) -> None:
    opened = games.commands.create(REQUEST).answer
    game, tokens = opened.view.id, [each.token for each in opened.seats]
    while (stored := games.access.authenticate(game, None).game).status != "finished":
        access = games.access.authenticate(game, tokens[stored.to_act[0]])
        games.commands.make_move(access, MoveCommand(games.queries.legal_moves(access).moves[0]))
    rematch = games.rematches.begin(games.access.authenticate(game, tokens[0])).answer
    assert games.access.authenticate(rematch.view.id, None).game.tenant == stored.tenant
