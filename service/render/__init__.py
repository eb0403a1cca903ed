"""Matches as text and as pictures for people.

Owns how a match is shown. Does not depend on hidden facts (``engine.view``), or on how the text is delivered. Its
functions are pure, as in the engine.

* ``layout_text``: the tiles on the table as text;
* ``transcript``: a recorded match as text, move by move;
* ``replays``: a recorded match as tables and sentences;
* ``sentences``: sentences about events and tables, in every language;
* ``geometry``: the coordinates of the tiles in a picture;
* ``svg``: the picture.
"""
