"""Matches as text for people.

``layout_text`` renders the tiles on the table, ``transcript`` a recorded match move by move. Does not depend on who may
see what (``engine.view``), or on how the text is delivered. Pure, as the engine is.
"""
