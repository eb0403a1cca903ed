"""A match in sentences for people, in any language that there are texts in: events, states and the table.

Everything here is made from views, so no sentence can tell what its reader may not know.
"""
