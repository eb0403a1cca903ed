"""A match as a record: one text that can be kept, read, checked and played on from.

Read it from the inside out: ``record`` is the value, ``recording`` makes one from the events of a match, ``text`` and
``parsing`` write and read it, ``verification`` says whether it can be so, ``positions`` finds the state at a version.
Pure, as the engine is.
"""
