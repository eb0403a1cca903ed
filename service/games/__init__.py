"""Hosted games: creating, joining, viewing and playing them, access by token, and their stored form.

Owns a game as a value, what changes and reads it, and how it is kept. Does not depend on HTTP or Redis: what it needs
of a store are its ``ports``.
"""
