"""``/v1/games/{game}/score``: the standings and the results of rounds."""
