"""The rules of domino: pure functions over frozen values.

Owns what is legal, what follows from a move, and what a seat may see. Does not depend on any clock, network, disk or
environment.

Read it from the inside out: ``tiles`` and ``layout`` are the tiles on the table, ``moves`` and ``events`` what a seat
asks for and what then happened, ``state`` a match between two moves, ``variant`` the questions that a game answers,
``rules`` the named answers, ``variants`` the games made of them, ``referee`` the course of a match, and ``view`` what
one seat may know of it.
"""
