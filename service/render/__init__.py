"""Matches as text and as pictures for people.

Owns how a match is shown. Does not depend on hidden facts (``engine.view``), or on how the text is delivered. Its
functions are pure, as in the engine.
"""
