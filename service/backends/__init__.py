"""Applications: the backends that own games, the index and the feed of their games, and the messages to them.

Owns what an application may do, and what is kept and told of its games. Built on ``service.games`` and on the ports of
this package. Does not depend on HTTP or Redis.
"""
