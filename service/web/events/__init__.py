"""``/v1/games/{game}/events``: what has happened in a game, as pages and as streams."""
