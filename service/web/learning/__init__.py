"""``/v1/games/{game}/hint`` and ``/v1/games/{game}/review``: for players who want to learn."""
