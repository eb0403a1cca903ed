"""Hosted games: creating, joining, viewing and playing them, access by token, and their stored form.

Owns a game as a value, its commands and queries, and how it is stored. Does not depend on HTTP. Only ``store`` talks to
Redis; the other modules use the interfaces in ``ports``.
"""
