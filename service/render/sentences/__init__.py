"""A match in sentences for people, in English and German: events, states and the table.

Everything here is made from views, so no sentence can tell what its reader may not know.
"""
