"""Files for browsers, served as they are.

Owns the page. Does not depend on the rest of the service, or on any rule of a game: it plays by the API alone.
"""
