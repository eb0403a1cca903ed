"""Hosted games: creating, joining, viewing and playing them, access by token, and their stored form.

Depends on the engine, on records and on its own ports, not on HTTP or Redis.
"""
