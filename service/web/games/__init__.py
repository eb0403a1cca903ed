"""``/v1/games``: games and their seats."""
