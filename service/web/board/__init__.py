"""``/v1/games/{game}/board.json``, ``.svg`` and ``.txt``: the table with the place of every tile."""
