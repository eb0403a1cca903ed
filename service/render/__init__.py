"""Matches as text and as pictures for people.

``layout_text`` renders the tiles on the table, ``transcript`` a recorded match move by move, ``geometry`` says where
the tiles of a layout lie in a picture. Owns how a match is shown. Does not depend on who may see what
(``engine.view``), or on how the text is delivered. Pure, as the engine is.
"""
