"""``/v1/games/{game}/board``: the table with the place of every tile."""
