"""Applications: backends that own games.

Owns their keys, the index and the feed of their games, their endpoints, and the erasure of their players. Is built on
``service.games``; all that is stored is in the ``store`` modules. Does not depend on HTTP.
"""
