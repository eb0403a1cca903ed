"""The command by which an application deletes a game of its own.

Owns what is checked before.
"""

from __future__ import annotations

from service.games.commands.context import CommandContext
from service.games.model.errors import unauthorized
from service.games.model.game import Game


def delete_game(context: CommandContext, game: Game) -> None:
    """Delete a game for the application that owns it.

    Raises ``Unauthorized`` for a game that no application owns, ``NotFound`` when it has expired.
    """
    if game.ownership is None:
        raise unauthorized()
    context.repository.delete(game.id, game.ownership.app, game.holder)
