"""HTTP: parse the request, call one use case, serialize the result.

Does not depend on Redis, nor on the rules of any game.
"""
