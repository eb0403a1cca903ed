"""Storage: the adapters behind the ports ``Store`` and ``EventFeed`` of ``service.games.ports``.

Owns the keys, and one Lua script for each write. Does not depend on HTTP or on the rules of any game: the states and
events that it keeps are opaque to it.
"""
