"""``/v1/games/{game}/moves``: moves, also those of remote players."""
