"""``GET /v1/games`` and ``GET /v1/lobby``: lists of games."""
