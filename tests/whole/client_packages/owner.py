"""Creates a game as an application, waits until the application's list has it, and prints its id.

Its arguments are the address of the service and the key.
"""

import sys
import time
from typing import assert_type

from domino_client import AuthenticatedClient
from domino_client.api.applications import list_games
from domino_client.api.games import create_game
from domino_client.models import CreatedGame, Game, GameIn, GamePage, SeatIn

_, url, key = sys.argv
application = AuthenticatedClient(url, key)
body = GameIn(variant="domino", players=[SeatIn(name="Ada"), SeatIn(name="Bo")])
created = create_game.sync(client=application, body=body)
assert isinstance(created, CreatedGame), created
assert_type(created.game, Game)


def listed() -> list[str]:
    """The ids of the application's games."""
    answer = list_games.sync(client=application)
    assert isinstance(answer, GamePage), answer
    return [game.id for game in answer.games]


while created.game.id not in listed():
    time.sleep(0.02)
print(created.game.id)
