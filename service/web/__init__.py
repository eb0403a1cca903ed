"""HTTP: read the request, call one use case, show the result.

Each module of routes is one resource of the contract. Must not know Redis, nor any rule of a game.
"""
