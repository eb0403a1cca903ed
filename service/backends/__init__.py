"""Applications: backends that own games.

Owns their keys, the index and the feed of their games, their endpoints, and the erasure of their players. Is built on
``service.games`` and on the ports of this package. Does not depend on HTTP or Redis.
"""
