"""Hosting: games are opened, joined, looked at and moved in; who a bearer is, and what the store keeps.

Knows the engine and its own ports; must not know HTTP or Redis.
"""
