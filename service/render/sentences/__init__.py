"""A match in sentences for people, in English (``en``) and German (``de``): events, states and the table.

Everything here is made from views, so no sentence can tell what its reader may not know.
"""
