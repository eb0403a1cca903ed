"""A match as a record: one text that can be stored, read, verified and continued.

Read it from the inside out: ``record`` is the value, ``writer`` creates one from the events of a match and writes its
text, ``parser`` reads it with the words of ``notation``, ``verification`` checks it, and ``fork_points`` finds the
state at a version. Owns the format of a record. Does not depend on hosting. Pure, as the engine is.
"""
