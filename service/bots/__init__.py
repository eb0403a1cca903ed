"""Computer players: choose one of the legal moves of a seat from what the seat knows.

Owns the levels and how each chooses a move. Does not depend on the caller, on hosted games, or on clocks. A computer
player gets an ``Observation`` and never a state of the match, so it knows no more than a person in its seat could know.
The code calls only the functions of ``service.engine`` that every game has; no line is about one game.

A change after which a level may choose another move raises its edition (``choice.EDITIONS``), as records are checked by
computing its moves again. Another order or number of calls of ``random()`` is such a change.
"""
