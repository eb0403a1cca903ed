"""Matches shown to people as text.

Owns the words, the page and the drawing: ``layout_text`` the tiles on the table, ``transcript`` a recorded match move
by move. Must not know who may see what (``engine.view``), nor how the text is delivered. Pure, as the engine is.
"""
