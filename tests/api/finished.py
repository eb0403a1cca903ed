"""Finished games, each under an id of its own, without playing a match for each."""

from __future__ import annotations

import os

import redis

from service.games.model.tokens import new_game_id
from tests.api.client import Api, Table
from tests.api.saved_games import SavedGames, restore
from tests.support.table import Json


class FinishedGames:
    """Copies of finished games of every variant."""

    def __init__(self, api: Api, saved: SavedGames, server: redis.Redis) -> None:
        self._api = api
        self._saved = saved
        self._server = server

    def copy(self, variant: str = "domino") -> Table:
        """A finished game that nobody else has, with the tokens of all its seats."""
        saved = self._saved.of(variant)["finished"]
        created: Json = {**saved.table.created, "game": {**saved.table.created["game"], "id": new_game_id(os.urandom)}}
        table = Table(self._api, created)
        restore(self._server, table.id, saved.snapshot)
        return table
