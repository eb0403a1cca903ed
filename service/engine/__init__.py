"""The rules of dominoes: pure functions over frozen values.

Owns which moves are legal, which events follow from a move, and which facts a seat can see. Does not depend on any
clock, network, disk or environment.

Read the modules in this order:

* ``tiles``, ``layout``: the tiles, and the tiles on the table;
* ``moves``, ``events``: the moves that a seat requests, and the events that follow;
* ``state``: a match between two moves;
* ``variant``: the questions that every game answers;
* ``rules``: answers that several games share;
* ``variants``: the games;
* ``referee``: the course of a match;
* ``view``: the facts that one seat can see.
"""
