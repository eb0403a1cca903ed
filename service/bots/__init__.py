"""Computer players: from what a seat may know to one of its legal moves.

Owns how a move is chosen, level by level. Does not depend on who asks, on hosted games, or on clocks. A computer player
is given an ``Observation`` and never a state of the match, so it knows what a person in its seat could know. Everything
here is written against the questions that ``service.engine`` answers; no line knows a game.
"""
