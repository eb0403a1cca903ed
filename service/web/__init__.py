"""HTTP: parse the request, call one use case, serialize the result.

Owns the API. A resource has a package. Its ``routes`` own what is accepted, which use case is called, and what is said
about that in the OpenAPI document; its ``schemas`` own the form of bodies, queries and answers, ``serializers`` how
an answer is made where that is much. Does not depend on Redis, nor on the rules of any game.
"""
