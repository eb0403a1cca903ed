"""A match as a record: one text that can be stored, read, verified and continued.

``record`` has the type of a record. ``writer`` creates one from the events of a match and writes its text, ``parser``
reads the text, ``notation`` has the form of events in it, ``verification`` checks a record, and ``fork_points`` returns
the state at a version. Owns the format of a record. Does not depend on hosting. Pure functions, as in the engine.
"""
