"""``/v1/games/{game}/moves``: moves."""
